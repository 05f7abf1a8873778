//! Work trees that git changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::gather::{Gather, STORM_LONGEST};

/// Work trees that git changes, with their changed paths.
#[derive(Debug, Default)]
pub(crate) struct Locks(BTreeMap<PathBuf, Lock>);

/// The lock of a work tree. It counts for a while only, since git may have left it.
#[derive(Debug)]
struct Lock {
    until: Instant,
    changed: Gather,
}

impl Locks {
    /// Takes the work trees that are locked now, and returns the changed paths of those that are not any more.
    pub(crate) fn note(&mut self, locked: &BTreeSet<PathBuf>, now: Instant) -> BTreeSet<PathBuf> {
        let mut freed = BTreeSet::new();
        self.0.retain(|tree, lock| {
            let is_locked = locked.contains(tree);
            if !is_locked || lock.until <= now {
                freed.append(&mut lock.changed.take());
            }
            is_locked
        });
        for tree in locked {
            if !self.0.contains_key(tree) {
                let (until, changed) = (now + STORM_LONGEST, Gather::default());
                self.0.insert(tree.clone(), Lock { until, changed });
            }
        }
        freed
    }

    /// Holds a path until its work tree is not locked; returns false if it is not locked.
    pub(crate) fn hold(&mut self, path: &Path, now: Instant) -> bool {
        let mut locks = self.0.iter_mut();
        let lock = locks.find(|(tree, lock)| lock.until > now && path.starts_with(tree));
        lock.map(|(_, lock)| lock.changed.add(path, now)).is_some()
    }

    /// Returns all paths, and holds them no longer.
    pub(crate) fn release(&mut self) -> BTreeSet<PathBuf> {
        let held = self.0.values_mut();
        held.flat_map(|lock| lock.changed.take()).collect()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.values().flat_map(|lock| lock.changed.paths())
    }

    /// Returns when the first lock no longer counts.
    pub(crate) fn due(&self) -> Option<Instant> {
        let holding = self.0.values().filter(|lock| !lock.changed.is_empty());
        holding.map(|lock| lock.until).min()
    }
}
