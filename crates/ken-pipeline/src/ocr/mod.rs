//! The later pass that reads text in pictures and on pages that are pictures.
//!
//! It comes after the commit of the run, so that nothing waits for it, on threads of the lowest
//! priority. Which files it is for stands in the index: their state is *textless*, and *ocr* when it
//! was done. A file's documents are written again from what the index holds, with the text in its
//! place. What was recognised is cached, so that a file that is read again costs nothing here.
//! Pictures inside of archives and messages are got out again ([`parts`]).

mod cache;
mod parts;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use ken_core::{Document, Field, FileKey, Value};
use ken_extract::Input;
use ken_extract::helper::Helpers;
use ken_index::{Snapshot, WriterOptions};

use crate::budget::Budget;
use crate::tags::Log;
use crate::write::{Applier, FileFacts, LazyWriter};
use cache::Cache;

use crate::{Error, Ocr, Options, Progress, Summary};

/// State of a document with a page, or a picture, of which the text is not known.
pub const TEXTLESS: &str = "textless";
/// State of a document of which pictures were looked at for text.
pub const RECOGNISED: &str = "ocr";

/// Returns whether the pictures of a document were looked at.
pub(crate) fn is_done(document: &Document) -> bool {
    has_state(document, RECOGNISED)
}

fn has_state(document: &Document, state: &str) -> bool {
    let is_it = |(field, value): &(Field, Value)| {
        *field == Field::Is && matches!(value, Value::Text(text) if text == state)
    };
    document.fields.iter().any(is_it)
}

/// Reads the text of pictures in the files that wait for it, if that is asked for.
pub(crate) fn recognise(
    options: &Options,
    progress: &Progress,
    summary: &mut Summary,
) -> Result<(), Error> {
    let (Some(ocr), Some(helpers)) = (&options.ocr, &options.extract.helpers) else {
        return Ok(());
    };
    let snapshot = match Snapshot::open(&options.data.join("index")) {
        Err(ken_index::Error::Missing(_)) => return Ok(()),
        snapshot => snapshot?,
    };
    let anew = snapshot.meta().ocr_languages != ocr.languages;
    let wanted = |state: &str| state == TEXTLESS || anew && state == RECOGNISED;
    let files = snapshot.files_with(Field::Is, &wanted)?;
    if files.is_empty() {
        return Ok(());
    }
    let advice = match helpers.packages_for_ocr(&ocr.languages, &options.extract.limits) {
        Ok(packages) if packages.is_empty() => None,
        Ok(packages) => Some(format!("apt-get install {}", packages.join(" "))),
        Err(error) => Some(error.to_string()),
    };
    if let Some(advice) = advice {
        let message = format!("no text is read in pictures: {advice}");
        summary.messages.push(message);
        return Ok(());
    }
    let shares = options.shares();
    let writer = LazyWriter::new(
        options.data.join("index"),
        WriterOptions {
            memory_bytes: shares.segments,
            threads: options.threads,
        },
        options.durability != crate::Durability::Off,
    );
    let pass = Pass {
        options,
        ocr,
        helpers,
        snapshot: &snapshot,
        anew,
        cache: Cache::new(options.data.join("ocr"), &ocr.languages, ocr.cache_bytes),
        applier: Applier {
            queues: None,
            writer: &writer,
            documents: Budget::new(shares.documents),
            progress,
            // The messages have their tags.
            tags: &Log::default(),
        },
        progress,
        next: AtomicUsize::new(0),
        recognised: AtomicU64::new(0),
        committed: Mutex::new(Instant::now()),
        failed: Mutex::new(None),
    };
    pass.all(&files);
    let failed = pass.failed.lock().map_or(None, |mut failed| failed.take());
    summary.recognised = pass.recognised.load(Ordering::Relaxed);
    summary.interrupted |= progress.is_cancelled();
    pass.cache.prune();
    if let Some(error) = failed {
        return Err(error.into());
    }
    // Files that cannot be read now, or changed, wait for another run.
    let is_new = anew && !progress.is_cancelled();
    if summary.recognised == 0 && !is_new {
        return Ok(());
    }
    let writer_in_use = writer.get()?;
    let mut meta = writer_in_use.meta().clone();
    if is_new {
        meta.ocr_languages.clone_from(&ocr.languages);
    }
    writer_in_use.commit(&meta)?;
    summary.committed = true;
    Ok(writer.close()?)
}

struct Pass<'p> {
    options: &'p Options,
    ocr: &'p Ocr,
    helpers: &'p Helpers,
    snapshot: &'p Snapshot,
    /// Whether what was recognised in other languages is read again.
    anew: bool,
    cache: Cache,
    applier: Applier<'p>,
    progress: &'p Progress,
    next: AtomicUsize,
    recognised: AtomicU64,
    committed: Mutex<Instant>,
    failed: Mutex<Option<ken_index::Error>>,
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
        // Of this thread alone, and of the programs that it starts.
        crate::background::yield_to_others();
        let _work = self.progress.gate.work();
        while let Some(key) = files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.progress.gate.pass();
            if self.progress.is_cancelled() {
                return;
            }
            if let Err(error) = self.file(*key).and_then(|()| self.commit_now_and_then()) {
                self.progress.cancel();
                if let Ok(mut failed) = self.failed.lock() {
                    failed.get_or_insert(error);
                }
            }
            self.progress.files_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a file's documents again with the text that is found. A file that is not as it was
    /// is left for the next run, which reads it.
    fn file(&self, key: FileKey) -> Result<(), ken_index::Error> {
        let addresses = self.snapshot.addresses(key)?;
        let mut own = None;
        let mut waiting = BTreeMap::new();
        for address in &addresses {
            let stored = self.snapshot.document(*address)?;
            if stored.state.is_some() {
                own = Some((stored.location.path, Written::of(&stored.document)));
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
        let n_read = u64::from(done.values().any(is_done));
        self.applier.delete(key)?;
        let facts = FileFacts {
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
                None => self.applier.add(&facts, None, document)?,
            }
        }
        // It says that all others are there.
        if let Some((state, document)) = own {
            self.applier.add(&facts, Some(state), document)?;
        }
        self.recognised.fetch_add(n_read, Ordering::Relaxed);
        Ok(())
    }

    fn is_wanted(&self, document: &Document) -> bool {
        has_state(document, TEXTLESS) || self.anew && is_done(document)
    }

    /// Reads the text of an input into its document, from the cache or the picture; returns whether
    /// it did. What failed for a cause that may pass waits for the next run.
    fn read(&self, input: &mut Input<'_>, document: &mut Document) -> Option<()> {
        let entry = self.cache.entry(&mut *input.reader().ok()?).ok()?;
        if let Some(body) = self.cache.get(&entry) {
            document.body = body;
            return Some(());
        }
        if is_done(document) {
            // The text that was recognised in other languages goes.
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

    fn commit_now_and_then(&self) -> Result<(), ken_index::Error> {
        let Ok(mut committed) = self.committed.try_lock() else {
            return Ok(());
        };
        if committed.elapsed() >= self.options.commit_interval
            && let Some(writer) = self.applier.writer.opened()
        {
            writer.commit(writer.meta())?;
            *committed = Instant::now();
        }
        Ok(())
    }
}

/// What the index holds of a file as it was when it was read.
struct Written {
    size: Option<i64>,
    mtime_seconds: i64,
}

impl Written {
    fn of(own: &Document) -> Self {
        Self {
            size: own.number(Field::Size),
            mtime_seconds: own.number(Field::Modified).unwrap_or_default(),
        }
    }
}

fn set_state(document: &mut Document, state: &str) {
    document.fields.retain(|(field, value)| {
        let is_old = matches!(value, Value::Text(text) if text == TEXTLESS || text == RECOGNISED);
        *field != Field::Is || !is_old
    });
    document.add_text(Field::Is, state);
}
