//! Keeps an index up to date with changes as they come.
//!
//! An [`Updater`] takes paths that may have changed, collects them in batches, and runs the batches
//! on a thread of its own. A change is only a hint: the batch looks at the files themselves. One
//! writer serves all batches. The updater closes it, and releases the lock of the index, after a
//! while without changes, when another process waits for the lock, and when indexing is paused.
//!
//! [`Updater::submit`] returns a [`Ticket`]. Once [`Updater::wait`] returns for this ticket, new
//! readers of the index see what was submitted. The next batch repeats the paths of a batch that failed. While there
//! is nothing to do and the index is closed, the thread sleeps.

mod added;
mod batch;
mod kept;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use batch::{Batching, PathChange};

use crate::background::{give_back_memory, paused};
use crate::lock::RunLock;
use crate::{Error, Options, Progress, RootChange, Summary, update};
use added::{Added, Notify};
use batch::Batch;
use kept::Kept;

/// How often an updater with an open index checks whether another process waits for it.
const LOOK: Duration = Duration::from_millis(100);
/// Time for which an updater that ends waits for merges.
const LAST_MERGES: Duration = Duration::from_secs(2);
/// How often a paused updater checks whether the pause is over.
const LOOK_AT_PAUSE: Duration = Duration::from_millis(500);

/// Options of an [`Updater`].
#[derive(Clone, Debug)]
pub struct UpdaterOptions {
    /// How files are read and the index is written.
    pub update: Options,
    /// When a batch begins.
    pub batching: Batching,
    /// Time for which the index stays open for writing after a batch.
    pub keep_open: Duration,
    /// Whether outcomes name the files that were added.
    pub names_added: bool,
    /// Whether a batch looks at all files if a run was stopped before it, here or in another process: files that the run
    /// had begun to read may be missing. A ticket that is done then stands for everything submitted before it.
    pub makes_whole: bool,
    /// Whether batches wait while indexing is paused; a pause then also interrupts one that is under way.
    pub respects_pause: bool,
}

impl UpdaterOptions {
    /// Creates the default options for an updater that writes with the options `update`.
    pub fn new(update: Options) -> Self {
        Self {
            update,
            batching: Batching::default(),
            keep_open: Duration::from_secs(2),
            names_added: false,
            makes_whole: false,
            respects_pause: false,
        }
    }
}

/// The number of a submission. Work is done in the order of tickets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(u64);

/// The outcome of a batch or a run over all files.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The last ticket that the work completed.
    pub done: Ticket,
    /// Whether it was a run over all files.
    pub all: bool,
    /// The files that were added, if [`UpdaterOptions::names_added`] is set; of a very large number only the first.
    pub added: Vec<PathBuf>,
    /// The figures, or the error.
    pub summary: Result<Summary, Arc<Error>>,
}

/// Why a ticket is not done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotDone {
    /// The deadline passed first.
    #[error("the index is not up to date yet")]
    Deadline,
    /// The updater was stopped first.
    #[error("the update was stopped")]
    Stopped,
    /// The batch of the ticket failed.
    #[error(transparent)]
    Failed(#[from] Arc<Error>),
}

/// Keeps an index up to date with changes as they come.
pub struct Updater {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// State that the callers and the thread share.
struct Shared {
    options: UpdaterOptions,
    state: Mutex<State>,
    changed: Condvar,
    n_opened: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Work>,
    /// The last ticket that was issued.
    given: u64,
    /// The last ticket whose work was begun.
    begun: u64,
    /// The last ticket that was tried.
    tried: u64,
    /// The last ticket whose outcome is known; the report of it may not have ended.
    known: u64,
    /// The last ticket up to which the index has all paths.
    done: u64,
    /// The last ticket that a caller waits for; its batch begins immediately.
    awaited: u64,
    /// The paths of failed batches, which the next batch repeats.
    left: Option<Batch>,
    /// Why the tickets after `done` failed, up to `tried`.
    cause: Option<NotDone>,
    /// Why runs over all files failed. They are few: a caller asked for each of them.
    failed_runs: BTreeMap<u64, NotDone>,
    /// The figures of the current work.
    current: Arc<Progress>,
    is_stopped: bool,
    /// Whether the thread only waits for merges.
    is_closing: bool,
    /// Whether the thread has ended.
    has_ended: bool,
}

/// Work for some tickets.
struct Work {
    first: u64,
    last: u64,
    kind: Kind,
}

enum Kind {
    Paths(Batch),
    All(AllFiles),
}

/// A run over all files.
struct AllFiles {
    options: Box<Options>,
    changes: Vec<RootChange>,
    progress: Arc<Progress>,
}

/// The next action of the thread.
enum Step {
    Do(Work),
    /// Close the index; another process may be waiting for it.
    Close {
        is_wanted: bool,
    },
}

impl Updater {
    /// Starts the thread, which opens nothing yet. `report` is called after each batch.
    pub fn start(options: UpdaterOptions, report: impl Fn(&Outcome) + Send + 'static) -> Self {
        let shared = Arc::new(Shared {
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
            n_opened: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&shared);
        Self {
            thread: Some(std::thread::spawn(move || of_thread.work(&report))),
            shared,
        }
    }

    /// Submits paths that may have changed. A submission without paths writes changed tags into the
    /// index, as each batch does.
    pub fn submit(&self, changes: impl IntoIterator<Item = PathChange>) -> Ticket {
        // Without a limit of bytes there is nothing to measure, and a file system may not answer.
        let measures = self.shared.options.batching.max_bytes > 0;
        let mut news = Batch::new(Instant::now(), measures);
        changes.into_iter().for_each(|change| news.take(change));
        let mut state = self.shared.state();
        state.given += 1;
        let last = state.given;
        match state.queue.back_mut() {
            Some(Work {
                last: of_batch,
                kind: Kind::Paths(batch),
                ..
            }) => {
                batch.join(news);
                *of_batch = last;
            }
            _ => state.queue.push_back(Work {
                first: last,
                last,
                kind: Kind::Paths(news),
            }),
        }
        self.shared.changed.notify_all();
        Ticket(last)
    }

    /// Requests a run over all files, like [`update`], after everything submitted before.
    pub fn submit_all(
        &self,
        options: Options,
        changes: Vec<RootChange>,
        progress: Arc<Progress>,
    ) -> Ticket {
        let mut state = self.shared.state();
        state.given += 1;
        let last = state.given;
        state.queue.push_back(Work {
            first: last,
            last,
            kind: Kind::All(AllFiles {
                options: Box::new(options),
                changes,
                progress,
            }),
        });
        self.shared.changed.notify_all();
        Ticket(last)
    }

    /// Waits until the work of a ticket is done, and the index has all paths that were submitted up to it. The batch
    /// begins immediately.
    ///
    /// # Errors
    /// Fails if the deadline passes, if the updater ends first, if the ticket's run over all files failed, or if a batch
    /// up to the ticket failed and its paths are not in the index since.
    pub fn wait(&self, ticket: Ticket, deadline: Instant) -> Result<(), NotDone> {
        self.hurry(ticket);
        let mut state = self.shared.state();
        while state.tried < ticket.0 {
            if state.has_ended {
                return Err(NotDone::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NotDone::Deadline);
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.failure_of(ticket.0).map_or(Ok(()), Err)
    }

    /// Has the batch of a ticket begin immediately.
    pub fn hurry(&self, ticket: Ticket) {
        let mut state = self.shared.state();
        state.awaited = state.awaited.max(ticket.0);
        self.shared.changed.notify_all();
    }

    /// Returns whether the work of a ticket has begun: what changes from then on may not be in.
    pub fn has_begun(&self, ticket: Ticket) -> bool {
        self.shared.state().begun >= ticket.0
    }

    /// Returns whether the work of a ticket succeeded, as [`Self::wait`] does; none if it has not been done yet.
    pub fn result_of(&self, ticket: Ticket) -> Option<Result<(), NotDone>> {
        let state = self.shared.state();
        let is_known = state.known >= ticket.0;
        is_known.then(|| state.failure_of(ticket.0).map_or(Ok(()), Err))
    }

    /// Returns the last ticket up to which the index has all submitted paths. A run over all files counts as soon as it
    /// has ended, even if it failed.
    pub fn done_up_to(&self) -> Ticket {
        Ticket(self.shared.state().done)
    }

    /// Returns how many times the index was opened for writing.
    pub fn n_opened(&self) -> u64 {
        self.shared.n_opened.load(Ordering::Relaxed)
    }

    /// Stops the updater: current work is committed as far as it is done, and pending work is
    /// dropped.
    fn stop(&self) {
        let mut state = self.shared.state();
        state.is_stopped = true;
        state.current.cancel();
        self.shared.changed.notify_all();
    }
}

impl Drop for Updater {
    fn drop(&mut self) {
        self.stop();
        // A thread that only waits for merges has committed everything; another run merges.
        let has_ended = self.shared.wait_for_end();
        if let Some(thread) = self.thread.take().filter(|_| has_ended) {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}

/// Reports the end of the thread to waiting callers, even after a panic.
struct Ending<'s>(&'s Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the submitted work until the updater is stopped.
    fn work(&self, report: &dyn Fn(&Outcome)) {
        let _ending = Ending(self);
        let mut kept = Kept::new(&self.options);
        while let Some((step, progress)) = self.next(kept.open_since()) {
            match step {
                Step::Close { is_wanted } => {
                    kept.close(is_wanted);
                    give_back_memory();
                }
                Step::Do(work) => {
                    let added = Added::new(self.options.names_added);
                    let summary = work
                        .kind
                        .run(&mut kept, &progress, &|change| added.note(change));
                    self.n_opened.store(kept.n_opened(), Ordering::Relaxed);
                    let outcome = Outcome {
                        done: Ticket(work.last),
                        all: matches!(work.kind, Kind::All(_)),
                        added: added.take(),
                        summary: summary.map_err(Arc::new),
                    };
                    // The report sees that the work is done, and precedes the end of the wait.
                    self.state().record(work, &outcome);
                    report(&outcome);
                    self.state().tried = outcome.done.0;
                    self.changed.notify_all();
                }
            }
        }
        self.state().is_closing = true;
        kept.close(false);
    }

    /// Waits until the thread has ended; returns false if it still waits for merges.
    fn wait_for_end(&self) -> bool {
        let mut state = self.state();
        let mut until = None;
        while !state.has_ended {
            let now = Instant::now();
            if state.is_closing && *until.get_or_insert(now + LAST_MERGES) <= now {
                return false;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits for work; returns none when the updater is stopped.
    fn next(&self, open_since: Option<Instant>) -> Option<(Step, Arc<Progress>)> {
        let data = &self.options.update.data;
        let mut state = self.state();
        state.is_closing = false;
        loop {
            if state.is_stopped {
                return None;
            }
            let (now, is_paused) = (Instant::now(), paused(data).is_some());
            let open_until = open_since.map(|since| since + self.options.keep_open);
            if let Some(until) = open_until {
                let is_wanted = is_paused || RunLock::is_wanted(data);
                if is_wanted || state.queue.is_empty() && until <= now {
                    state.is_closing = true;
                    return Some((Step::Close { is_wanted }, Arc::default()));
                }
            }
            let mut wait = open_until.map(|_| LOOK);
            if let Some(work) = state.queue.front() {
                let due = match work.is_due_at(&self.options.batching, state.awaited, now) {
                    _ if is_paused && self.options.respects_pause => now + LOOK_AT_PAUSE,
                    due => due,
                };
                if due <= now {
                    return state.begin().map(|(work, of)| (Step::Do(work), of));
                }
                wait = Some(wait.map_or(due - now, |wait| wait.min(due - now)));
            }
            state = match wait {
                Some(wait) => {
                    let waited = self.changed.wait_timeout(state, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl State {
    /// Takes the first work, with new figures; a batch also takes the paths that failed.
    fn begin(&mut self) -> Option<(Work, Arc<Progress>)> {
        let mut work = self.queue.pop_front()?;
        self.begun = work.last;
        if let Kind::Paths(batch) = &mut work.kind
            && let Some(mut left) = self.left.take()
        {
            std::mem::swap(batch, &mut left);
            batch.join(left);
        }
        self.current = match &work.kind {
            Kind::Paths(_) => Arc::default(),
            Kind::All(run) => Arc::clone(&run.progress),
        };
        Some((work, Arc::clone(&self.current)))
    }

    /// Returns why a ticket that was tried is not done.
    fn failure_of(&self, ticket: u64) -> Option<NotDone> {
        let of_paths = self.cause.as_ref().filter(|_| self.done < ticket);
        self.failed_runs.get(&ticket).or(of_paths).cloned()
    }

    /// Records the outcome of work.
    fn record(&mut self, work: Work, outcome: &Outcome) {
        let cause = match &outcome.summary {
            Ok(summary) if summary.interrupted => Some(NotDone::Stopped),
            Ok(_) => None,
            Err(error) => Some(NotDone::Failed(Arc::clone(error))),
        };
        match (work.kind, cause) {
            (Kind::Paths(batch), Some(cause)) => {
                self.left = Some(batch);
                self.cause = Some(cause);
            }
            (Kind::All(_), Some(cause)) => _ = self.failed_runs.insert(work.last, cause),
            // It has looked at all files, those of failed batches too.
            (Kind::All(run), None) if !run.options.lazy => self.left = None,
            (_, None) => {}
        }
        self.known = work.last;
        if self.left.is_none() {
            self.done = work.last;
            self.cause = None;
        }
    }
}

impl Kind {
    fn run(
        &self,
        kept: &mut Kept,
        progress: &Progress,
        notify: &Notify<'_>,
    ) -> Result<Summary, Error> {
        match self {
            Self::Paths(batch) => kept.run(&batch.paths(), progress, notify),
            Self::All(run) => {
                kept.close(false);
                update(&run.options, &run.changes, progress, notify)
            }
        }
    }
}

impl Work {
    fn is_due_at(&self, batching: &Batching, awaited: u64, now: Instant) -> Instant {
        match &self.kind {
            Kind::Paths(batch) if awaited >= self.first => batch.first(),
            Kind::Paths(batch) => batch.is_due_at(batching),
            Kind::All(_) => now,
        }
    }
}
