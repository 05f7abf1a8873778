//! Paths that change all the time: they are passed on ever more rarely.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Changes within this time count as one.
const ONE_CHANGE: Duration = Duration::from_secs(1);
/// Each time of this length without a change makes up for one change: whoever saves a file every now and then does not
/// wait.
const COOLING: Duration = Duration::from_secs(10);
/// A path that did not change for this time is like one that never changed.
const MEMORY: Duration = Duration::from_secs(120);
/// Number of changes that are passed on at once.
const FREE: u32 = 5;
/// Number of changes after which the waiting time no longer grows.
const HOTTEST: u32 = FREE + 4;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);
/// Number of paths to remember.
const MAX_PATHS: usize = 50_000;

/// Holds changes of paths back that change all the time: after five changes each waits 5 s, then 10 s, up to 60 s. The
/// last change of a path is always passed on.
#[derive(Debug, Default)]
pub struct Heat {
    known: HashMap<PathBuf, Known>,
    /// When held paths are due.
    held: BTreeSet<(Instant, PathBuf)>,
}

#[derive(Debug)]
struct Known {
    /// Number of changes that were passed on.
    n_passed: u32,
    latest: Instant,
    is_held: bool,
}

impl Heat {
    /// Takes changed paths, and returns those that are not held back, with those that are due.
    pub fn pass(&mut self, changed: BTreeSet<PathBuf>, now: Instant) -> BTreeSet<PathBuf> {
        let mut passed: BTreeSet<PathBuf> = changed
            .into_iter()
            .filter(|path| self.is_passed(path, now))
            .collect();
        while let Some((due, _)) = self.held.first()
            && *due <= now
            && let Some((_, path)) = self.held.pop_first()
        {
            if let Some(known) = self.known.get_mut(&path) {
                known.is_held = false;
                known.count(now);
            }
            passed.insert(path);
        }
        self.forget(now);
        passed
    }

    /// Returns when the first held path is due.
    pub fn due(&self) -> Option<Instant> {
        self.held.first().map(|(due, _)| *due)
    }

    /// Returns the number of held paths.
    pub fn n_held(&self) -> usize {
        self.held.len()
    }

    /// Returns the held paths.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        self.held.iter().map(|(_, path)| path.as_path())
    }

    /// Passes all held paths on, because somebody waits for them.
    pub fn release(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        let held = std::mem::take(&mut self.held);
        let released = held.into_iter().map(|(_, path)| path);
        released
            .inspect(|path| {
                if let Some(known) = self.known.get_mut(path) {
                    known.is_held = false;
                    known.count(now);
                }
            })
            .collect()
    }

    fn is_passed(&mut self, path: &Path, now: Instant) -> bool {
        let first = Known {
            n_passed: 0,
            latest: now,
            is_held: false,
        };
        let known = self.known.entry(path.to_path_buf()).or_insert(first);
        let since = now.saturating_duration_since(known.latest);
        if known.is_held {
            return false;
        }
        let cooled = since.as_secs() / COOLING.as_secs();
        let cooled = u32::try_from(cooled).unwrap_or(u32::MAX);
        known.n_passed = known.n_passed.saturating_sub(cooled);
        if let Some(doublings) = known.n_passed.checked_sub(FREE) {
            known.is_held = true;
            let wait = (SHORTEST * 2_u32.pow(doublings)).min(LONGEST);
            self.held.insert((now + wait, path.to_path_buf()));
            return false;
        }
        if known.n_passed == 0 || since >= ONE_CHANGE {
            known.count(now);
        }
        true
    }

    /// Forgets what is old, or everything that is not held, once there is much.
    fn forget(&mut self, now: Instant) {
        for memory in [MEMORY, Duration::ZERO] {
            if self.known.len() > MAX_PATHS {
                self.known
                    .retain(|_, known| known.is_held || now - known.latest < memory);
            }
        }
    }
}

impl Known {
    /// Counts a change that is passed on.
    fn count(&mut self, now: Instant) {
        self.n_passed = (self.n_passed + 1).min(HOTTEST);
        self.latest = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(path: &str) -> BTreeSet<PathBuf> {
        BTreeSet::from([PathBuf::from(path)])
    }

    #[test]
    fn a_path_that_always_changes_waits_longer_and_longer() {
        let (start, mut heat) = (Instant::now(), Heat::default());
        let mut passed = Vec::new();
        for second in 0..200 {
            let now = start + Duration::from_secs(second);
            if !heat.pass(changed("/log"), now).is_empty() {
                passed.push(second);
            }
            assert_eq!(heat.pass(changed(&format!("/{second}")), now).len(), 1);
        }
        assert_eq!(passed, [0, 1, 2, 3, 4, 10, 21, 42, 83, 144]);
    }

    #[test]
    fn the_last_change_is_passed_on_and_forgotten_in_time() {
        let (start, mut heat) = (Instant::now(), Heat::default());
        for second in 0..6 {
            heat.pass(changed("/log"), start + Duration::from_secs(second));
        }
        let due = heat.due().unwrap();
        assert_eq!(due, start + Duration::from_secs(10));
        assert_eq!(heat.pass(BTreeSet::new(), due), changed("/log"));
        assert_eq!(heat.due(), None);
        let later = due + MEMORY + ONE_CHANGE;
        assert_eq!(heat.pass(changed("/log"), later), changed("/log"));
    }

    #[test]
    fn a_path_that_changes_now_and_then_never_waits() {
        let (start, mut heat) = (Instant::now(), Heat::default());
        for n in 0..100 {
            let now = start + n * COOLING;
            assert_eq!(heat.pass(changed("/saved"), now).len(), 1, "{n}");
        }
    }

    #[test]
    fn changes_within_a_second_are_one_and_memory_is_bounded() {
        let (now, mut heat) = (Instant::now(), Heat::default());
        for _ in 0..100 {
            assert_eq!(heat.pass(changed("/saved"), now).len(), 1);
        }
        let many: BTreeSet<_> = (0..=MAX_PATHS).map(|n| format!("/{n}").into()).collect();
        assert_eq!(heat.pass(many.clone(), now), many);
        assert!(heat.known.is_empty());
    }
}
