//! The threads of a run: the walk, those that extract, those that only build segments, and the one
//! that commits.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Result as Joined, Scope, Thread};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use ken_walk::Catalogue;

use super::{Run, retag};
use crate::Error;
use crate::extract::{MemberJob, Pool};
use crate::progress::Stage;
use crate::write::{DocumentWriter, Queues};

/// Maximum number of changes that wait for a thread; the walk waits when there are more.
const MAX_WAITING_CHANGES: usize = 50_000;
/// Length of this wait, in which 64 threads process a few thousand changes.
const REST: Duration = Duration::from_millis(20);
/// How often a trace notes the length of the queues.
const LOOK_AT_QUEUES: Duration = Duration::from_millis(10);

/// Ends the other threads of a run when this is dropped, even after a panic: the run would wait for
/// them for ever.
struct Ending<'r> {
    queues: &'r Queues,
    ended: &'r AtomicBool,
    committer: OnceLock<Thread>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.queues.end();
        self.ended.store(true, Ordering::Relaxed);
        if let Some(committer) = self.committer.get() {
            committer.unpark();
        }
    }
}

/// Counts a thread that takes changes, until it is dropped.
struct Working(Arc<AtomicUsize>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Passes a job to the threads. While the channel is full, this thread sleeps. A thread that waits
/// in the channel would be woken each time a job is taken, which delays the thread that took it.
fn hand_over<T>(mut job: T, jobs: &Sender<T>) {
    // If all threads panicked, nothing is taken any more; their panic ends the run.
    while let Err(TrySendError::Full(back)) = jobs.try_send(job) {
        job = back;
        std::thread::sleep(REST);
    }
}

impl Run<'_> {
    /// Walks, and extracts what changed on other threads.
    pub(super) fn walk_and_extract(
        &self,
        catalogue: &Catalogue,
    ) -> Result<ken_walk::Summary, Error> {
        let prepared = self.prepared;
        let options = &prepared.options;
        let hasher = match prepared.hasher() {
            Some(hasher) => hasher,
            // The writer of a new index creates its key hasher.
            None => self.writer.get()?.meta().hasher,
        };
        let n_lanes = options.arrangement.index_threads;
        let (queues, lanes) = Queues::new(n_lanes, options.queue_bytes());
        let documents = DocumentWriter::new(
            &self.writer,
            options.shares().documents,
            self.progress,
            &prepared.tags,
        )
        .through((n_lanes > 0).then_some(&queues));
        let (ngrams, counts) = (self.ngrams(hasher), &self.counts);
        let pool = Pool::new(prepared, documents, ngrams, hasher, counts, self.progress)
            .for_another(self.guest.as_ref());
        // Before any change, since a change of the file deletes what is written here.
        if self.given.is_none() {
            retag::write_tagged(prepared, &pool.documents, &pool.errors)?;
        }
        let ended = AtomicBool::new(false);
        let walked = std::thread::scope(|scope| {
            let (pool, ended) = (&pool, &ended);
            let ending = Ending {
                queues: &queues,
                ended,
                committer: OnceLock::new(),
            };
            let indexers: Vec<_> = lanes
                .into_iter()
                .map(|lane| scope.spawn(|| lane.work(&self.writer, self.progress, &pool.errors)))
                .collect();
            let committer = scope.spawn(|| self.commit_regularly(ended, &pool.errors));
            let _ = ending.committer.set(committer.thread().clone());
            let walked = match options.extract_threads() {
                0 => Ok(self.walk_alone(pool, catalogue)),
                n_threads => self.walk_with(scope, n_threads, pool, catalogue, ended),
            };
            queues.end();
            let indexed: Joined<Vec<()>> =
                indexers.into_iter().map(|thread| thread.join()).collect();
            drop(ending);
            // Not before, since the scope waits for the committer before a panic propagates.
            let walked = walked.and_then(|walked| indexed.map(|_| walked));
            walked.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        pool.into_result()?;
        Ok(walked)
    }

    /// Walks while `n_threads` others extract; fails with the panic of one of them.
    fn walk_with<'s, 'e: 's>(
        &'e self,
        scope: &'s Scope<'s, 'e>,
        n_threads: usize,
        pool: &'s Pool<'_>,
        catalogue: &Catalogue,
        ended: &'s AtomicBool,
    ) -> Joined<ken_walk::Summary> {
        let (send_change, changes) = bounded(MAX_WAITING_CHANGES);
        let (offer, members) = unbounded();
        let n_working = Arc::new(AtomicUsize::new(n_threads));
        let workers: Vec<_> = (0..n_threads)
            // There are fewer if the system has no more threads.
            .map_while(|_| {
                let (changes, offer, members) = (changes.clone(), offer.clone(), members.clone());
                let working = Working(Arc::clone(&n_working));
                let work = move || {
                    let _working = working;
                    pool.work(&changes, offer, &members);
                };
                std::thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        let sharer = self.shares().map(|shares| {
            let (changes, n_working) = (changes.clone(), Arc::clone(&n_working));
            scope.spawn(move || self.offer(shares, pool, &changes, &n_working))
        });
        if workers.is_empty() {
            return Ok(self.walk_alone(pool, catalogue));
        }
        drop(offer);
        if self.progress.trace.is_some() {
            scope.spawn(move || self.note_queues(&members, ended));
        }
        // A send fails if all threads panicked.
        drop(changes);
        let walking = self.progress.span(Stage::Walk, None);
        let walked = self.walk(catalogue, pool.hasher(), &|change| {
            self.announce(&change);
            hand_over(pool.queued(change), &send_change);
        });
        drop(walking);
        self.progress.walked.store(true, Ordering::Relaxed);
        drop(send_change);
        let outcomes = workers.into_iter().chain(sharer);
        let outcomes: Vec<_> = outcomes.map(|worker| worker.join()).collect();
        outcomes
            .into_iter()
            .collect::<Joined<Vec<()>>>()
            .map(|_| walked)
    }

    /// Walks, and extracts each file immediately.
    fn walk_alone(&self, pool: &Pool<'_>, catalogue: &Catalogue) -> ken_walk::Summary {
        let thread = Mutex::new(pool.thread(None));
        let walked = self.walk(catalogue, pool.hasher(), &|change| {
            self.announce(&change);
            pool.change(
                change,
                &thread.lock().unwrap_or_else(PoisonError::into_inner),
            );
        });
        self.progress.walked.store(true, Ordering::Relaxed);
        walked
    }

    fn note_queues(&self, members: &Receiver<MemberJob>, ended: &AtomicBool) {
        let Some(trace) = &self.progress.trace else {
            return;
        };
        while !ended.load(Ordering::Relaxed) {
            let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
            let progress = self.progress;
            let n_files = get(&progress.files_to_do).saturating_sub(get(&progress.files_done));
            trace.queues(n_files as usize, members.len());
            std::thread::sleep(LOOK_AT_QUEUES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_handed_over_in_order_whoever_is_slow() {
        let (jobs, taken) = bounded(2);
        let taker = std::thread::spawn(move || {
            std::thread::sleep(REST * 3);
            taken.iter().take(5).collect::<Vec<_>>()
        });
        for job in 0..5 {
            hand_over(job, &jobs);
        }
        assert_eq!(taker.join().unwrap(), [0, 1, 2, 3, 4]);
        // Returns, although no thread is left to take the jobs.
        (5..9).for_each(|job| hand_over(job, &jobs));
    }
}
