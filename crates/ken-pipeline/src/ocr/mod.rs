//! The later pass that recognises text in pictures and on scanned pages.
//!
//! It follows the commit of the run, so that nothing waits for it, on threads of the lowest
//! priority. The index marks its files by a state: *textless* before the pass, and *ocr* after it.
//! A file's documents are written again from their data in the index, with the recognised text
//! added. The text is cached, so that a file that is read again costs nothing here. Pictures inside
//! archives and messages are extracted again ([`parts`]). Where the index is in a cluster, other machines recognise some of the
//! texts ([`machines`], [`help`]).

mod cache;
mod collected;
mod help;
mod machines;
mod parts;
mod pass;
mod reader;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ken_core::{Field, FileKey};
use ken_engine::{Sink, Source};
use ken_extract::helper::Helpers;

use crate::prepare::{fitted, profile};
use crate::share::PICTURES_READ;
use crate::tags::Log;
use crate::write::{DocumentWriter, FirstError, LazyWriter, WriterSlot};
use cache::Cache;
use pass::Pass;
use reader::Reader;

use crate::{Error, Ocr, Options, Progress, Summary};
pub(crate) use help::{takes, work};

/// Recognises text in the pictures of waiting files, if that is wanted. Calls `help` before it takes an index that other machines
/// write, and again if one of them has it. If another machine has read all pictures meanwhile, `help` says so, and this one
/// is done, whatever that one left.
pub(crate) fn recognise(
    options: &Options,
    progress: &Progress,
    summary: &mut Summary,
    help: &mut dyn FnMut(&mut Summary) -> Result<bool, Error>,
) -> Result<(), Error> {
    let (Some(ocr), Some(helpers)) = (&options.ocr, &options.extract.helpers) else {
        return Ok(());
    };
    while !progress.is_cancelled()
        && let Some(found) = waiting(options, ocr)?
    {
        let options = &fitted(options, Some(found.snapshot.meta()))?;
        if let Some(advice) = advice(options, ocr, helpers) {
            let message = format!("no text is read in pictures: {advice}");
            summary.messages.push(message);
            return Ok(());
        }
        let found = match options.engine {
            // Another machine may have written since the look.
            Some(_) => {
                drop(found);
                if help(summary)? {
                    break;
                }
                None
            }
            None => Some(found),
        };
        match pass(options, ocr, helpers, found, progress, summary) {
            Err(Error::Index(ken_engine::Error::Busy(_))) if options.engine.is_some() => {}
            outcome => return outcome,
        }
    }
    summary.interrupted |= progress.is_cancelled();
    Ok(())
}

/// Takes the index, and recognises what waits: what was found, or else what is found now.
fn pass(
    options: &Options,
    ocr: &Ocr,
    helpers: &Helpers,
    found: Option<Waiting>,
    progress: &Progress,
    summary: &mut Summary,
) -> Result<(), Error> {
    let slot = WriterSlot::new(options, options.threads);
    let found = match found {
        Some(found) => Some(found),
        None => {
            slot.get()?;
            waiting(options, ocr)?
        }
    };
    let Some(Waiting {
        snapshot,
        other_languages,
        files,
    }) = found
    else {
        return Ok(slot.close()?);
    };
    let reader = Reader {
        options,
        ocr,
        helpers,
        snapshot: &*snapshot,
        other_languages,
        cache: Cache::new(options.data.join("ocr"), &ocr.languages, ocr.cache_bytes),
        progress,
        collected: None,
    };
    let writer = LazyWriter::new(&slot, options.durability != crate::Durability::Off, false);
    // The messages have their tags.
    let tags = Log::default();
    let pass = Pass {
        reader: &reader,
        writer: &writer,
        documents: DocumentWriter::new(&writer, options.shares().documents, progress, &tags),
        recognised: AtomicU64::new(0),
        committed: Mutex::new(Instant::now()),
        errors: FirstError::new(progress),
    };
    pass.all(&files, &profile(options, snapshot.meta()));
    summary.recognised += pass.recognised.load(Ordering::Relaxed);
    summary.interrupted |= progress.is_cancelled();
    reader.cache.prune();
    pass.errors.into_result()?;
    // Files that cannot be read now, or changed, wait for another run.
    let is_new = other_languages && !progress.is_cancelled();
    if pass.recognised.into_inner() > 0 || is_new {
        commit(writer.get()?, ocr, is_new)?;
        summary.committed = true;
    }
    match progress.is_cancelled() {
        true => slot.close()?,
        false => slot.finish(PICTURES_READ)?,
    }
    Ok(())
}

/// What waits for the recognition of text.
struct Waiting {
    snapshot: Arc<dyn Source>,
    /// Whether earlier recognition used other languages, so that it is repeated.
    other_languages: bool,
    files: Vec<FileKey>,
}

/// Returns the files that wait in the last commit; none if there are none.
fn waiting(options: &Options, ocr: &Ocr) -> Result<Option<Waiting>, Error> {
    let snapshot = match options.source() {
        Err(ken_engine::Error::Missing(_)) => return Ok(None),
        snapshot => snapshot?,
    };
    let other_languages = snapshot.meta().ocr_languages != ocr.languages;
    let states = Reader::states(other_languages);
    let files = snapshot.files().with_values(Field::Is, states)?;
    Ok((!files.is_empty()).then_some(Waiting {
        snapshot,
        other_languages,
        files,
    }))
}

/// Returns what the user can do if text cannot be recognised here.
fn advice(options: &Options, ocr: &Ocr, helpers: &Helpers) -> Option<String> {
    match helpers.packages_for_ocr(&ocr.languages, &options.extract.limits) {
        Ok(packages) if packages.is_empty() => None,
        Ok(packages) => Some(format!("apt-get install {}", packages.join(" "))),
        Err(_) => Some("tesseract does not list its languages".to_owned()),
    }
}

/// Commits what was recognised; also the languages, if all files were read in them.
fn commit(writer: &dyn Sink, ocr: &Ocr, is_new: bool) -> Result<(), ken_engine::Error> {
    let mut meta = writer.meta().clone();
    if is_new {
        meta.ocr_languages.clone_from(&ocr.languages);
    }
    writer.commit(&meta)
}
