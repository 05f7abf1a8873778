//! Copies an index from one engine to another, without a look at the files.
//!
//! The copy has the documents, the stamps and the extraction profile of the index, so the next run reads nothing again. It is
//! committed once, at its end: after a crash there is no copy, and the next one begins anew.

use std::sync::atomic::Ordering::Relaxed;

use ken_core::{Order, Plan, SortKey};
use ken_engine::{Record, Sink, Source};
use ken_index::layout::index_folder;

use crate::run::Session;
use crate::{Error, Options, Progress, Summary, replace, tags};

/// The documents that are read at once.
const AT_ONCE: usize = 200;

/// Copies the index of `from` to where `to` has its own, which must not be there yet.
///
/// # Errors
/// Fails if there is no index to copy, or one at the other place, and if either cannot be read or written.
pub fn copy(from: &Options, to: &Options, progress: &Progress) -> Result<Summary, Error> {
    let mut summary = Summary {
        interrupted: true,
        ..Summary::default()
    };
    let Some(_session) = Session::open(to, progress)? else {
        return Ok(summary);
    };
    match to.meta() {
        Err(ken_engine::Error::Missing(_)) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(Error::Occupied(to.place())),
    }
    let source = from.source()?;
    if to.engine.is_none() {
        // What a copy left that came to no commit.
        replace::remove(&index_folder(&to.data))?;
    }
    let sink = to.sink(1)?;
    summary.interrupted = !copy_documents(&*source, &*sink, progress)?;
    if !summary.interrupted {
        let mut meta = source.meta().clone();
        // They lie beside the index that is left.
        meta.ngram_files = None;
        sink.commit(&meta)?;
        summary.committed = true;
        copy_tags(from, to)?;
    }
    sink.close()?;
    summary.added = progress.files_done.load(Relaxed);
    summary.documents = progress.documents.load(Relaxed);
    Ok(summary)
}

/// Fills an index of another number of shards, and of the schema that this ken has, beside the one in a cluster, and puts it in its
/// place. No file is read, and questions are answered meanwhile.
///
/// # Errors
/// Fails if the index is in the data folder, or cannot be read or written.
pub fn grow(options: &Options, shards: u32, progress: &Progress) -> Result<Summary, Error> {
    let mut summary = Summary {
        interrupted: true,
        ..Summary::default()
    };
    let Some(engine) = &options.engine else {
        return Err(Error::NoShards);
    };
    let Some(_session) = Session::open(options, progress)? else {
        return Ok(summary);
    };
    let sink = engine.beside(shards)?;
    // It has the run now, so nobody writes what the copy would lack.
    let source = options.source()?;
    summary.interrupted = !copy_documents(&*source, &*sink, progress)?;
    if !summary.interrupted {
        sink.commit(source.meta())?;
        summary.committed = true;
    }
    sink.close()?;
    summary.added = progress.files_done.load(Relaxed);
    summary.documents = progress.documents.load(Relaxed);
    Ok(summary)
}

/// Copies the log of tags, unless the other one has it already.
fn copy_tags(from: &Options, to: &Options) -> Result<(), Error> {
    let (log, there) = (tags::bytes(from)?, tags::bytes(to)?);
    // A log in a data folder stays when the index leaves it, and the one that comes back may be longer.
    let new = log.strip_prefix(&there[..]).unwrap_or(&log);
    // Anything after the last line end is still being written.
    let end = new.iter().rposition(|byte| *byte == b'\n');
    let new = String::from_utf8_lossy(&new[..end.map_or(0, |at| at + 1)]);
    match &to.engine {
        _ if new.is_empty() => Ok(()),
        Some(engine) => Ok(engine.add_to_tag_log(&new)?),
        None => tags::append_lines(&to.data, new.into_owned()),
    }
}

/// Copies all documents; returns false if the user stops it.
fn copy_documents(
    source: &dyn Source,
    sink: &dyn Sink,
    progress: &Progress,
) -> Result<bool, Error> {
    // In the reverse order a file's own document comes after those inside it.
    let by_path = Order {
        key: SortKey::Path,
        reverse: true,
    };
    let all = source.run(&Plan::All, by_path, 0, usize::MAX)?.hits;
    let all: Vec<_> = all.iter().map(|hit| hit.address).collect();
    let hasher = source.meta().hasher;
    for some in all.chunks(AT_ONCE) {
        if progress.is_cancelled() {
            return Ok(false);
        }
        for stored in source.documents(some)? {
            let is_file = stored.state.is_some();
            sink.add(Record {
                key: hasher.key(&stored.location.path),
                location: stored.location,
                state: stored.state,
                document: stored.document,
            })?;
            progress.documents.fetch_add(1, Relaxed);
            progress.files_done.fetch_add(u64::from(is_file), Relaxed);
        }
    }
    Ok(true)
}
