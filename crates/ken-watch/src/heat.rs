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
/// Number of held changes after which the waiting time no longer grows.
const MOST_DOUBLINGS: u32 = 4;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);
/// Number of paths to remember.
const MAX_PATHS: usize = 20_000;
/// Number of paths to hold: if there are more, those that waited longest are passed on.
const MAX_HELD: usize = 10_000;

/// Holds changes of paths back that change all the time: after some changes each waits 5 s, then 10 s, up to 60 s. The
/// last change of a path is always passed on.
#[derive(Debug)]
pub(crate) struct Heat {
    /// Number of changes that are passed on at once.
    free: u32,
    known: HashMap<PathBuf, Known>,
    /// When held paths are due.
    held: BTreeSet<(Instant, PathBuf)>,
}

#[derive(Debug)]
struct Known {
    /// Number of changes that were passed on.
    n_passed: u32,
    latest: Instant,
    /// When its change is due, if that is held.
    due: Option<Instant>,
}

impl Heat {
    /// Creates a memory that passes this number of changes on at once.
    pub(crate) fn new(free: u32) -> Self {
        Self {
            free,
            known: HashMap::new(),
            held: BTreeSet::new(),
        }
    }

    /// Takes changed paths, and returns those that are not held back, with those that are due.
    pub(crate) fn pass(&mut self, changed: BTreeSet<PathBuf>, now: Instant) -> BTreeSet<PathBuf> {
        let mut passed: BTreeSet<PathBuf> = changed
            .into_iter()
            .filter(|path| self.is_passed(path, now))
            .collect();
        while let Some((due, _)) = self.held.first()
            && (*due <= now || self.held.len() > MAX_HELD)
        {
            passed.extend(self.pass_first(now));
        }
        self.forget(now);
        passed
    }

    /// Returns all held paths, and holds them no longer.
    pub(crate) fn release(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        std::iter::from_fn(|| self.pass_first(now)).collect()
    }

    /// Holds a path no longer, since another change of it is passed on.
    pub(crate) fn drop_held(&mut self, path: &Path) {
        if let Some(known) = self.known.get_mut(path)
            && let Some(due) = known.due.take()
        {
            self.held.remove(&(due, path.to_path_buf()));
        }
    }

    /// Returns the held paths.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Path> {
        self.held.iter().map(|(_, path)| path.as_path())
    }

    fn pass_first(&mut self, now: Instant) -> Option<PathBuf> {
        let (_, path) = self.held.pop_first()?;
        if let Some(known) = self.known.get_mut(&path) {
            known.due = None;
            known.count(self.free, now);
        }
        Some(path)
    }

    /// Returns when the first held path is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.held.first().map(|(due, _)| *due)
    }

    fn is_passed(&mut self, path: &Path, now: Instant) -> bool {
        let first = Known {
            n_passed: 0,
            latest: now,
            due: None,
        };
        let known = self.known.entry(path.to_path_buf()).or_insert(first);
        let since = now.saturating_duration_since(known.latest);
        if known.due.is_some() {
            return false;
        }
        let cooled = since.as_secs() / COOLING.as_secs();
        let cooled = u32::try_from(cooled).unwrap_or(u32::MAX);
        known.n_passed = known.n_passed.saturating_sub(cooled);
        if let Some(doublings) = known.n_passed.checked_sub(self.free) {
            let due = now + (SHORTEST * 2_u32.pow(doublings)).min(LONGEST);
            known.due = Some(due);
            self.held.insert((due, path.to_path_buf()));
            return false;
        }
        if known.n_passed == 0 || since >= ONE_CHANGE {
            known.count(self.free, now);
        }
        true
    }

    /// Forgets what is old, or everything that is not held, once there is much.
    fn forget(&mut self, now: Instant) {
        for memory in [MEMORY, Duration::ZERO] {
            if self.known.len() > MAX_PATHS {
                self.known
                    .retain(|_, known| known.due.is_some() || now - known.latest < memory);
            }
        }
    }
}

impl Known {
    /// Counts a change that is passed on.
    fn count(&mut self, free: u32, now: Instant) {
        self.n_passed = (self.n_passed + 1).min(free + MOST_DOUBLINGS);
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
        let (start, mut heat) = (Instant::now(), Heat::new(5));
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
        let (start, mut heat) = (Instant::now(), Heat::new(5));
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
        let (start, mut heat) = (Instant::now(), Heat::new(5));
        for n in 0..100 {
            let now = start + n * COOLING;
            assert_eq!(heat.pass(changed("/saved"), now).len(), 1, "{n}");
        }
    }

    #[test]
    fn changes_within_a_second_are_one_and_memory_is_bounded() {
        let (now, mut heat) = (Instant::now(), Heat::new(5));
        for _ in 0..100 {
            assert_eq!(heat.pass(changed("/saved"), now).len(), 1);
        }
        let many: BTreeSet<PathBuf> = (0..=MAX_PATHS).map(|n| format!("/{n}").into()).collect();
        assert_eq!(heat.pass(many.clone(), now), many);
        assert!(heat.known.is_empty());
    }

    #[test]
    fn what_is_held_is_bounded_and_can_be_released() {
        let (now, mut heat) = (Instant::now(), Heat::new(0));
        assert!(heat.pass(changed("/a"), now).is_empty());
        assert!(heat.pass(changed("/b"), now).is_empty());
        heat.drop_held(Path::new("/a"));
        assert_eq!(heat.held().collect::<Vec<_>>(), [Path::new("/b")]);
        assert_eq!(heat.release(now), changed("/b"));
        assert_eq!(heat.due(), None);
        let many: BTreeSet<PathBuf> = (0..=MAX_HELD).map(|n| format!("/{n}").into()).collect();
        assert_eq!(heat.pass(many, now).len(), 1);
        assert_eq!(heat.held().count(), MAX_HELD);
    }
}
