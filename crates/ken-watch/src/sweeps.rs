//! When what is not watched is compared.

use std::time::{Duration, Instant};

/// The shortest time between two sweeps.
const SHORTEST: Duration = Duration::from_secs(15);
/// The time between two sweeps is this many times that which one takes.
const REST: u32 = 50;

/// When what is not watched is compared: more often if that finds something.
#[derive(Debug)]
pub struct Sweeps {
    shortest: Duration,
    longest: Duration,
    interval: Duration,
    /// When the next one begins, if one is needed.
    due: Option<Instant>,
    /// When the current one began.
    began: Option<Instant>,
}

impl Sweeps {
    /// Creates a plan of sweeps with at most this time between two.
    pub fn new(longest: Duration) -> Self {
        let shortest = SHORTEST.min(longest);
        Self {
            shortest,
            longest,
            interval: shortest,
            due: None,
            began: None,
        }
    }

    /// Returns the shortest and the longest time between two sweeps.
    pub fn bounds(&self) -> (Duration, Duration) {
        (self.shortest, self.longest)
    }

    /// Plans the next sweep if one is needed, and none otherwise.
    pub fn plan(&mut self, is_needed: bool, now: Instant) {
        self.due = match self.due {
            _ if !is_needed => None,
            None if self.began.is_none() => Some(now + self.interval),
            due => due,
        };
    }

    /// Begins a sweep if it is due; returns whether it is.
    pub fn begin(&mut self, now: Instant) -> bool {
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            (self.due, self.began) = (None, Some(now));
        }
        is_due
    }

    /// Ends the current sweep, and plans the next one.
    pub fn end(&mut self, has_found: bool, now: Instant) {
        let Some(began) = self.began.take() else {
            return;
        };
        let next = match has_found {
            true => self.interval / 2,
            false => self.interval * 2,
        };
        self.interval = next.clamp(self.shortest, self.longest);
        let took = now.saturating_duration_since(began);
        self.due = Some(now + self.interval.max(took * REST).min(self.longest));
    }

    /// Returns when the next sweep begins.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_are_frequent_while_they_find_something() {
        let mut now = Instant::now();
        let mut sweeps = Sweeps::new(Duration::from_secs(600));
        sweeps.plan(false, now);
        assert_eq!(sweeps.due(), None);
        sweeps.plan(true, now);
        let mut pauses = Vec::new();
        for found in [false, false, false, false, false, false, true, true] {
            let due = sweeps.due().unwrap();
            pauses.push((due - now).as_secs());
            now = due;
            assert!(!sweeps.begin(now - Duration::from_secs(1)) && sweeps.begin(now));
            sweeps.plan(true, now);
            assert_eq!(sweeps.due(), None, "one at a time");
            sweeps.end(found, now);
        }
        assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 600, 300]);
        sweeps.plan(false, now);
        assert_eq!(sweeps.due(), None);
    }

    #[test]
    fn a_sweep_that_takes_long_is_rare() {
        let now = Instant::now();
        let mut sweeps = Sweeps::new(Duration::from_secs(600));
        sweeps.plan(true, now - SHORTEST);
        assert!(sweeps.begin(now));
        let later = now + Duration::from_secs(4);
        sweeps.end(true, later);
        assert_eq!(sweeps.due(), Some(later + Duration::from_secs(200)));
    }
}
