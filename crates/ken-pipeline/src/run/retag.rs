//! Messages of which more was said are written again, on several threads, from what the index keeps.
//!
//! They are read in the order in which they stand there, so that a block of stored documents is unpacked
//! once. Each is written by one thread only: deletion and addition must follow each other.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_core::{Field, Order, Pattern, Plan};
use ken_index::{Address, Error, MessageOfFile, Snapshot};

use crate::extract::Pool;
use crate::tags::Log;
use crate::write::FileFacts;

/// Messages that are looked for at once.
const LOOKED_FOR: usize = 1_000;
/// Messages that a thread writes at once; it holds their texts.
pub(crate) const AT_ONCE: usize = 64;

impl Pool<'_> {
    /// Writes the messages again of which more was said since the last commit. A run that is stopped
    /// does so too: its commit tells how much of the log the index has.
    pub(crate) fn tag_anew(&self, log: &Log, threads: usize) -> Result<(), Error> {
        let Some(snapshot) = self.snapshot else {
            return Ok(());
        };
        let messages = messages(snapshot, log)?;
        let jobs: Vec<&[MessageOfFile]> = messages.chunks(AT_ONCE).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        self.note(self.write_anew(snapshot, job.to_vec()));
                    }
                });
            }
        });
        Ok(())
    }

    fn write_anew(
        &self,
        snapshot: &Snapshot,
        mut messages: Vec<MessageOfFile>,
    ) -> Result<(), Error> {
        let applier = self.applier.at_once();
        messages.sort_unstable();
        let found = snapshot.documents_of(&messages)?;
        let mut places: Vec<Address> = found.iter().flatten().copied().collect();
        places.sort_unstable();
        let mut stored: Vec<_> = snapshot.documents(&places)?.into_iter().map(Some).collect();
        for ((key, message), parts) in messages.into_iter().zip(found) {
            // Identifiers are those of messages.
            let Some(message) = message else { continue };
            applier.delete_message(key, message)?;
            let at = |part: &Address| places.binary_search(part).ok();
            let parts = parts.iter().filter_map(|part| stored[at(part)?].take());
            let mut parts: Vec<_> = parts.collect();
            // A file's own document is the last that is added.
            parts.sort_by_key(|part| part.state.is_some());
            for part in parts {
                let facts = FileFacts {
                    path: &part.location.path,
                    key,
                    mtime_seconds: part.document.number(Field::Modified).unwrap_or_default(),
                    mh: None,
                };
                applier.add(&facts, part.state, part.document)?;
            }
        }
        Ok(())
    }
}

/// Returns the messages of which more was said, each once, in the order in which they stand in the index.
fn messages(snapshot: &Snapshot, log: &Log) -> Result<Vec<MessageOfFile>, Error> {
    let ids: Vec<String> = log.pending.ids().map(str::to_lowercase).collect();
    let mut places = Vec::with_capacity(ids.len());
    for ids in ids.chunks(LOOKED_FOR) {
        let plan = Plan::Match {
            field: Field::Msgid,
            pattern: Pattern::Any(ids.to_vec()),
        };
        let found = snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
        places.extend(found.hits.into_iter().map(|hit| hit.address));
    }
    places.sort_unstable();
    let mut messages = snapshot.messages_at(&places)?;
    let mut seen = HashSet::with_capacity(messages.len());
    messages.retain(|message| seen.insert(*message));
    Ok(messages)
}
