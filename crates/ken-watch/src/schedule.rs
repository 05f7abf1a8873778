//! When changes are handed over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Events;
use crate::heat::Heat;

/// Number of times that a file is handed over at once when it is closed.
const FREE: u32 = 5;

/// Decides when changed paths are handed over: at once, or later if they change all the time or if a program still
/// writes them.
#[derive(Debug)]
pub struct Schedule {
    /// Paths that changed.
    changed: Heat,
    /// Files that a program writes and has not closed.
    written: Heat,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            changed: Heat::new(FREE),
            written: Heat::new(0),
        }
    }
}

impl Schedule {
    /// Takes the paths of events, and returns those that are due, with earlier ones.
    pub fn pass(&mut self, events: &mut Events, now: Instant) -> BTreeSet<PathBuf> {
        let (changed, written) = (
            std::mem::take(&mut events.changed),
            std::mem::take(&mut events.written),
        );
        for path in &changed {
            self.written.drop_held(path);
        }
        let mut passed = self.changed.pass(changed, now);
        passed.extend(self.written.pass(written, now));
        passed
    }

    /// Returns all paths that are held back, and holds them no longer.
    pub fn release(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        let mut released = self.changed.release(now);
        released.append(&mut self.written.release(now));
        released
    }

    /// Returns the paths that are held back: the index may not know their latest content.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        self.changed.held().chain(self.written.held())
    }

    /// Returns when the first held path is due.
    pub fn due(&self) -> Option<Instant> {
        let due = [self.changed.due(), self.written.due()];
        due.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn paths(path: &str) -> BTreeSet<PathBuf> {
        BTreeSet::from([PathBuf::from(path)])
    }

    fn written(path: &str) -> Events {
        Events {
            written: paths(path),
            ..Events::default()
        }
    }

    fn closed(path: &str) -> Events {
        Events {
            changed: paths(path),
            ..Events::default()
        }
    }

    #[test]
    fn a_file_is_handed_over_when_it_is_closed() {
        let (now, mut schedule) = (Instant::now(), Schedule::default());
        for second in 0..4 {
            let now = now + Duration::from_secs(second);
            assert!(schedule.pass(&mut written("/a"), now).is_empty());
            assert_eq!(schedule.held().collect::<Vec<_>>(), [Path::new("/a")]);
        }
        assert_eq!(schedule.pass(&mut closed("/a"), now), paths("/a"));
        assert_eq!((schedule.held().count(), schedule.due()), (0, None));
    }

    #[test]
    fn a_file_that_is_written_all_the_time_is_handed_over_every_minute() {
        let (start, mut schedule) = (Instant::now(), Schedule::default());
        let mut passed = Vec::new();
        for second in 0..220 {
            let now = start + Duration::from_secs(second);
            if !schedule.pass(&mut written("/log"), now).is_empty() {
                passed.push(second);
            }
        }
        assert_eq!(passed, [5, 16, 37, 78, 139, 200]);
    }

    #[test]
    fn a_barrier_releases_everything() {
        let (now, mut schedule) = (Instant::now(), Schedule::default());
        schedule.pass(&mut written("/log"), now);
        assert_eq!(schedule.release(now), paths("/log"));
        assert_eq!((schedule.held().count(), schedule.due()), (0, None));
    }
}
