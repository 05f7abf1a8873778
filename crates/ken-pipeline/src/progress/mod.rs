//! The progress of a running update, and how to stop it.

mod far;
mod gate;
mod trace;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gate::Count;

pub use far::in_words;
pub(crate) use gate::Gate;
pub use trace::Trace;
pub(crate) use trace::{Span, Stage};

/// Live figures of a run; the figures of work to do decrease only when a pause ends.
#[derive(Debug, Default)]
pub struct Progress {
    /// Figures of the walk; its `cancelled` stops the whole run.
    pub walk: ken_walk::Progress,
    /// Set when the walk is over, so that the number of files to do is final.
    pub walked: AtomicBool,
    /// Set while another process holds the lock.
    pub waiting: AtomicBool,
    /// Number of files to read.
    pub files_to_do: AtomicU64,
    /// Total size of these files.
    pub bytes_to_do: AtomicU64,
    /// Number of files that were read.
    pub files_done: AtomicU64,
    /// Total size of these files.
    pub bytes_done: AtomicU64,
    /// Number of documents handed to the index.
    pub documents: AtomicU64,
    /// Number of documents with a failure.
    pub failures: AtomicU64,
    /// Set while the run does nothing because indexing is paused.
    pub paused: AtomicBool,
    /// Set when the run must stop, not only pause.
    stopped: AtomicBool,
    /// Limits how many threads may work.
    pub(crate) gate: Gate,
    /// The trace of the threads, if one is wanted.
    pub trace: Option<Trace>,
    /// A file that is currently read.
    current: Mutex<Option<PathBuf>>,
    /// The machine that this one waits for, and how far it is.
    holder: Mutex<Option<String>>,
}

/// A stage in which a thread waits, until this is dropped.
pub(crate) struct Resting<'p> {
    _span: Span<'p>,
    _count: Count<'p>,
}

impl Progress {
    /// Creates figures with a trace of the threads.
    pub fn traced() -> Self {
        Self {
            trace: Some(Trace::default()),
            ..Self::default()
        }
    }

    /// Returns a file that is currently read.
    pub fn current(&self) -> Option<PathBuf> {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the machine whose run this one waits for, once that takes some seconds.
    pub fn holder(&self) -> Option<String> {
        let holder = self.holder.lock();
        holder.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names the machine whose run this one waits for.
    pub(crate) fn wait_for(&self, holder: Option<String>) {
        *self.holder.lock().unwrap_or_else(PoisonError::into_inner) = holder;
    }

    /// Begins a stage on this thread, which lasts until the returned span is dropped.
    pub(crate) fn span<'t>(&'t self, stage: Stage, file: Option<&'t Path>) -> Span<'t> {
        Span::new(self.trace.as_ref(), stage, file)
    }

    /// Begins a stage in which this thread waits, so that another thread may work.
    pub(crate) fn rest(&self, stage: Stage) -> Resting<'_> {
        Resting {
            _span: self.span(stage, None),
            _count: self.gate.rest(),
        }
    }

    /// Stops the run; completed work is committed.
    pub fn cancel(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.walk.cancelled.store(true, Ordering::SeqCst);
    }

    /// Stops the work that is under way, after an error. What follows it may go on after [`Self::resume`].
    pub(crate) fn fail(&self) {
        self.walk.cancelled.store(true, Ordering::SeqCst);
    }

    /// Stops the run like [`Self::cancel`], but only for a pause.
    pub(crate) fn pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
        self.walk.cancelled.store(true, Ordering::SeqCst);
    }

    /// Lets another run continue after a pause, unless the run was stopped altogether.
    pub(crate) fn resume(&self) {
        self.paused.store(false, Ordering::Relaxed);
        self.walked.store(false, Ordering::Relaxed);
        // The rest is announced again.
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

    /// Returns whether the run was stopped altogether.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Returns whether the run is being stopped.
    pub fn is_cancelled(&self) -> bool {
        self.walk.cancelled.load(Ordering::Relaxed)
    }

    /// Sets the file that is currently read. Waits neither for the display nor for other threads.
    pub fn set_current(&self, path: &Path) {
        if let Ok(mut current) = self.current.try_lock() {
            match current.as_mut() {
                Some(buffer) => path.clone_into(buffer),
                None => *current = Some(path.to_path_buf()),
            }
        }
    }
}
