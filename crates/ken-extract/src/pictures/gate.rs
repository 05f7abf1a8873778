//! How many pictures are drawn at once: a worker may take as much memory as `extract.worker_memory`.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};

/// More than this number are never drawn at once.
const MAX_AT_ONCE: usize = 4;

/// Lets a number of threads in, and makes the others wait.
pub(super) struct Gate {
    n_free: Mutex<usize>,
    freed: Condvar,
}

/// The right to draw, until it is dropped.
pub(super) struct Permit<'g>(&'g Gate);

impl Gate {
    pub(super) fn new() -> Self {
        let n_processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            n_free: Mutex::new(n_processors.min(MAX_AT_ONCE)),
            freed: Condvar::new(),
        }
    }

    /// Waits for the right to draw.
    pub(super) fn enter(&self) -> Permit<'_> {
        let n_free = self.n_free.lock().unwrap_or_else(PoisonError::into_inner);
        let n_free = self.freed.wait_while(n_free, |n_free| *n_free == 0);
        *n_free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let n_free = self.0.n_free.lock();
        *n_free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
