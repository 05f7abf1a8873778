//! The threads of the machine that has the run: each takes a file, reads its pictures, and writes its documents again.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ken_core::{FileKey, Profile};

use super::machines::{Queue, Sharer};
use super::parts;
use super::reader::{Reader, Wanted};
use crate::under_way;
use crate::write::{DocumentWriter, FileFacts, FirstError, LazyWriter, is_recognised};

/// A pass over the files that wait.
pub(super) struct Pass<'p> {
    pub(super) reader: &'p Reader<'p>,
    pub(super) writer: &'p LazyWriter<'p>,
    pub(super) documents: DocumentWriter<'p>,
    pub(super) recognised: AtomicU64,
    pub(super) committed: Mutex<Instant>,
    pub(super) errors: FirstError<'p>,
}

impl Pass<'_> {
    /// Reads all files. Other machines with this profile help, if the index is in a cluster.
    pub(super) fn all(&self, files: &[FileKey], profile: &Profile) {
        let (progress, options) = (self.reader.progress, self.reader.options);
        let n_files = files.len() as u64;
        progress.files_to_do.fetch_add(n_files, Ordering::Relaxed);
        let writer = self.writer.opened().filter(|_| options.shares);
        let shares = writer.and_then(|writer| writer.shares());
        let n_threads = options.threads.clamp(1, files.len());
        let queue = &Queue::new(files, n_threads, shares.is_some());
        std::thread::scope(|scope| {
            for _ in 0..n_threads {
                scope.spawn(|| self.work(queue));
            }
            if let Some(shares) = shares {
                let sharer = Sharer::new(self.reader, queue, shares, profile);
                self.errors.note(sharer.run());
            }
        });
    }

    fn work(&self, queue: &Queue<'_>) {
        // Only this thread, and the helpers that it starts.
        crate::background::yield_to_others();
        let progress = self.reader.progress;
        let _work = progress.gate.work();
        let _taking = queue.taking();
        while let Some(key) = queue.next(progress) {
            progress.gate.pass();
            if progress.is_cancelled() {
                return;
            }
            let done = self.file(key).and_then(|()| self.commit_now_and_then());
            self.errors.note(done);
            progress.files_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a file's documents again with their recognised text. A file that changed is left for
    /// the next run, which reads it.
    fn file(&self, key: FileKey) -> Result<(), ken_engine::Error> {
        let Some(wanted) = self.reader.wanted(key)? else {
            return Ok(());
        };
        let Wanted {
            path,
            written,
            addresses,
            waiting,
        } = wanted;
        let progress = self.reader.progress;
        progress.set_current(&path);
        let mut done = parts::read(self.reader, &path, &written, waiting);
        if progress.is_cancelled() || done.is_empty() {
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
            let stored = self.reader.snapshot.document(address)?;
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

    fn commit_now_and_then(&self) -> Result<(), ken_engine::Error> {
        let Ok(mut committed) = self.committed.try_lock() else {
            return Ok(());
        };
        if committed.elapsed() >= self.reader.options.commit_interval
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
