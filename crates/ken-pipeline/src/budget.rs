//! A budget of bytes: bytes in use are counted, and a thread that needs more than are free waits.
//!
//! Taking and giving back are one atomic addition each; the lock is only for waiting.
//!
//! A file may turn out larger while it is read, when its members have to be held too. Its thread
//! then waits for more bytes while it holds some, and several such threads would wait for each
//! other for ever. Therefore one thread at a time may overdraw: it waits for no other thread, ends,
//! and lets the next one overdraw. The bytes in use are at most the limit plus what one thread
//! needs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A number of bytes that may be in use at once.
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    /// Number of threads that wait and hold nothing yet.
    waiting: AtomicUsize,
    /// Number of threads that wait for more than they hold.
    growing: AtomicUsize,
    /// Held by the first of the threads that hold nothing yet.
    turn: Mutex<()>,
    /// The thread that overdraws. A waiting thread holds this lock except while it sleeps.
    overdrawer: Mutex<Option<ThreadId>>,
    freed: Condvar,
}

/// A part of a [`Budget`], given back when dropped.
pub(crate) struct Share {
    budget: Arc<Budget>,
    /// The counted bytes, without overdrawn ones.
    bytes: usize,
    overdraws: bool,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            growing: AtomicUsize::new(0),
            turn: Mutex::new(()),
            overdrawer: Mutex::new(None),
            freed: Condvar::new(),
        })
    }

    /// Takes bytes if they are free. A request for more than three quarters of the limit overdraws:
    /// two such requests exclude each other, but one leaves room for small ones.
    pub(crate) fn try_take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let usual = self.usual(bytes);
        let mut share = self.try_usual(usual)?;
        let rest = bytes - usual;
        if rest > 0 {
            let mut overdrawer = lock(&self.overdrawer);
            let is_given = share.try_grow(rest, &mut overdrawer);
            // Giving back a share takes the lock.
            drop(overdrawer);
            if !is_given {
                return None;
            }
        }
        Some(share)
    }

    /// Takes bytes if they are free and no thread waits for some: later requests do not overtake,
    /// or a large one would wait for ever.
    pub(crate) fn take_in_turn(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        self.is_nobody_before()
            .then(|| self.try_take(bytes))
            .flatten()
    }

    /// Takes bytes; waits until they are free.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Share {
        let usual = self.usual(bytes);
        if usual == bytes
            && self.is_nobody_before()
            && let Some(share) = self.try_usual(usual)
        {
            return share;
        }
        // Counted as waiting before its turn comes, so that later requests see it.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let turn = lock_turn(&self.turn);
        let mut share = self.wait_for(|_| self.try_usual(usual));
        share.grow(bytes - usual);
        drop(turn);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        share
    }

    /// Returns a share without bytes, which may grow.
    pub(crate) fn share(self: &Arc<Self>) -> Share {
        Share {
            budget: Arc::clone(self),
            bytes: 0,
            overdraws: false,
        }
    }

    /// Returns the bytes that one share may have without overdrawing.
    fn usual(&self, bytes: usize) -> usize {
        bytes.min(self.limit - self.limit / 4)
    }

    fn try_usual(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        self.count(bytes).then(|| Share {
            budget: Arc::clone(self),
            bytes,
            overdraws: false,
        })
    }

    /// Counts bytes as used if they are free.
    fn count(&self, bytes: usize) -> bool {
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.used
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits)
            .is_ok()
    }

    fn is_nobody_before(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }

    /// Repeats `attempt` until it succeeds, each time something is given back. The caller must
    /// already be counted as waiting, so that every thread that gives back from then on takes the
    /// lock.
    fn wait_for<T>(&self, mut attempt: impl FnMut(&mut Option<ThreadId>) -> Option<T>) -> T {
        let mut overdrawer = lock(&self.overdrawer);
        loop {
            if let Some(done) = attempt(&mut overdrawer) {
                return done;
            }
            overdrawer = self
                .freed
                .wait(overdrawer)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Share {
    /// Takes more bytes; waits until they are free, or until this thread may overdraw.
    pub(crate) fn grow(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        if self.budget.count(bytes) {
            self.bytes += bytes;
            return;
        }
        let budget = Arc::clone(&self.budget);
        budget.growing.fetch_add(1, Ordering::SeqCst);
        budget.wait_for(|overdrawer| self.try_grow(bytes, overdrawer).then_some(()));
        budget.growing.fetch_sub(1, Ordering::SeqCst);
    }

    fn try_grow(&mut self, bytes: usize, overdrawer: &mut Option<ThreadId>) -> bool {
        if self.budget.count(bytes) {
            self.bytes += bytes;
            return true;
        }
        let own = thread::current().id();
        match overdrawer {
            None => {
                *overdrawer = Some(own);
                self.overdraws = true;
                true
            }
            Some(other) => *other == own,
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let budget = &self.budget;
        budget.used.fetch_sub(self.bytes, Ordering::SeqCst);
        let somebody_waits =
            budget.waiting.load(Ordering::SeqCst) > 0 || budget.growing.load(Ordering::SeqCst) > 0;
        if self.overdraws || somebody_waits {
            let mut overdrawer = lock(&budget.overdrawer);
            if self.overdraws {
                *overdrawer = None;
            }
            budget.freed.notify_all();
        }
    }
}

fn lock(mutex: &Mutex<Option<ThreadId>>) -> MutexGuard<'_, Option<ThreadId>> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_turn(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let budget = Budget::new(10);
        let six = budget.try_take(6).expect("free");
        assert!(budget.try_take(5).is_none());
        let four = budget.try_take(4).expect("free");
        drop(six);
        assert!(budget.try_take(100).is_none());
        drop(four);
        let large = budget.try_take(100).expect("one may overdraw");
        assert!(budget.try_take(100).is_none());
        assert!(budget.try_take(2).is_some(), "small ones pass beside");
        assert_eq!((large.bytes, large.overdraws), (8, true));
    }

    #[test]
    fn those_who_wait_go_on() {
        let budget = Budget::new(100);
        let most = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 1..=8_usize {
                let (budget, most) = (&budget, &most);
                scope.spawn(move || {
                    for round in 0..500 {
                        let _share = budget.take(1 + (thread * 13 + round) % 60);
                        most.fetch_max(budget.used.load(Ordering::SeqCst), Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(budget.used.load(Ordering::SeqCst), 0);
        assert!(most.load(Ordering::SeqCst) <= 100);
    }

    /// Threads that hold some bytes and need more, all at once, many times: with plain waiting they
    /// would block each other at once.
    #[test]
    fn those_who_hold_and_need_more_end_too() {
        let budget = Budget::new(10);
        let n_over = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 1..=8_usize {
                let (budget, n_over) = (&budget, &n_over);
                scope.spawn(move || {
                    for round in 0..500 {
                        let mut held = budget.take(1 + (thread + round) % 8);
                        held.grow(4 + round % 9);
                        let mut inner = budget.share();
                        inner.grow(1 + thread);
                        if held.overdraws || inner.overdraws {
                            assert_eq!(n_over.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                            n_over.fetch_sub(1, Ordering::SeqCst);
                        }
                        assert!(budget.used.load(Ordering::SeqCst) <= 10);
                    }
                });
            }
        });
        assert_eq!(budget.used.load(Ordering::SeqCst), 0);
        assert_eq!(*lock(&budget.overdrawer), None);
    }

    #[test]
    fn large_ones_are_not_overtaken() {
        let budget = Budget::new(10);
        std::thread::scope(|scope| {
            // Dropped here: if the test fails, no thread waits for it.
            let small = budget.take(3);
            let large = scope.spawn(|| budget.take(10).bytes);
            while budget.waiting.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let late = scope.spawn(|| budget.take(1).bytes);
            while budget.waiting.load(Ordering::SeqCst) == 1 {
                assert!(
                    !late.is_finished(),
                    "there is room for it, but it has to wait"
                );
                std::thread::yield_now();
            }
            drop(small);
            assert_eq!((large.join().ok(), late.join().ok()), (Some(10), Some(1)));
        });
    }
}
