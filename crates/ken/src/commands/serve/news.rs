//! What other threads tell the server: signals, questions from the socket, and how the updater gets on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ken_api::{Question, Reply};
use ken_pipeline::updater::Outcome;
use ken_watch::Waker;

use super::runs::Runs;
use crate::output;

/// Reports what an updater does, until its thread ends.
pub(super) struct Reporter {
    pub(super) news: Arc<News>,
    /// Set when the thread has ended: it panicked, unless the server ends it.
    pub(super) has_ended: Arc<AtomicBool>,
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        self.news.waker.wake();
    }
}

/// What other threads tell the server.
pub(super) struct News {
    pub(super) waker: Waker,
    pub(super) is_stopped: AtomicBool,
    /// Whether a batch or a comparison failed.
    pub(super) has_failed: AtomicBool,
    /// Whether a batch found changes since the last sweep began.
    pub(super) has_found: AtomicBool,
    /// Questions from the socket, with the time at which they came.
    pub(super) questions: Mutex<Vec<(Question, Instant, Reply)>>,
    /// The runs that clients wait for.
    pub(super) runs: Runs,
    /// What was said last, which is not repeated.
    pub(super) said: Mutex<Vec<String>>,
}

impl News {
    pub(super) fn new(waker: Waker) -> Self {
        Self {
            waker,
            is_stopped: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            has_found: AtomicBool::new(false),
            questions: Mutex::default(),
            runs: Runs::default(),
            said: Mutex::default(),
        }
    }

    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Takes a question from the socket.
    pub(super) fn ask(&self, question: Question, reply: Reply) {
        self.questions().push((question, Instant::now(), reply));
        self.waker.wake();
    }

    pub(super) fn questions(&self) -> MutexGuard<'_, Vec<(Question, Instant, Reply)>> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the outcome of a batch, or of a comparison of everything.
    pub(super) fn report(&self, outcome: &Outcome) {
        self.runs.end(outcome);
        match &outcome.summary {
            Ok(summary) if outcome.all => self.say(&summary.messages),
            Ok(summary) => {
                let n_found = summary.added + summary.changed + summary.moved + summary.gone;
                self.has_found.fetch_or(n_found > 0, Ordering::Relaxed);
            }
            Err(error) => {
                self.say(&[error.to_string()]);
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
        self.waker.wake();
    }

    pub(super) fn say(&self, messages: &[String]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if *said != messages {
            messages.iter().for_each(|message| output::warn(message));
            *said = messages.to_vec();
        }
    }
}
