//! Turns an extracted document into the record that the index keeps.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_core::access::ACCESS;
use ken_core::{Document, Field, FileKey, Kind, Location, MhState, Value};
use ken_engine::{FileState, MessageId, Record, Scope};
use ken_extract::helper::ocr;
use ken_mail::maildir;

use super::generated::{GENERATED, is_generated};
use super::lanes::Queues;
use super::states::{TEXTLESS, is_recognised};
use super::writer::LazyWriter;
use crate::Progress;
use crate::budget::Budget;
use crate::progress::Stage;
use crate::tags::Log;

/// Smaller documents are not counted, since there are at most as many as threads.
const LARGE_BYTES: usize = 1 << 20;

/// Data that all documents of a file share.
#[derive(Debug)]
pub(crate) struct FileFacts<'a> {
    pub(crate) path: &'a Path,
    /// Who may read the file; none to leave that unchanged.
    pub(crate) class: Option<Arc<str>>,
    pub(crate) key: FileKey,
    pub(crate) mtime_seconds: i64,
    /// The state of an MH message in the sequences of its folder; none to leave its states
    /// unchanged.
    pub(crate) mh: Option<MhState>,
}

/// Passes documents to the index.
#[derive(Clone)]
pub(crate) struct DocumentWriter<'r> {
    writer: &'r LazyWriter<'r>,
    /// The queues, if other threads build segments.
    queues: Option<&'r Queues>,
    /// Memory for large documents: the index holds several copies of one while it adds it.
    memory: Arc<Budget>,
    progress: &'r Progress,
    /// The tags of messages.
    tags: &'r Log,
}

impl<'r> DocumentWriter<'r> {
    /// Creates one that adds documents directly; `memory_bytes` are for large ones.
    pub(crate) fn new(
        writer: &'r LazyWriter<'r>,
        memory_bytes: usize,
        progress: &'r Progress,
        tags: &'r Log,
    ) -> Self {
        Self {
            writer,
            queues: None,
            memory: Budget::new(memory_bytes),
            progress,
            tags,
        }
    }

    /// Passes documents to the threads that build segments, if there are any.
    pub(crate) fn through(self, queues: Option<&'r Queues>) -> Self {
        Self { queues, ..self }
    }

    /// Returns one that adds documents directly, even where other threads build segments, so that
    /// the next commit has them.
    pub(crate) fn at_once(&self) -> Self {
        Self {
            queues: None,
            ..self.clone()
        }
    }

    /// Adds a document of a file; `state` is set on the file's own document, the last one.
    pub(crate) fn add(
        &self,
        file: &FileFacts<'_>,
        state: Option<FileState>,
        mut document: Document,
    ) -> Result<(), ken_engine::Error> {
        complete(&mut document, file);
        set_states(&mut document, file);
        set_class(&mut document, file);
        self.tags.apply(&mut document, file.path);
        if ocr::is_textless(&document) && !is_recognised(&document) {
            document.join_text(Field::Is, TEXTLESS);
        }
        if is_generated(&document) {
            document.join_text(Field::Is, GENERATED);
        }
        self.progress.documents.fetch_add(1, Ordering::Relaxed);
        if document.failure.is_some() {
            self.progress.failures.fetch_add(1, Ordering::Relaxed);
        }
        let n_bytes = document.memory_bytes();
        let waiting = self.progress.rest(Stage::Memory);
        let _share = (n_bytes >= LARGE_BYTES).then(|| self.memory.take(n_bytes));
        drop(waiting);
        let record = Record {
            location: Location {
                path: file.path.to_path_buf(),
                ipath: document.ipath.clone(),
            },
            key: file.key,
            state,
            document,
        };
        let writer = self.writer.get()?;
        if let Some(queues) = self.queues {
            queues.add(writer, record, self.progress);
            return Ok(());
        }
        let _span = self.progress.span(Stage::Index, None);
        writer.add(record)
    }

    /// Deletes the documents of one message of a file that were added before.
    pub(crate) fn delete_message(
        &self,
        key: FileKey,
        message: MessageId,
    ) -> Result<(), ken_engine::Error> {
        self.writer.get()?.delete(key, Scope::Message(message));
        Ok(())
    }

    /// Deletes a file's own document that was added before.
    pub(crate) fn delete_own(&self, key: FileKey) -> Result<(), ken_engine::Error> {
        self.writer.get()?.delete(key, Scope::Own);
        Ok(())
    }

    /// Deletes all documents of a file that were added before, including those that still wait in a
    /// queue.
    pub(crate) fn take_back(&self, key: FileKey) -> Result<(), ken_engine::Error> {
        match self.queues {
            Some(queues) => queues.delete(key),
            None => self.delete(key)?,
        }
        Ok(())
    }

    /// Deletes all documents of a file that were in the index before this run.
    pub(crate) fn delete(&self, key: FileKey) -> Result<(), ken_engine::Error> {
        self.writer.get()?.delete(key, Scope::File);
        Ok(())
    }
}

/// Sets the fields that only the walk knows, and the date that every document has.
fn complete(document: &mut Document, file: &FileFacts<'_>) {
    if document.ipath.is_root() || document.number(Field::Modified).is_none() {
        document
            .fields
            .retain(|(field, _)| *field != Field::Modified);
        document.add_number(Field::Modified, file.mtime_seconds);
    }
    if document.number(Field::Date).is_none() {
        let modified = document.number(Field::Modified).unwrap_or_default();
        document.add_number(Field::Date, modified);
    }
    // One value each: these are columns, and sorting uses the first value.
    for field in [Field::Date, Field::Size, Field::Created, Field::Pages] {
        keep_first(document, field);
    }
}

/// Sets the state of a message from its file name in a Maildir, or from the sequences of its folder
/// in MH.
fn set_states(document: &mut Document, file: &FileFacts<'_>) {
    let is_own = document.kind == Kind::Message && document.ipath.is_root();
    let states = match file.mh {
        _ if !is_own => return,
        _ if maildir::is_maildir_path(file.path) => maildir::flags(file.path),
        Some(state) => state.names().collect(),
        None => return,
    };
    document.fields.retain(|(field, value)| match value {
        Value::Text(state) if *field == Field::Is => !maildir::is_in_path(state),
        _ => true,
    });
    for state in states {
        document.add_text(Field::Is, state);
    }
}

/// Sets who may read the document.
fn set_class(document: &mut Document, file: &FileFacts<'_>) {
    if let Some(class) = &file.class {
        document.fields.retain(|(field, _)| *field != ACCESS);
        let class = Value::Text(class.to_string());
        document.fields.push((ACCESS, class));
    }
}

fn keep_first(document: &mut Document, field: Field) {
    let mut seen = false;
    document
        .fields
        .retain(|(other, _)| *other != field || !std::mem::replace(&mut seen, true));
}

#[cfg(test)]
mod tests {
    use ken_core::Ipath;

    use super::*;

    #[test]
    fn the_state_of_a_message_is_that_of_its_name() {
        let mut message = Document::new(Ipath::root(), "message/rfc822", Kind::Message);
        message.add_text(Field::Is, "signed");
        let states = |message: &Document| {
            let states = message
                .fields
                .iter()
                .filter(|(field, _)| *field == Field::Is);
            let states = states.map(|(_, value)| match value {
                Value::Text(state) => state.clone(),
                Value::Number(_) => unreachable!("states are texts"),
            });
            states.collect::<Vec<_>>().join(" ")
        };
        for (path, expected) in [
            ("/m/new/1", "signed unread new"),
            ("/m/cur/1:2,F", "signed unread flagged"),
            ("/m/cur/1:2,RS", "signed replied seen"),
        ] {
            let path = Path::new(path);
            set_states(&mut message, &FileFacts { path, ..facts() });
            assert_eq!(states(&message), expected, "{path:?}");
        }
        let path = Path::new("/m/1");
        set_states(&mut message, &FileFacts { path, ..facts() });
        assert_eq!(
            states(&message),
            "signed replied seen",
            "the path says nothing"
        );
        let mh = Some(MhState {
            is_unseen: true,
            ..MhState::default()
        });
        set_states(
            &mut message,
            &FileFacts {
                path,
                mh,
                ..facts()
            },
        );
        assert_eq!(states(&message), "signed unread");
    }

    fn facts() -> FileFacts<'static> {
        FileFacts {
            class: None,
            path: Path::new("/d/a.txt"),
            key: FileKey(1),
            mtime_seconds: 5,
            mh: None,
        }
    }

    #[test]
    fn every_document_has_one_date() {
        let mut own = Document::new(Ipath::root(), "text/plain", Kind::Document);
        own.add_number(Field::Modified, 1);
        complete(&mut own, &facts());
        assert_eq!(
            own.number(Field::Modified),
            Some(5),
            "the file system knows best"
        );
        assert_eq!(own.number(Field::Date), Some(5));

        let mut member = Document::new(Ipath::root().child("m"), "text/plain", Kind::Document);
        member.add_number(Field::Modified, 2);
        member.add_number(Field::Date, 3);
        member.add_number(Field::Date, 4);
        complete(&mut member, &facts());
        assert_eq!(member.number(Field::Modified), Some(2));
        let dates = member
            .fields
            .iter()
            .filter(|(field, _)| *field == Field::Date);
        assert_eq!(dates.count(), 1);
        assert_eq!(member.number(Field::Date), Some(3));
    }
}
