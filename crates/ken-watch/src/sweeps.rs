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
    current: Option<Sweep>,
    /// When the last one that has ended began.
    last: Option<Instant>,
}

/// A sweep under way.
#[derive(Clone, Copy, Debug)]
struct Sweep {
    due: Instant,
    began: Instant,
}

/// Where the sweeps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// When the last one that has ended began; what changed before it is known.
    pub last: Option<Instant>,
    /// When the current one was due, or the next one is.
    pub due: Instant,
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
            current: None,
            last: None,
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
            None if self.current.is_none() => Some(now + self.interval),
            due => due,
        };
    }

    /// Begins a sweep if it is due; returns whether it is.
    pub fn begin(&mut self, now: Instant) -> bool {
        let Some(due) = self.due.filter(|due| *due <= now) else {
            return false;
        };
        self.current = Some(Sweep { due, began: now });
        self.due = None;
        true
    }

    /// Ends the current sweep, and plans the next one.
    pub fn end(&mut self, has_found: bool, now: Instant) {
        let Some(Sweep { began, .. }) = self.current.take() else {
            return;
        };
        self.last = Some(began);
        let next = match has_found {
            true => self.interval / 2,
            false => self.interval * 2,
        };
        self.interval = next.clamp(self.shortest, self.longest);
        let took = now.saturating_duration_since(began);
        self.due = Some(now + self.interval.max(took * REST).min(self.longest));
    }

    /// Returns where the sweeps are; none if none is needed.
    pub fn progress(&self) -> Option<Progress> {
        let due = self.current.map(|sweep| sweep.due).or(self.due)?;
        Some(Progress {
            last: self.last,
            due,
        })
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
    fn a_sweep_that_does_not_end_is_still_due() {
        let start = Instant::now();
        let mut sweeps = Sweeps::new(Duration::from_secs(600));
        assert_eq!(sweeps.progress(), None);
        sweeps.plan(true, start);
        let due = start + SHORTEST;
        assert_eq!(sweeps.progress(), Some(Progress { last: None, due }));
        let began = due + Duration::from_secs(1);
        assert!(sweeps.begin(began));
        assert_eq!(sweeps.progress(), Some(Progress { last: None, due }));
        let ended = began + Duration::from_secs(2);
        sweeps.end(true, ended);
        let progress = sweeps.progress().unwrap();
        assert_eq!(progress.last, Some(began));
        assert!(progress.due > ended);
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
