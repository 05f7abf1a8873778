//! The files of a pass, and how other machines recognise text in some of them.
//!
//! Where the index is in a cluster, a thread offers files as shares, which other machines claim ([`super::help`]). What
//! comes back is texts, which go into the cache of this machine. Its threads then read the files as all others, find the texts in
//! the cache, and write. So this machine alone writes the index, and a share that is lost costs nothing but time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ken_core::{FileKey, Profile};
use ken_engine::{Claim, Shares};

use super::collected;
use super::reader::Reader;
use crate::share::{self, Pictures, Texts, Work};
use crate::{Progress, in_words};

/// The most files of a share: some seconds of work for a machine with many cores, a minute or two for one with two.
const SHARE_FILES: usize = 64;
/// The most shares that wait for a machine.
const MAX_OFFERED: usize = 4;
/// How often the run looks at its shares.
const LOOK: Duration = Duration::from_millis(500);
/// How long a thread rests that has nothing to do.
const REST: Duration = Duration::from_millis(20);

/// The files of a pass.
pub(super) struct Queue<'q> {
    files: &'q [FileKey],
    next: AtomicUsize,
    /// Files that were shared, and are to be written now.
    back: Mutex<Vec<FileKey>>,
    is_sharing: AtomicBool,
    /// The threads of this machine that take files.
    n_threads: AtomicUsize,
}

/// Counts a thread that takes files, until it is dropped, even after a panic: nobody would take what is left.
pub(super) struct Taking<'t>(&'t AtomicUsize);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<'q> Queue<'q> {
    /// Returns the files for some threads, each of which calls [`Queue::taking`] first.
    pub(super) fn new(files: &'q [FileKey], n_threads: usize, is_sharing: bool) -> Self {
        Self {
            files,
            next: AtomicUsize::new(0),
            back: Mutex::default(),
            is_sharing: AtomicBool::new(is_sharing),
            n_threads: AtomicUsize::new(n_threads),
        }
    }

    /// Counts this thread until what is returned is dropped.
    pub(super) fn taking(&self) -> Taking<'_> {
        Taking(&self.n_threads)
    }

    /// Returns the next file for a thread of this machine; waits while others may come back. None after the last one, or
    /// once the run is cancelled.
    pub(super) fn next(&self, progress: &Progress) -> Option<FileKey> {
        loop {
            // Asked first: what came back before the end is found.
            let is_sharing = self.is_sharing.load(Ordering::Acquire);
            let next = self.back().pop().or_else(|| self.take(1).first().copied());
            if next.is_some() || !is_sharing || progress.is_cancelled() {
                return next;
            }
            let _rest = progress.gate.rest();
            std::thread::sleep(REST);
        }
    }

    /// Takes some of the files that no thread has taken.
    fn take(&self, n: usize) -> &'q [FileKey] {
        let end = self.files.len();
        let from = self.next.fetch_add(n, Ordering::Relaxed).min(end);
        &self.files[from..(from + n).min(end)]
    }

    fn n_left(&self) -> usize {
        let n_taken = self.next.load(Ordering::Relaxed);
        self.files.len().saturating_sub(n_taken)
    }

    fn is_empty(&self) -> bool {
        self.n_left() == 0 && self.back().is_empty()
    }

    fn back(&self) -> MutexGuard<'_, Vec<FileKey>> {
        self.back.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shares the files of a pass.
pub(super) struct Sharer<'s> {
    reader: &'s Reader<'s>,
    queue: &'s Queue<'s>,
    shares: &'s dyn Shares,
    profile: &'s Profile,
    /// The files of the shares whose outcome is not known, by their number.
    out: BTreeMap<u64, Vec<FileKey>>,
    /// The number of shares so far.
    n_shares: u64,
    started: Instant,
}

/// Ends the sharing when this is dropped, even after a panic: the threads would wait for it for ever.
struct Ending<'e>(&'e AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<'s> Sharer<'s> {
    pub(super) fn new(
        reader: &'s Reader<'s>,
        queue: &'s Queue<'s>,
        shares: &'s dyn Shares,
        profile: &'s Profile,
    ) -> Self {
        Self {
            reader,
            queue,
            shares,
            profile,
            out: BTreeMap::new(),
            n_shares: 0,
            started: Instant::now(),
        }
    }
}

impl Sharer<'_> {
    /// Offers files until the threads have taken all others, and waits for those that were offered.
    pub(super) fn run(mut self) -> Result<(), ken_engine::Error> {
        let _ending = Ending(&self.queue.is_sharing);
        self.offer()?;
        self.finish()
    }

    /// Returns whether nobody takes files any more.
    fn is_over(&self) -> bool {
        let n_threads = self.queue.n_threads.load(Ordering::Relaxed);
        n_threads == 0 || self.reader.progress.is_cancelled()
    }

    fn offer(&mut self) -> Result<(), ken_engine::Error> {
        // Those that are left keep the threads of this machine at work while the share is made.
        let least = 2 * self.reader.options.threads;
        let (mut n_offered, mut looked) = (0, Instant::now());
        while !self.is_over() && self.queue.n_left() > least {
            if n_offered < MAX_OFFERED {
                self.offer_one()?;
                n_offered += 1;
            } else if looked.elapsed() >= LOOK {
                looked = Instant::now();
                n_offered = self.look()?.0;
            } else {
                std::thread::sleep(REST);
            }
        }
        Ok(())
    }

    fn offer_one(&mut self) -> Result<(), ken_engine::Error> {
        let size = (self.queue.n_left() / 8).clamp(1, SHARE_FILES);
        let files = self.queue.take(size).to_vec();
        if files.is_empty() {
            return Ok(());
        }
        self.n_shares += 1;
        let number = self.n_shares;
        let work = Work::Pictures(Pictures {
            number,
            profile: self.profile.clone(),
            languages: self.reader.ocr.languages.clone(),
            other_languages: self.reader.other_languages,
            files: files.clone(),
        });
        self.out.insert(number, files);
        self.shares.note(&self.far());
        self.shares.offer(&share::text_of(&work)?)
    }

    /// Keeps the texts that came, and gives their files back. Returns how many shares are offered and claimed.
    fn look(&mut self) -> Result<(usize, usize), ken_engine::Error> {
        self.shares.note(&self.far());
        let now = self.shares.look()?;
        for outcome in &now.done {
            // What cannot be understood comes back at the end.
            if let Ok(texts) = share::read::<Texts>(outcome) {
                collected::keep(&texts.texts, &self.reader.cache);
                self.give_back(texts.number);
            }
        }
        Ok((now.n_offered, now.n_claimed))
    }

    fn give_back(&mut self, number: u64) {
        let files = self.out.remove(&number).unwrap_or_default();
        self.queue.back().extend(files);
    }

    /// Takes back the shares that nobody claimed, and waits for the others.
    fn finish(&mut self) -> Result<(), ken_engine::Error> {
        let engine = self.reader.options.engine.as_ref();
        let Some(mut guest) = engine.and_then(|engine| engine.guest()) else {
            return Ok(());
        };
        while !self.is_over() && !self.out.is_empty() {
            let (n_offered, n_claimed) = self.look()?;
            if n_offered + n_claimed == 0 {
                // Nobody knows what became of these.
                for files in std::mem::take(&mut self.out).into_values() {
                    self.queue.back().extend(files);
                }
            } else if n_offered > 0
                && self.queue.is_empty()
                && let Claim::Share(work, sink) = guest.claim(&|_| Some(true))?
            {
                if let Ok(Work::Pictures(pictures)) = share::read(&work) {
                    self.give_back(pictures.number);
                }
                sink.finish(&share::text_of(&Texts::default())?)?;
            } else {
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }

    /// Returns how far the pass is, for people.
    fn far(&self) -> String {
        let n_all = self.queue.files.len();
        let n_out: usize = self.out.values().map(Vec::len).sum();
        let n_done = (n_all - self.queue.n_left()).saturating_sub(n_out + self.queue.back().len());
        let mut far = format!("pictures of {n_done}/{n_all} files read");
        if n_done > 0 {
            let rate = self.started.elapsed().as_secs_f64() / n_done as f64;
            let left = Duration::from_secs_f64(rate * (n_all - n_done) as f64);
            far.push_str(&format!(", {} left", in_words(left)));
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_is_read_before_the_end() {
        let progress = Progress::default();
        let files: Vec<FileKey> = (0..5).map(FileKey).collect();
        let queue = Queue::new(&files, 1, true);
        assert_eq!(queue.take(2), &files[..2]);
        assert_eq!(queue.next(&progress), Some(FileKey(2)));
        queue.back().push(FileKey(1));
        let rest = std::thread::scope(|scope| {
            let ending = Ending(&queue.is_sharing);
            let rest = scope.spawn(|| {
                let mut rest: Vec<_> = std::iter::from_fn(|| queue.next(&progress)).collect();
                rest.sort_unstable();
                rest
            });
            std::thread::sleep(REST * 2);
            queue.back().push(FileKey(0));
            drop(ending);
            rest.join().unwrap()
        });
        assert_eq!(rest, [0, 1, 3, 4].map(FileKey));
        assert!(queue.is_empty() && queue.take(3).is_empty());
        let queue = Queue::new(&[], 1, true);
        progress.cancel();
        assert_eq!(queue.next(&progress), None);
    }
}
