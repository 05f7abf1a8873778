//! How often may somebody guess the password? A few times, and then once in a few seconds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The wrong passwords that may come at once.
const AT_ONCE: u32 = 10;
/// The time after which another one may come.
const PAUSE: Duration = Duration::from_secs(3);

/// Counts wrong passwords, of all clients together: an address is nothing that one may not have many of.
pub(crate) struct Attempts {
    /// When all wrong passwords so far are forgotten.
    paid: Mutex<Instant>,
}

impl Attempts {
    pub(crate) fn new() -> Self {
        Self {
            paid: Mutex::new(Instant::now()),
        }
    }

    /// Returns whether another password may be tried now.
    pub(crate) fn may_try(&self, now: Instant) -> bool {
        let paid = *self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        paid.saturating_duration_since(now) + PAUSE <= PAUSE * AT_ONCE
    }

    /// Counts a wrong password.
    pub(crate) fn was_wrong(&self, now: Instant) {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        *paid = (*paid).max(now) + PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_becomes_slow() {
        let (attempts, now) = (Attempts::new(), Instant::now());
        for _ in 0..AT_ONCE {
            assert!(attempts.may_try(now));
            attempts.was_wrong(now);
        }
        assert!(!attempts.may_try(now));
        assert!(!attempts.may_try(now + PAUSE / 2));
        assert!(attempts.may_try(now + PAUSE));
        attempts.was_wrong(now + PAUSE);
        assert!(!attempts.may_try(now + PAUSE));
    }
}
