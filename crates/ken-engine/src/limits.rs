//! Limits on one search: a deadline, and a flag by which another thread cancels it.
//!
//! A search asks at coarse steps whether a limit is reached: before each segment, for each window of documents, and
//! every few dozen documents or terms where each takes long. Once a limit is reached, the search ends with what it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The limits at which a search ends before it is complete. One value serves one search, on any number of threads.
#[derive(Debug, Default)]
pub struct Limits {
    deadline: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
    reached: AtomicBool,
    /// The number of checks that are left, if it is limited.
    left: Option<AtomicUsize>,
}

impl Limits {
    /// Returns limits: the search ends at `deadline`, or soon after `cancel` becomes true.
    pub fn new(deadline: Option<Instant>, cancel: Option<Arc<AtomicBool>>) -> Self {
        Self {
            deadline,
            cancel,
            ..Self::default()
        }
    }

    /// Returns limits that are reached when the search has asked `n_questions` times. Tests use them to end a search at each
    /// point where it may end.
    pub fn after(n_questions: usize) -> Self {
        Self {
            left: Some(n_questions.into()),
            ..Self::default()
        }
    }

    /// Returns whether the search must end. Once true, it stays true.
    pub fn reached(&self) -> bool {
        if self.reached.load(Relaxed) {
            return true;
        }
        let cancelled = self.cancel.as_ref().is_some_and(|flag| flag.load(Relaxed));
        let reached = cancelled || self.deadline.is_some_and(|end| Instant::now() >= end);
        let reached = reached
            || self.left.as_ref().is_some_and(|left| {
                left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                    .is_err()
            });
        if reached {
            self.reached.store(true, Relaxed);
        }
        reached
    }

    /// Returns whether the search ended early because [`Limits::reached`] was true when it asked.
    pub fn ended_early(&self) -> bool {
        self.reached.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_stays_reached() {
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = Limits::new(None, Some(Arc::clone(&cancel)));
        assert!(!limits.reached());
        cancel.store(true, Relaxed);
        assert!(!limits.ended_early());
        assert!(limits.reached());
        cancel.store(false, Relaxed);
        assert!(limits.reached() && limits.ended_early());
    }

    #[test]
    fn a_deadline_is_reached_when_its_time_comes() {
        let now = Instant::now();
        assert!(Limits::new(Some(now), None).reached());
        let far = now + Duration::from_secs(3600);
        assert!(!Limits::new(Some(far), None).reached());
        assert!(!Limits::default().reached());
    }
}
