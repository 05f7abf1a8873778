//! Writes messages whose tags changed again, on several threads, from their data in the index.
//!
//! They are read in the order of the index, so that a block of stored documents is unpacked once.
//! One thread writes a message, so that its deletion precedes its addition.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_core::{Field, Order, Pattern, Plan};
use ken_engine::{DocAddress, Error, MessageOfFile, Source};

use crate::prepare::Prepared;
use crate::tags::{Log, MESSAGES_AT_ONCE};
use crate::write::{DocumentWriter, FileFacts, FirstError};

/// Maximum number of messages in one query.
const LOOKED_FOR: usize = 1_000;

/// Writes the messages whose tags changed since the last commit. Even a stopped run does so,
/// because its commit records how much of the log the index has.
pub(super) fn write_tagged(
    prepared: &Prepared<'_>,
    documents: &DocumentWriter<'_>,
    errors: &FirstError<'_>,
) -> Result<(), Error> {
    let Some(snapshot) = prepared.snapshot.as_deref() else {
        return Ok(());
    };
    let documents = documents.at_once();
    let messages = messages(snapshot, &prepared.tags)?;
    let jobs: Vec<&[MessageOfFile]> = messages.chunks(MESSAGES_AT_ONCE).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..prepared.options.threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    errors.note(write_again(snapshot, &documents, job.to_vec()));
                }
            });
        }
    });
    Ok(())
}

/// Writes messages again with their tags in the log.
fn write_again(
    snapshot: &dyn Source,
    documents: &DocumentWriter<'_>,
    mut messages: Vec<MessageOfFile>,
) -> Result<(), Error> {
    messages.sort_unstable();
    let found = snapshot.mail().documents_of(&messages)?;
    let mut addresses: Vec<DocAddress> = found.iter().flatten().copied().collect();
    addresses.sort_unstable();
    let mut stored: Vec<_> = snapshot
        .documents(&addresses)?
        .into_iter()
        .map(Some)
        .collect();
    for ((key, message), parts) in messages.into_iter().zip(found) {
        // Identifiers are those of messages.
        let Some(message) = message else { continue };
        documents.delete_message(key, message)?;
        let at = |part: &DocAddress| addresses.binary_search(part).ok();
        let parts = parts.iter().filter_map(|part| stored[at(part)?].take());
        let mut parts: Vec<_> = parts.collect();
        // A file's own document is added last.
        parts.sort_by_key(|part| part.state.is_some());
        for part in parts {
            let facts = FileFacts {
                path: &part.location.path,
                key,
                mtime_seconds: part.document.number(Field::Modified).unwrap_or_default(),
                mh: None,
            };
            documents.add(&facts, part.state, part.document)?;
        }
    }
    Ok(())
}

/// Returns the messages whose tags changed, each of them once, in the order of the index.
fn messages(snapshot: &dyn Source, log: &Log) -> Result<Vec<MessageOfFile>, Error> {
    let ids: Vec<String> = log.pending.ids().map(str::to_lowercase).collect();
    let mut addresses = Vec::with_capacity(ids.len());
    for ids in ids.chunks(LOOKED_FOR) {
        let plan = Plan::Match {
            field: Field::Msgid,
            pattern: Pattern::Any(ids.to_vec()),
        };
        let found = snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
        addresses.extend(found.hits.into_iter().map(|hit| hit.address));
    }
    addresses.sort_unstable();
    let mut messages = snapshot.mail().messages_at(&addresses)?;
    let mut seen = HashSet::with_capacity(messages.len());
    messages.retain(|message| seen.insert(*message));
    Ok(messages)
}
