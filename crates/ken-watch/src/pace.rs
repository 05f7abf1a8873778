//! How often events are read while files are only written.
//!
//! A program that writes a log makes an event with each write. The kernel keeps them, and joins equal ones, so they are
//! read after pauses.

use std::time::{Duration, Instant};

/// The first pause: a program that saves a file closes it sooner.
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);
/// Number of events that may come during a pause; the kernel keeps 16,384.
const MAX_WAITING: u32 = 4_096;

/// How often events are read while files are only written.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    pause: Duration,
    /// When events are read again.
    until: Option<Instant>,
}

impl Pace {
    /// Takes the number of writes that were read, and whether there was nothing else.
    pub(crate) fn note(&mut self, n_written: usize, is_all: bool, now: Instant) {
        if n_written == 0 && is_all {
            return;
        }
        if !is_all {
            *self = Self::default();
            return;
        }
        let since = self.until.map(|until| now.saturating_duration_since(until));
        // Without a pause before, nothing is known about the rate.
        let since = since.filter(|since| *since < LONGEST);
        let longest = since.map_or(FIRST, |since| {
            let n_written = u32::try_from(n_written).unwrap_or(u32::MAX);
            (since + self.pause) * MAX_WAITING / n_written.max(1)
        });
        self.pause = (2 * self.pause).max(FIRST).min(longest).min(LONGEST);
        self.until = Some(now + self.pause);
    }

    /// Returns until when no events are read, if that is later.
    pub(crate) fn paused_until(&self, now: Instant) -> Option<Instant> {
        self.until.filter(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pauses in milliseconds while a file is written this often in a second.
    fn pauses(rate: u32, n: usize) -> Vec<u128> {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let mut waited = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..n {
            let n_written = (waited.as_millis() as u32 * rate / 1_000).max(1);
            pace.note(n_written as usize, true, now);
            waited = pace.paused_until(now).unwrap() - now;
            now += waited;
            pauses.push(waited.as_millis());
        }
        pauses
    }

    #[test]
    fn pauses_become_longer_but_the_queue_never_fills() {
        let slow = [20, 40, 80, 160, 320, 640, 1_000, 1_000];
        assert_eq!(pauses(100, 8), slow);
        let fast = pauses(40_000, 12);
        assert!(fast.iter().all(|ms| *ms <= 110), "{fast:?}");
    }

    #[test]
    fn other_events_and_quiet_end_the_pauses() {
        let (start, mut pace) = (Instant::now(), Pace::default());
        pace.note(1, true, start);
        pace.note(1, false, start + FIRST);
        assert_eq!(pace.paused_until(start), None);
        for _ in 0..5 {
            pace.note(1, true, start);
        }
        let later = start + Duration::from_secs(9);
        pace.note(1, true, later);
        assert_eq!(pace.paused_until(later), Some(later + FIRST));
    }
}
