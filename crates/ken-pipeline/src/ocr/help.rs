//! Helps the pass of another machine: recognises text in the files of its shares.
//!
//! A text is known by the content in which it was recognised. So this machine writes nothing into the index, and what it sends is
//! used for the same content only, whatever file it has at the same path.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use ken_engine::Sink;

use super::cache::Cache;
use super::collected::Collected;
use super::reader::Reader;
use super::{advice, parts};
use crate::prepare::{fitted, profile};
use crate::share::{self, Pictures, Texts};
use crate::write::{FirstError, is_recognised};
use crate::{Error, Options, Progress};

/// Returns whether this machine recognises the same text as the one that offers a share; none if it cannot tell now.
pub(crate) fn takes(options: &Options, pictures: &Pictures) -> Option<bool> {
    let (Some(ocr), Some(helpers)) = (&options.ocr, &options.extract.helpers) else {
        return Some(false);
    };
    if ocr.languages != pictures.languages {
        return Some(false);
    }
    let meta = options.meta().ok()?;
    let options = &fitted(options, Some(&meta)).ok()?;
    let is_same = profile(options, &meta) == pictures.profile;
    Some(is_same && advice(options, ocr, helpers).is_none())
}

/// Works on a share. Returns the number of files with a text.
pub(crate) fn work(
    options: &Options,
    pictures: &Pictures,
    sink: Box<dyn Sink>,
    progress: &Progress,
) -> Result<u64, Error> {
    let texts = match recognised(options, pictures, progress) {
        Ok(texts) => texts,
        Err(error) => {
            // Another machine need not wait for it.
            let _ = sink.close();
            return Err(error);
        }
    };
    if progress.is_cancelled() {
        sink.close()?;
        return Ok(0);
    }
    sink.finish(&share::text_of(&texts)?)?;
    Ok(texts.n_files)
}

fn recognised(options: &Options, pictures: &Pictures, progress: &Progress) -> Result<Texts, Error> {
    let mut texts = Texts {
        number: pictures.number,
        ..Texts::default()
    };
    let (Some(ocr), Some(helpers)) = (&options.ocr, &options.extract.helpers) else {
        return Ok(texts);
    };
    let snapshot = options.source()?;
    let options = &fitted(options, Some(snapshot.meta()))?;
    let reader = Reader {
        options,
        ocr,
        helpers,
        snapshot: &*snapshot,
        other_languages: pictures.other_languages,
        cache: Cache::new(options.data.join("ocr"), &ocr.languages, ocr.cache_bytes),
        progress,
        collected: Some(Collected::default()),
    };
    texts.n_files = read(&reader, pictures)?;
    reader.cache.prune();
    texts.texts = reader
        .collected
        .map(Collected::into_texts)
        .unwrap_or_default();
    Ok(texts)
}

/// Reads the files with all threads, and returns the number of those with a text.
fn read(reader: &Reader<'_>, pictures: &Pictures) -> Result<u64, Error> {
    let files = &pictures.files;
    let (next, n_read) = (AtomicUsize::new(0), AtomicU64::new(0));
    let progress = reader.progress;
    let errors = FirstError::new(progress);
    progress
        .files_to_do
        .fetch_add(files.len() as u64, Ordering::Relaxed);
    let is_full = || reader.collected.as_ref().is_some_and(Collected::is_full);
    let work = || {
        crate::background::yield_to_others();
        let _work = progress.gate.work();
        while let Some(key) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            progress.gate.pass();
            if progress.is_cancelled() || is_full() {
                return;
            }
            let done = reader.wanted(*key).map(|wanted| {
                let done = wanted.map(|wanted| {
                    parts::read(reader, &wanted.path, &wanted.written, wanted.waiting)
                });
                done.is_some_and(|done| done.values().any(is_recognised))
            });
            n_read.fetch_add(u64::from(matches!(done, Ok(true))), Ordering::Relaxed);
            errors.note(done.map(drop));
            progress.files_done.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..reader.options.threads.clamp(1, files.len().max(1)) {
            scope.spawn(work);
        }
    });
    // Those for which there was no room are done by the machine of the run.
    let n_left = files.len().saturating_sub(next.into_inner());
    progress
        .files_done
        .fetch_add(n_left as u64, Ordering::Relaxed);
    errors.into_result()?;
    Ok(n_read.into_inner())
}
