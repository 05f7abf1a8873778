//! Writes documents whose tags changed again, on several threads, from their data in the index.
//!
//! Messages are read in the order of the index, so that a block of stored documents is unpacked once.
//! One thread writes a message, so that its deletion precedes its addition.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_core::{Field, FileKey, Order, Pattern, Plan, unescape_bytes};
use ken_engine::{DocAddress, Error, MessageOfFile, Source, Stored};

use crate::prepare::Prepared;
use crate::tags::{Log, MESSAGES_AT_ONCE};
use crate::write::{DocumentWriter, FileFacts, FirstError};

/// Maximum number of messages in one query.
const LOOKED_FOR: usize = 1_000;

/// Writes the documents whose tags changed since the last commit. Even a stopped run does so,
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
    in_parallel(&jobs, prepared.options.threads, |job| {
        errors.note(write_again(snapshot, &documents, job.to_vec()));
    });
    let files: Vec<_> = files(snapshot, &prepared.tags)?.into_iter().collect();
    in_parallel(&files, prepared.options.threads, |file| {
        errors.note(write_file_again(snapshot, &documents, *file));
    });
    Ok(())
}

/// Does jobs on at most `n_threads` threads.
fn in_parallel<J: Sync>(jobs: &[J], n_threads: usize, work: impl Fn(&J) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..n_threads.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(job);
                }
            });
        }
    });
}

/// Writes all documents of a file again with their tags in the log.
fn write_file_again(
    snapshot: &dyn Source,
    documents: &DocumentWriter<'_>,
    key: FileKey,
) -> Result<(), Error> {
    let addresses = snapshot.files().documents_of(key)?;
    // One that was not written to its end is read again, with its tags; the index may lack parts of it.
    if snapshot.files().row_among(key, &addresses)?.is_none() {
        return Ok(());
    }
    documents.delete(key)?;
    let mut own = None;
    let add = |stored: Stored| {
        let facts = FileFacts {
            class: None,
            path: &stored.location.path,
            key,
            mtime_seconds: stored.document.number(Field::Modified).unwrap_or_default(),
            mh: None,
        };
        documents.add(&facts, stored.state, stored.document)
    };
    for address in addresses {
        let stored = snapshot.document(address)?;
        match stored.state {
            Some(_) => own = Some(stored),
            None => add(stored)?,
        }
    }
    // A file's own document is added last.
    own.map_or(Ok(()), add)
}

/// Returns the files of the documents whose tags changed, each of them once.
fn files(snapshot: &dyn Source, log: &Log) -> Result<BTreeSet<FileKey>, Error> {
    let mut files = BTreeSet::new();
    for address in log.pending.addresses() {
        files.extend(file_of(snapshot, address)?);
    }
    Ok(files)
}

/// Returns the file of an address, `path` or `path|member`, if the index has it. The path itself may have a `|`.
fn file_of(snapshot: &dyn Source, address: &str) -> Result<Option<FileKey>, Error> {
    let ends = address.match_indices('|').map(|(at, _)| at);
    for end in ends
        .chain([address.len()])
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        let path = &address.as_bytes()[..end];
        for path in unescape_bytes(path).into_iter().chain([path.to_vec()]) {
            let path = Path::new(OsStr::from_bytes(&path));
            let key = snapshot.meta().hasher.key(path);
            if !snapshot.files().documents_of(key)?.is_empty() {
                return Ok(Some(key));
            }
        }
    }
    Ok(None)
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
                class: None,
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
