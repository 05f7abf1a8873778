//! A budget of bytes: what is in flight is counted, and who wants more waits.
//!
//! Taking and giving back are one atomic addition each; the lock is only for waiting.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A number of bytes that may be in use at once.
pub(crate) struct Budget {
    limit: usize,
    used: AtomicUsize,
    waiting: AtomicUsize,
    /// Held by the first of those who wait.
    turn: Mutex<()>,
    lock: Mutex<()>,
    freed: Condvar,
}

/// A part of a [`Budget`], given back when dropped.
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            turn: Mutex::new(()),
            lock: Mutex::new(()),
            freed: Condvar::new(),
        })
    }

    /// Takes bytes if they are free. Who wants more than three quarters of all gets these: two such do not
    /// go together, but small ones pass beside.
    pub(crate) fn try_take(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let bytes = bytes.min(self.limit - self.limit / 4);
        let fits = |used: usize| (used + bytes <= self.limit).then(|| used + bytes);
        self.used
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits)
            .ok()
            .map(|_| Share {
                budget: Arc::clone(self),
                bytes,
            })
    }

    /// Takes bytes if they are free and nobody waits for some: who comes later does not overtake, or a large one
    /// would wait for ever.
    pub(crate) fn take_in_turn(self: &Arc<Self>, bytes: usize) -> Option<Share> {
        let is_free = self.waiting.load(Ordering::SeqCst) == 0;
        is_free.then(|| self.try_take(bytes)).flatten()
    }

    /// Takes bytes; waits until they are free.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Share {
        if let Some(share) = self.take_in_turn(bytes) {
            return share;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let share = self.wait(bytes);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        share
    }

    fn wait(self: &Arc<Self>, bytes: usize) -> Share {
        let _turn = lock(&self.turn);
        // Announced as waiting before the first try: whoever frees from now on takes the lock.
        let mut guard = lock(&self.lock);
        loop {
            if let Some(share) = self.try_take(bytes) {
                return share;
            }
            guard = self
                .freed
                .wait(guard)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::SeqCst);
        if self.budget.waiting.load(Ordering::SeqCst) > 0 {
            let _guard = lock(&self.budget.lock);
            self.budget.freed.notify_all();
        }
    }
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
        let large = budget.try_take(100).expect("as much as there is for one");
        assert!(budget.try_take(100).is_none());
        assert!(budget.try_take(2).is_some(), "small ones pass beside");
        assert_eq!(large.bytes, 8);
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

    #[test]
    fn large_ones_are_not_overtaken() {
        let budget = Budget::new(10);
        let small = budget.take(3);
        std::thread::scope(|scope| {
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
            assert_eq!((large.join().ok(), late.join().ok()), (Some(8), Some(1)));
        });
    }
}
