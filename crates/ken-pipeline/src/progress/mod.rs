//! What a running update shows, and how it is stopped.

mod gate;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gate::Count;

pub(crate) use gate::Gate;
pub use trace::Trace;
pub(crate) use trace::{Span, Stage};

/// Live figures of a run; what is to do falls only when a pause ends.
#[derive(Debug, Default)]
pub struct Progress {
    /// The walk's own figures; its `cancelled` stops the whole run.
    pub walk: ken_walk::Progress,
    /// Set when the walk is over, and with it the number of files to do known.
    pub walked: AtomicBool,
    /// Set while another process holds the lock.
    pub waiting: AtomicBool,
    /// Files that are to be read.
    pub files_to_do: AtomicU64,
    /// The sum of their sizes.
    pub bytes_to_do: AtomicU64,
    /// Files that were read.
    pub files_done: AtomicU64,
    /// The sum of their sizes.
    pub bytes_done: AtomicU64,
    /// Documents handed to the index.
    pub documents: AtomicU64,
    /// Documents with a failure.
    pub failures: AtomicU64,
    /// Set while nothing is done because indexing is paused.
    pub paused: AtomicBool,
    /// Set when somebody wants the run to stop, and not only to pause.
    stopped: AtomicBool,
    /// How many threads may work.
    pub(crate) gate: Gate,
    /// What each thread does when, if anybody wants to know.
    pub trace: Option<Trace>,
    /// A file that is being read.
    current: Mutex<Option<PathBuf>>,
}

/// A stage in which a thread waits, until this is dropped.
pub(crate) struct Resting<'p> {
    _span: Span<'p>,
    _count: Count<'p>,
}

impl Progress {
    /// Returns one that notes what each thread does when.
    pub fn traced() -> Self {
        Self {
            trace: Some(Trace::default()),
            ..Self::default()
        }
    }

    /// Returns a file that is being read.
    pub fn current(&self) -> Option<PathBuf> {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Begins a stage on this thread, which goes on until what is returned is dropped.
    pub(crate) fn span<'t>(&'t self, stage: Stage, file: Option<&'t Path>) -> Span<'t> {
        Span::new(self.trace.as_ref(), stage, file)
    }

    /// Begins a stage in which this thread waits, so that another may work.
    pub(crate) fn rest(&self, stage: Stage) -> Resting<'_> {
        Resting {
            _span: self.span(stage, None),
            _count: self.gate.rest(),
        }
    }

    /// Stops the run: what is done is committed.
    pub fn cancel(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.walk.cancelled.store(true, Ordering::SeqCst);
    }

    /// Stops the run as [`Self::cancel`] does, but for a while.
    pub(crate) fn pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
        self.walk.cancelled.store(true, Ordering::SeqCst);
    }

    /// Lets another run go on after a pause, unless it is to stop altogether.
    pub(crate) fn resume(&self) {
        self.paused.store(false, Ordering::Relaxed);
        self.walked.store(false, Ordering::Relaxed);
        // What is left is announced again.
        let copy = |from: &AtomicU64, to: &AtomicU64| {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed)
        };
        copy(&self.files_done, &self.files_to_do);
        copy(&self.bytes_done, &self.bytes_to_do);
        self.walk.cancelled.store(false, Ordering::SeqCst);
        if self.stopped.load(Ordering::SeqCst) {
            self.walk.cancelled.store(true, Ordering::SeqCst);
        }
    }

    /// Returns whether it is to stop altogether.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Returns whether the run is being stopped.
    pub fn is_cancelled(&self) -> bool {
        self.walk.cancelled.load(Ordering::Relaxed)
    }

    /// Notes a file that is being read. Does not wait for the display, nor for other threads.
    pub(crate) fn set_current(&self, path: &Path) {
        if let Ok(mut current) = self.current.try_lock() {
            match current.as_mut() {
                Some(buffer) => path.clone_into(buffer),
                None => *current = Some(path.to_path_buf()),
            }
        }
    }
}
