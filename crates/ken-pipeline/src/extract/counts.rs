//! How many changes a run made, by what they are.

use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::Change;

/// What a change is.
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
            Change::Changed { .. } => Self::Changed,
            Change::Moved { .. } => Self::Moved,
            Change::Gone { .. } => Self::Gone,
        }
    }
}

/// Changes that were made or are under way; what waits when a run is stopped is none.
#[derive(Default)]
pub(crate) struct Counts {
    made: [AtomicU64; 4],
    kept: AtomicU64,
}

impl Counts {
    pub(crate) fn add(&self, made: Made) {
        self.made[made as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The run was stopped before the change was whole.
    pub(crate) fn take_back(&self, made: Made) {
        self.made[made as usize].fetch_sub(1, Ordering::Relaxed);
    }

    /// The file went away with the root above it: what the index knows of it stays.
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
