//! When changes are handed over.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Events;
use crate::gather::{Gather, Pauses};
use crate::heat::Heat;
use crate::locks::Locks;

/// Number of times that a file is handed over at once when it is closed.
const FREE: u32 = 5;
/// Number of events within a second that are a storm.
const MANY_EVENTS: usize = 10_000;

/// Decides when changed paths are handed over: when nothing has changed for a moment, later if they change all the time
/// or if a program still writes them, and all together after a storm.
#[derive(Debug)]
pub struct Schedule {
    /// Paths that changed.
    changed: Heat,
    /// Files that a program writes and has not closed.
    written: Heat,
    /// What is handed over next.
    gathered: Gather,
    pauses: Pauses,
    is_on_battery: fn() -> bool,
    locks: Locks,
    /// When the current second began, and the number of events in it.
    second: (Instant, usize),
}

impl Schedule {
    /// Creates a schedule without paths. On battery it waits longer.
    pub fn new(is_on_battery: fn() -> bool) -> Self {
        Self {
            changed: Heat::new(FREE),
            written: Heat::new(0),
            gathered: Gather::default(),
            pauses: Pauses::of(false),
            is_on_battery,
            locks: Locks::default(),
            second: (Instant::now(), 0),
        }
    }

    /// Takes the paths of events, and returns those that are due, with earlier ones.
    pub fn pass(&mut self, events: &mut Events, now: Instant) -> BTreeSet<PathBuf> {
        let changed = std::mem::take(&mut events.changed);
        let written = std::mem::take(&mut events.written);
        let mut passed = self.locks.note(&events.locked, now);
        if self.is_fast(events.n_events, now) {
            self.gathered.note_storm();
        }
        for path in &changed {
            self.written.drop_held(path);
        }
        // What waits for the end of a storm need not wait longer.
        let (at_once, changed) = match self.gathered.is_storm() {
            true => (changed, BTreeSet::new()),
            false => (BTreeSet::new(), changed),
        };
        let changed = self.changed.pass(changed, now);
        let written = self.written.pass(written, now);
        passed.extend(at_once.into_iter().chain(changed).chain(written));
        self.gather(&passed, now);
        match self.gathered.due(&self.pauses) {
            Some(due) if due <= now => self.gathered.take(),
            _ => BTreeSet::new(),
        }
    }

    /// Returns all paths that are held back, and holds them no longer.
    pub fn release(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        let mut released = self.changed.release(now);
        released.append(&mut self.written.release(now));
        released.append(&mut self.gathered.take());
        released.append(&mut self.locks.release());
        released
    }

    /// Returns the paths that are held back: the index may not know their latest content. A folder stands for everything
    /// below it.
    pub fn held(&self) -> impl Iterator<Item = &Path> {
        let gathered = self.gathered.paths().chain(self.locks.paths());
        self.changed
            .held()
            .chain(self.written.held())
            .chain(gathered)
    }

    /// Returns when something is to be done without further events.
    pub fn due(&self) -> Option<Instant> {
        let due = [
            self.changed.due(),
            self.written.due(),
            self.gathered.due(&self.pauses),
            self.locks.due(),
        ];
        due.into_iter().flatten().min()
    }

    fn gather(&mut self, paths: &BTreeSet<PathBuf>, now: Instant) {
        if self.gathered.is_empty() && !paths.is_empty() {
            self.pauses = Pauses::of((self.is_on_battery)());
        }
        for path in paths {
            if !self.locks.hold(path, now) {
                self.gathered.add(path, now);
            }
        }
    }

    /// Counts events, and returns whether they are many within a second.
    fn is_fast(&mut self, n_events: usize, now: Instant) -> bool {
        let (since, n) = &mut self.second;
        if now.saturating_duration_since(*since) > Duration::from_secs(1) {
            (*since, *n) = (now, 0);
        }
        *n += n_events;
        *n > MANY_EVENTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule() -> Schedule {
        Schedule::new(|| false)
    }

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

    /// Returns what is handed over at a time without changes.
    fn handed_over(schedule: &mut Schedule, locked: &str, now: Instant) -> BTreeSet<PathBuf> {
        let mut events = Events {
            locked: locked.split_terminator(' ').map(PathBuf::from).collect(),
            ..Events::default()
        };
        schedule.pass(&mut events, now)
    }

    #[test]
    fn a_file_is_handed_over_when_it_is_closed() {
        let (now, mut schedule) = (Instant::now(), schedule());
        for second in 0..4 {
            let now = now + Duration::from_secs(second);
            assert!(schedule.pass(&mut written("/a"), now).is_empty());
            assert_eq!(schedule.held().collect::<Vec<_>>(), [Path::new("/a")]);
        }
        assert!(schedule.pass(&mut closed("/a"), now).is_empty());
        let due = schedule.due().unwrap();
        assert_eq!(due, now + Duration::from_millis(200));
        assert_eq!(schedule.held().collect::<Vec<_>>(), [Path::new("/a")]);
        assert_eq!(handed_over(&mut schedule, "", due), paths("/a"));
        assert_eq!((schedule.held().count(), schedule.due()), (0, None));
    }

    #[test]
    fn a_file_that_is_written_all_the_time_is_handed_over_every_minute() {
        let (start, mut schedule) = (Instant::now(), schedule());
        let mut passed = Vec::new();
        for second in 0..220 {
            let now = start + Duration::from_secs(second);
            let now_due = schedule.pass(&mut written("/log"), now);
            let soon = now + Duration::from_millis(300);
            if !now_due.is_empty() || !handed_over(&mut schedule, "", soon).is_empty() {
                passed.push(second);
            }
        }
        assert_eq!(passed, [5, 16, 37, 78, 139, 200]);
    }

    #[test]
    fn a_barrier_releases_everything() {
        let (now, mut schedule) = (Instant::now(), schedule());
        schedule.pass(&mut written("/log"), now);
        schedule.pass(&mut closed("/a"), now);
        let mut locked = Events {
            locked: paths("/tree"),
            ..closed("/tree/b")
        };
        schedule.pass(&mut locked, now);
        let all = ["/a", "/log", "/tree/b"].map(PathBuf::from);
        assert_eq!(schedule.held().count(), 3);
        assert_eq!(schedule.release(now), all.into());
        assert_eq!((schedule.held().count(), schedule.due()), (0, None));
    }

    #[test]
    fn a_work_tree_waits_while_git_changes_it() {
        let (start, mut schedule) = (Instant::now(), schedule());
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut changes = Events {
            locked: paths("/tree"),
            changed: ["/tree/a", "/b"].map(PathBuf::from).into(),
            ..Events::default()
        };
        schedule.pass(&mut changes, start);
        assert_eq!(handed_over(&mut schedule, "/tree", at(1)), paths("/b"));
        assert_eq!(schedule.due(), Some(at(30)));
        assert!(handed_over(&mut schedule, "/tree", at(20)).is_empty());
        handed_over(&mut schedule, "", at(21));
        assert_eq!(handed_over(&mut schedule, "", at(22)), paths("/tree/a"));
        // A lock that git left counts for a while.
        let mut changes = Events {
            locked: paths("/tree"),
            ..closed("/tree/c")
        };
        schedule.pass(&mut changes, at(100));
        handed_over(&mut schedule, "/tree", at(130));
        assert_eq!(
            handed_over(&mut schedule, "/tree", at(131)),
            paths("/tree/c")
        );
        let mut changes = Events {
            locked: paths("/tree"),
            ..closed("/tree/c")
        };
        schedule.pass(&mut changes, at(200));
        assert_eq!(
            handed_over(&mut schedule, "/tree", at(201)),
            paths("/tree/c")
        );
    }

    #[test]
    fn many_events_are_a_storm() {
        let (start, mut schedule) = (Instant::now(), schedule());
        let mut many = Events {
            n_events: MANY_EVENTS + 1,
            ..closed("/a")
        };
        schedule.pass(&mut many, start);
        assert_eq!(schedule.due(), Some(start + Duration::from_secs(1)));
        let mut storm = schedule.due().unwrap();
        for _ in 0..40 {
            storm = schedule.due().unwrap();
            if !schedule
                .pass(&mut closed("/a"), storm - Duration::from_millis(1))
                .is_empty()
            {
                break;
            }
        }
        assert!(
            storm <= start + Duration::from_secs(31),
            "it is not waited for for ever"
        );
    }
}
