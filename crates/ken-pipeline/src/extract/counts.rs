//! Counts the changes of a run by kind.

use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::Change;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Added,
    Changed,
    Moved,
    Gone,
}

impl Made {
    pub(crate) fn by(change: &Change) -> Self {
        match change {
            Change::Added { .. } => Self::Added,
            Change::Changed { .. } | Change::Access { .. } => Self::Changed,
            Change::Moved { .. } => Self::Moved,
            Change::Gone { .. } => Self::Gone,
        }
    }
}

/// Changes that are done or under way; those still waiting when a run is stopped are not counted.
#[derive(Default)]
pub(crate) struct Counts {
    made: [AtomicU64; 4],
    kept: AtomicU64,
}

impl Counts {
    pub(crate) fn add(&self, made: Made) {
        self.made[made as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts files that other machines read.
    pub(crate) fn add_many(&self, added: u64, changed: u64) {
        self.made[Made::Added as usize].fetch_add(added, Ordering::Relaxed);
        self.made[Made::Changed as usize].fetch_add(changed, Ordering::Relaxed);
    }

    /// Uncounts a change that was incomplete when the run was stopped.
    pub(crate) fn take_back(&self, made: Made) {
        self.made[made as usize].fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a file as kept, because it became unavailable together with its root.
    pub(crate) fn keep(&self, made: Made) {
        self.take_back(made);
        self.kept.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }

    pub(crate) fn of(&self, made: Made) -> u64 {
        self.made[made as usize].load(Ordering::Relaxed)
    }
}
