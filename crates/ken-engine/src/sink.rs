//! Writing an index.

use ken_core::FileKey;

use crate::{Error, MessageId, Meta, Record, Shares};

/// A moment between two deletions of a [`Sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub u64);

/// Which documents of a file are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All documents of the file.
    File,
    /// The file's own document: the file counts as not indexed until there is another.
    Own,
    /// The documents of one message. Other messages of the file stay.
    Message(MessageId),
}

/// The one writer of an index. Threads share it. A commit makes everything since the last one visible, or nothing after
/// a crash.
pub trait Sink: Send + Sync {
    /// Returns the meta of the commit that was the last when the sink was opened.
    fn meta(&self) -> &Meta;

    /// Returns the moment after all deletions so far and before those to come.
    fn now(&self) -> Sequence;

    /// Adds a document, as if it had been added at a moment: later deletions apply to it too. It is visible after the
    /// next commit.
    ///
    /// # Errors
    /// Fails if the document cannot be written, for instance because the disk is full. The sink can only be dropped then.
    fn add_at(&self, moment: Sequence, record: Record) -> Result<(), Error>;

    /// Adds a document. It is visible after the next commit.
    ///
    /// # Errors
    /// Fails as [`Sink::add_at`] does.
    fn add(&self, record: Record) -> Result<(), Error> {
        self.add_at(self.now(), record)
    }

    /// Deletes documents of a file that were added before.
    fn delete(&self, key: FileKey, scope: Scope);

    /// Makes everything since the last commit visible, with the meta that `prepare` returns. No document is added while
    /// `prepare` runs, so it sees all that the commit holds. `prepare` is called at most once.
    ///
    /// # Errors
    /// Fails if anything could not be written: the last commit stays as it is, and the sink can only be dropped. If
    /// `prepare` fails, nothing is committed.
    fn commit_with(&self, prepare: &mut dyn FnMut() -> Result<Meta, Error>) -> Result<(), Error>;

    /// Makes everything since the last commit visible, with this meta.
    ///
    /// # Errors
    /// Fails as [`Sink::commit_with`] does.
    fn commit(&self, meta: &Meta) -> Result<(), Error> {
        self.commit_with(&mut || Ok(meta.clone()))
    }

    /// Sets whether a commit is on disk when it returns. It is by default. If not, a loss of power may cost the index,
    /// until the next commit that is on disk.
    fn set_synced(&self, synced: bool);

    /// Sets whether many more documents follow, so that the engine puts off work that later documents would undo.
    fn set_bulk(&self, bulk: bool);

    /// Returns the way to share work with other machines; none if the engine is on one machine.
    fn shares(&self) -> Option<&dyn Shares> {
        None
    }

    /// Ends the work on a share that [`crate::Guest::claim`] gave, with what became of it, for the machine that offered it; or
    /// a run, for those that helped.
    ///
    /// # Errors
    /// Fails as [`Sink::close`] does. Another machine does the work again then.
    fn finish(self: Box<Self>, outcome: &str) -> Result<(), Error> {
        let _ = outcome;
        self.close()
    }

    /// Ends the work that goes on in the background, and lets the index go.
    ///
    /// # Errors
    /// Fails if that work failed. The commits stay as they are.
    fn close(self: Box<Self>) -> Result<(), Error>;
}
