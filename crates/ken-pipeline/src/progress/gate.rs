//! The gate: limits how many threads work at once; the others wait.

use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a waiting thread checks whether it may continue.
const LOOK: Duration = Duration::from_millis(50);

/// Limits the number of threads that work at once; without a limit, all of them work.
#[derive(Debug)]
pub(crate) struct Gate {
    allowed: AtomicIsize,
    /// Threads with something to do, which wait neither here nor for anything else.
    working: AtomicIsize,
    /// Held by the thread that tries to continue.
    turn: Mutex<()>,
}

/// Counts a thread as working, or as resting, until this is dropped.
pub(crate) struct Count<'g> {
    working: &'g AtomicIsize,
    is_more: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            allowed: AtomicIsize::new(isize::MAX),
            working: AtomicIsize::new(0),
            turn: Mutex::default(),
        }
    }
}

impl Gate {
    /// Sets how many threads may work, at least one.
    pub(crate) fn set(&self, allowed: usize) {
        let allowed = isize::try_from(allowed.max(1)).unwrap_or(isize::MAX);
        self.allowed.store(allowed, Ordering::Relaxed);
    }

    /// Counts this thread as working.
    pub(crate) fn work(&self) -> Count<'_> {
        self.working.fetch_add(1, Ordering::Relaxed);
        Count {
            working: &self.working,
            is_more: true,
        }
    }

    /// Counts this thread as resting, because it waits for something: another thread may work.
    pub(crate) fn rest(&self) -> Count<'_> {
        self.working.fetch_sub(1, Ordering::Relaxed);
        Count {
            working: &self.working,
            is_more: false,
        }
    }

    /// Waits if too many threads work. A working thread calls this between two pieces of work.
    pub(crate) fn pass(&self) {
        if self.working.load(Ordering::Relaxed) <= self.allowed.load(Ordering::Relaxed) {
            return;
        }
        // Two threads must not take the same slot.
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.working.load(Ordering::Relaxed) <= self.allowed.load(Ordering::Relaxed) {
            return;
        }
        self.working.fetch_sub(1, Ordering::Relaxed);
        drop(turn);
        loop {
            thread::sleep(LOOK);
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if self.working.load(Ordering::Relaxed) < self.allowed.load(Ordering::Relaxed) {
                self.working.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        match self.is_more {
            true => self.working.fetch_sub(1, Ordering::Relaxed),
            false => self.working.fetch_add(1, Ordering::Relaxed),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;

    #[test]
    fn no_more_work_than_may() {
        let gate = Gate::default();
        let (ended, most, done) = (
            AtomicBool::new(false),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        let busy = AtomicUsize::new(0);
        let begun = Barrier::new(6);
        gate.set(2);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let _work = gate.work();
                    // All have begun before any is stopped.
                    begun.wait();
                    while !ended.load(Ordering::Relaxed) {
                        gate.pass();
                        most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        busy.fetch_sub(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            thread::sleep(LOOK * 4);
            // The threads that may work all wait for something, so others continue.
            gate.set(1);
            ended.store(true, Ordering::Relaxed);
        });
        assert_eq!(gate.working.load(Ordering::Relaxed), 0);
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert!(done.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn who_waits_for_something_else_lets_another_work() {
        let gate = Gate::default();
        gate.set(1);
        let _work = gate.work();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _work = gate.work();
                gate.pass();
            });
            thread::sleep(LOOK * 2);
            assert!(!other.is_finished());
            let _rest = gate.rest();
            other.join().unwrap();
        });
    }
}
