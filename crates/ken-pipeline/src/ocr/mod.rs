//! The later pass that recognises text in pictures and on scanned pages.
//!
//! It follows the commit of the run, so that nothing waits for it, on threads of the lowest
//! priority. The index marks its files by a state: *textless* before the pass, and *ocr* after it.
//! A file's documents are written again from their data in the index, with the recognised text
//! added. The text is cached, so that a file that is read again costs nothing here. Pictures inside
//! archives and messages are extracted again ([`parts`]).

mod cache;
mod parts;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ken_core::access::ACCESS;
use ken_core::{Document, Field, FileKey, Token};
use ken_engine::{Sink, Source};
use ken_extract::Input;
use ken_extract::helper::Helpers;

use crate::prepare::fitted;
use crate::tags::Log;
use crate::write::{
    DocumentWriter, FileFacts, FirstError, LazyWriter, RECOGNISED, TEXTLESS, WriterSlot, has_state,
    is_recognised,
};
use cache::Cache;

use crate::{Error, Ocr, Options, Progress, Summary, under_way};

/// Recognises text in the pictures of waiting files, if that is wanted.
pub(crate) fn recognise(
    options: &Options,
    progress: &Progress,
    summary: &mut Summary,
) -> Result<(), Error> {
    let (Some(ocr), Some(helpers)) = (&options.ocr, &options.extract.helpers) else {
        return Ok(());
    };
    let Some(found) = waiting(options, ocr)? else {
        return Ok(());
    };
    let options = &fitted(options, Some(found.snapshot.meta()))?;
    if let Some(advice) = advice(options, ocr, helpers) {
        let message = format!("no text is read in pictures: {advice}");
        summary.messages.push(message);
        return Ok(());
    }
    let slot = WriterSlot::new(options, options.threads);
    let found = match options.engine {
        // Another machine may have written since the look.
        Some(_) => {
            slot.get()?;
            waiting(options, ocr)?
        }
        None => Some(found),
    };
    let Some(Waiting {
        snapshot,
        other_languages,
        files,
    }) = found
    else {
        return Ok(slot.close()?);
    };
    let writer = LazyWriter::new(&slot, options.durability != crate::Durability::Off, false);
    // The messages have their tags.
    let tags = Log::default();
    let pass = Pass {
        options,
        ocr,
        helpers,
        snapshot: &*snapshot,
        other_languages,
        cache: Cache::new(options.data.join("ocr"), &ocr.languages, ocr.cache_bytes),
        writer: &writer,
        documents: DocumentWriter::new(&writer, options.shares().documents, progress, &tags),
        progress,
        next: AtomicUsize::new(0),
        recognised: AtomicU64::new(0),
        committed: Mutex::new(Instant::now()),
        errors: FirstError::new(progress),
    };
    pass.all(&files);
    summary.recognised = pass.recognised.load(Ordering::Relaxed);
    summary.interrupted |= progress.is_cancelled();
    pass.cache.prune();
    pass.errors.into_result()?;
    // Files that cannot be read now, or changed, wait for another run.
    let is_new = other_languages && !progress.is_cancelled();
    if summary.recognised == 0 && !is_new {
        return Ok(slot.close()?);
    }
    commit(writer.get()?, ocr, is_new)?;
    summary.committed = true;
    Ok(slot.close()?)
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
    let wanted: &[&str] = match other_languages {
        true => &[TEXTLESS, RECOGNISED],
        false => &[TEXTLESS],
    };
    let files = snapshot.files().with_values(Field::Is, wanted)?;
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

struct Pass<'p> {
    options: &'p Options,
    ocr: &'p Ocr,
    helpers: &'p Helpers,
    snapshot: &'p dyn Source,
    /// Whether earlier recognition used other languages, so that it is repeated.
    other_languages: bool,
    cache: Cache,
    writer: &'p LazyWriter<'p>,
    documents: DocumentWriter<'p>,
    progress: &'p Progress,
    next: AtomicUsize,
    recognised: AtomicU64,
    committed: Mutex<Instant>,
    errors: FirstError<'p>,
}

impl Pass<'_> {
    fn all(&self, files: &[FileKey]) {
        let n_files = files.len() as u64;
        self.progress
            .files_to_do
            .fetch_add(n_files, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for _ in 0..self.options.threads.clamp(1, files.len()) {
                scope.spawn(|| self.work(files));
            }
        });
    }

    fn work(&self, files: &[FileKey]) {
        // Only this thread, and the helpers that it starts.
        crate::background::yield_to_others();
        let _work = self.progress.gate.work();
        while let Some(key) = files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.progress.gate.pass();
            if self.progress.is_cancelled() {
                return;
            }
            let done = self.file(*key).and_then(|()| self.commit_now_and_then());
            self.errors.note(done);
            self.progress.files_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a file's documents again with their recognised text. A file that changed is left for
    /// the next run, which reads it.
    fn file(&self, key: FileKey) -> Result<(), ken_engine::Error> {
        let addresses = self.snapshot.files().documents_of(key)?;
        // One that was not written to its end is read again; the index may lack parts of it.
        if self.snapshot.files().row_among(key, &addresses)?.is_none() {
            return Ok(());
        }
        let mut own = None;
        let mut waiting = BTreeMap::new();
        for address in &addresses {
            let stored = self.snapshot.document(*address)?;
            if let Some(state) = stored.state {
                let written = Written::of(&stored.document, state.token);
                own = Some((stored.location.path, written));
            }
            if self.is_wanted(&stored.document) {
                waiting.insert(stored.document.ipath.clone(), stored.document);
            }
        }
        let Some((path, written)) = own else {
            return Ok(());
        };
        self.progress.set_current(&path);
        let mut done = parts::read(self, &path, &written, waiting);
        if self.progress.is_cancelled() || done.is_empty() {
            return Ok(());
        }
        let n_read = u64::from(done.values().any(is_recognised));
        self.documents.delete(key)?;
        let facts = FileFacts {
            class: None,
            path: &path,
            key,
            mtime_seconds: written.mtime_seconds,
            mh: None,
        };
        let mut own = None;
        for address in addresses {
            let stored = self.snapshot.document(address)?;
            let document = done.remove(&stored.document.ipath);
            let document = document.unwrap_or(stored.document);
            match stored.state {
                Some(state) => own = Some((state, document)),
                None => self.documents.add(&facts, None, document)?,
            }
        }
        // Added last, since it says that all others are there.
        if let Some((state, document)) = own {
            self.documents.add(&facts, Some(state), document)?;
        }
        self.recognised.fetch_add(n_read, Ordering::Relaxed);
        Ok(())
    }

    fn is_wanted(&self, document: &Document) -> bool {
        has_state(document, TEXTLESS) || self.other_languages && is_recognised(document)
    }

    /// Adds the text of an input to its document, from the cache or by recognition; returns whether
    /// it did. A failure that may pass waits for the next run.
    fn read(&self, input: &mut Input<'_>, document: &mut Document) -> Option<()> {
        let entry = self.cache.entry(&mut *input.reader().ok()?).ok()?;
        if let Some(body) = self.cache.get(&entry) {
            document.body = body;
            return Some(());
        }
        if is_recognised(document) {
            // Removes the text that was recognised in other languages.
            document.body = parts::text_of(self, input)?;
        }
        let is_cancelled = || self.progress.is_cancelled();
        let limits = &self.options.extract.limits;
        let languages = &self.ocr.languages;
        let result = self
            .helpers
            .recognise(input, document, languages, limits, &is_cancelled);
        if is_cancelled() {
            return None;
        }
        match result {
            Ok(()) => self.cache.put(&entry, &document.body),
            Err(error) if error.is_passing() => return None,
            Err(error) => document.failure = Some(error.into()),
        }
        Some(())
    }

    fn commit_now_and_then(&self) -> Result<(), ken_engine::Error> {
        let Ok(mut committed) = self.committed.try_lock() else {
            return Ok(());
        };
        if committed.elapsed() >= self.options.commit_interval
            && let Some(writer) = self.writer.used()
        {
            let mut meta = writer.meta().clone();
            under_way::mark(&mut meta);
            writer.commit(&meta)?;
            *committed = Instant::now();
        }
        Ok(())
    }
}

/// The documents of a file in the index, as of its reading.
struct Written {
    size: Option<i64>,
    mtime_seconds: i64,
    token: Token,
    /// Whether only some people may read the file, so that nothing may be read of another one.
    is_of_some: bool,
}

impl Written {
    fn of(own: &Document, token: Token) -> Self {
        Self {
            token,
            is_of_some: own.text(ACCESS).is_some(),
            size: own.number(Field::Size),
            mtime_seconds: own.number(Field::Modified).unwrap_or_default(),
        }
    }
}
