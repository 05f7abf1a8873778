//! The stack of folders that the threads of a walk share.
//!
//! A thread takes a folder with [`Queue::take`] and gives the [`Turn`] back by dropping it,
//! together with the subfolders that it found. The walk is over when the stack is empty and no turn
//! is out. One lock guards both; it is taken twice for each folder, never for a file. The newest
//! folder is taken first, which keeps the stack short.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work for several threads, each piece of which may yield more.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    stack: Vec<T>,
    turns: usize,
    /// Number of threads that wait for work: without any, no system call is needed to wake them.
    waiting: usize,
}

/// A piece of work that a thread has taken.
pub struct Turn<'a, T> {
    queue: &'a Queue<T>,
    /// Further work that the piece yielded.
    pub found: Vec<T>,
}

impl<T> Queue<T> {
    /// Creates a queue with this work.
    pub fn new(stack: Vec<T>) -> Self {
        Self {
            state: Mutex::new(State {
                stack,
                turns: 0,
                waiting: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for work; returns `None` when there is none left and none can come.
    pub fn take(&self) -> Option<(T, Turn<'_, T>)> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.stack.pop() {
                state.turns += 1;
                let turn = Turn {
                    queue: self,
                    found: Vec::new(),
                };
                return Some((work, turn));
            }
            if state.turns == 0 {
                return None;
            }
            state.waiting += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    /// Drops all work that is not taken.
    pub fn clear(&self) {
        self.lock().stack.clear();
    }

    fn wake(&self, state: &State<T>) {
        if state.waiting == 0 {
            return;
        }
        if state.stack.len() == 1 {
            self.changed.notify_one();
        } else if state.stack.len() > 1 || state.turns == 0 {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Turn<'_, T> {
    /// Passes on the work found so far, while this piece continues.
    pub fn hand_on(&mut self, found: &mut Vec<T>) {
        if found.is_empty() {
            return;
        }
        let mut state = self.queue.lock();
        state.stack.append(found);
        self.queue.wake(&state);
    }
}

/// Runs even when the thread panics, so that the others do not wait for ever.
impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.turns -= 1;
        state.stack.append(&mut self.found);
        self.queue.wake(&state);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_work_is_done_by_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let queue = Queue::new(vec![12_u32]);
            let done = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        while let Some((depth, mut turn)) = queue.take() {
                            done.fetch_add(1, Ordering::Relaxed);
                            turn.found
                                .extend((depth > 1).then_some([depth - 1; 2]).iter().flatten());
                        }
                    });
                }
            });
            assert_eq!(done.into_inner(), (1 << 12) - 1);
        }
    }

    #[test]
    fn a_panic_leaves_nobody_waiting() {
        let queue = Queue::new(vec![1]);
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                let _turn = queue.take();
                std::panic::resume_unwind(Box::new(()));
            });
            assert!(panicking.join().is_err());
            assert!(queue.take().is_none());
        });
    }
}
