//! The work of a run that other machines do.
//!
//! Where the index is in a cluster, a thread of the run takes files from the queue of those that wait, and offers them as shares.
//! Other machines claim them ([`super::help`]), and so does this one once it has done the rest, so that the run ends only
//! when all of them are done. The run alone walks, moves, deletes, and commits what describes the index as a whole.
//!
//! A machine reads a file of a share only if it has the same file at the same path. It leaves the others, and the run reads
//! them in a second pass, with a lease that is newer than all shares.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use ken_engine::{Claim, Shares};

use super::{Run, help};
use crate::extract::{Job, Pool, Thread};
use crate::share::{self, Outcome, Share, SharedFile, Work};
use crate::{Error, under_way};

/// The most files of a share.
const SHARE_FILES: usize = 256;
/// The size of the files of a share at which no more are added.
const SHARE_BYTES: u64 = 256 << 20;
/// The most shares that wait for a machine.
const MAX_OFFERED: usize = 4;
/// How often the run looks at its shares.
const LOOK: Duration = Duration::from_millis(500);
/// How long a thread rests that has nothing to share.
const REST: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Returns the way to share the work of this run, if it is worth it.
    pub(super) fn shares(&self) -> Option<&dyn Shares> {
        let may_share = self.given.is_none() && self.prepared.scope.is_all() && self.may_share;
        self.writer.opened().filter(|_| may_share)?.shares()
    }

    /// Offers files that wait for a thread, until all others are done. `n_workers` threads take them, too.
    pub(super) fn offer(
        &self,
        shares: &dyn Shares,
        pool: &Pool<'_>,
        waiting: &Receiver<Job>,
        n_workers: &AtomicUsize,
    ) {
        let thread = pool.thread(None);
        let (mut n_offered, mut looked) = (0, Instant::now());
        let is_over = || {
            let walked = self.progress.walked.load(Ordering::Relaxed);
            let no_workers = n_workers.load(Ordering::Relaxed) == 0;
            self.progress.is_cancelled() || no_workers || walked && waiting.is_empty()
        };
        while !is_over() {
            // Those that are left keep the threads of this machine at work while the share is made.
            let least = 2 * self.prepared.options.threads;
            if n_offered < MAX_OFFERED && waiting.len() > least {
                let size = (waiting.len() / 8).clamp(1, SHARE_FILES);
                let files = self.taken(pool, waiting, size, &thread);
                n_offered += usize::from(!files.is_empty());
                pool.errors.note(self.offer_files(shares, files));
            } else if looked.elapsed() >= LOOK {
                looked = Instant::now();
                shares.note(&self.progress.far(self.started.elapsed()));
                match shares.look() {
                    Ok(now) => {
                        n_offered = now.n_offered;
                        self.note_outcomes(&now.done);
                    }
                    Err(error) => pool.errors.note(Err(error)),
                }
            } else {
                std::thread::sleep(REST);
            }
        }
    }

    /// Takes files from those that wait. What is no file to read is done at once.
    fn taken(
        &self,
        pool: &Pool<'_>,
        waiting: &Receiver<Job>,
        size: usize,
        thread: &Thread<'_>,
    ) -> Vec<SharedFile> {
        let (mut files, mut n_bytes) = (Vec::new(), 0);
        while files.len() < size && n_bytes < SHARE_BYTES {
            let Ok(job) = waiting.try_recv() else {
                break;
            };
            let Some(change) = pool.change_of(job) else {
                continue;
            };
            match SharedFile::of(&change) {
                Some(file) => {
                    n_bytes += file.stamp.size;
                    files.push(file);
                }
                None => pool.change(change, thread),
            }
        }
        files
    }

    fn offer_files(
        &self,
        shares: &dyn Shares,
        files: Vec<SharedFile>,
    ) -> Result<(), ken_engine::Error> {
        if files.is_empty() {
            return Ok(());
        }
        let n_files = files.len();
        let stale = &self.prepared.stale;
        let work = Work::Files(Share {
            process: under_way::process(),
            profile: stale.profile.clone(),
            generation: stale.generation,
            full: self.prepared.options.full,
            access: self.prepared.options.access,
            files,
        });
        let text = share::text_of(&work)?;
        self.shared.n_out.fetch_add(n_files, Ordering::Relaxed);
        shares.note(&self.progress.far(self.started.elapsed()));
        shares.offer(&text)
    }

    fn note_outcomes(&self, outcomes: &[String]) {
        let progress = self.progress;
        for outcome in outcomes {
            let outcome: Outcome = share::read(outcome).unwrap_or_default();
            self.counts.add_many(outcome.added, outcome.changed);
            let n_files = outcome.added + outcome.changed + outcome.left.len() as u64;
            let n_files = usize::try_from(n_files).unwrap_or(usize::MAX);
            self.shared.n_out.fetch_sub(n_files, Ordering::Relaxed);
            let left = outcome.left.into_iter().map(|path| path.0);
            self.shared.left().extend(left);
            // This process has counted its own.
            if outcome.process != under_way::process() {
                let add = |to: &AtomicU64, n| _ = to.fetch_add(n, Ordering::Relaxed);
                add(&progress.documents, outcome.documents);
                add(&progress.failures, outcome.failures);
                add(&progress.bytes_done, outcome.bytes);
                add(&progress.files_done, outcome.added + outcome.changed);
            }
        }
    }

    /// Works on shares that nobody claimed, and waits for those of other machines.
    pub(super) fn finish_shares(&self) -> Result<(), Error> {
        let options = &self.prepared.options;
        let (Some(shares), Some(engine)) = (self.shares(), &options.engine) else {
            return Ok(());
        };
        if self.shared.n_out.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        // If this machine dies while others work, what it did stays.
        if let Some(writer) = self.writer.used() {
            self.prepared.tags.write_moved(options)?;
            writer.commit_with(&mut || self.meta(writer, None, false, false))?;
        }
        let Some(mut guest) = engine.guest() else {
            return Ok(());
        };
        while !self.progress.is_cancelled() {
            let now = shares.look()?;
            self.note_outcomes(&now.done);
            shares.note(&self.progress.far(self.started.elapsed()));
            if now.n_offered + now.n_claimed == 0 {
                // A share whose outcome nobody knows counts as left.
                let n_lost = self.shared.n_out.swap(0, Ordering::Relaxed);
                let is_unknown = &self.shared.is_unknown;
                is_unknown.fetch_or(n_lost > 0, Ordering::Relaxed);
                return Ok(());
            }
            if now.n_offered > 0
                && let Claim::Share(work, sink) = guest.claim(&|_| Some(true))?
            {
                help::work(options, &work, sink, self.progress)?;
            } else {
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }
}
