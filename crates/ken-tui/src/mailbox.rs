//! A place for one question: a newer one replaces an older one that nobody has taken yet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A question, and whether its answer is still wanted.
pub(crate) struct Letter<T> {
    pub(crate) question: T,
    /// Set when a newer question has come.
    pub(crate) is_stale: Arc<AtomicBool>,
}

/// Holds the newest question.
pub(crate) struct Mailbox<T> {
    inside: Mutex<Inside<T>>,
    has_come: Condvar,
}

struct Inside<T> {
    newest: Option<Letter<T>>,
    /// Whether the answer to the last question is still wanted.
    last: Arc<AtomicBool>,
    is_closed: bool,
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        let inside = Inside {
            newest: None,
            last: Arc::default(),
            is_closed: false,
        };
        Self {
            inside: Mutex::new(inside),
            has_come: Condvar::new(),
        }
    }

    fn inside(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks; nobody waits for the answers to older questions any more.
    pub(crate) fn put(&self, question: T) {
        let mut inside = self.inside();
        inside.last.store(true, Ordering::Relaxed);
        let is_stale = Arc::new(AtomicBool::new(false));
        inside.last = Arc::clone(&is_stale);
        inside.newest = Some(Letter { question, is_stale });
        drop(inside);
        self.has_come.notify_one();
    }

    /// Waits for a question; none if there will be no more.
    pub(crate) fn take(&self) -> Option<Letter<T>> {
        let mut inside = self.inside();
        loop {
            if inside.is_closed {
                return None;
            }
            if let Some(letter) = inside.newest.take() {
                return Some(letter);
            }
            let woken = self.has_come.wait(inside);
            inside = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that no more questions come.
    pub(crate) fn close(&self) {
        let mut inside = self.inside();
        inside.is_closed = true;
        inside.last.store(true, Ordering::Relaxed);
        drop(inside);
        self.has_come.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_question_is_asked() {
        let mailbox = Mailbox::new();
        mailbox.put(1);
        mailbox.put(2);
        let two = mailbox.take().unwrap();
        assert_eq!(two.question, 2);
        assert!(!two.is_stale.load(Ordering::Relaxed));
        mailbox.put(3);
        assert!(two.is_stale.load(Ordering::Relaxed));
        mailbox.close();
        assert!(mailbox.take().is_none());
    }
}
