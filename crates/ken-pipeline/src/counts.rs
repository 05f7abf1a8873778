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
pub(crate) struct Counts([AtomicU64; 4]);

impl Counts {
    pub(crate) fn add(&self, made: Made) {
        self.0[made as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The run was stopped before the change was whole.
    pub(crate) fn take_back(&self, made: Made) {
        self.0[made as usize].fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn of(&self, made: Made) -> u64 {
        self.0[made as usize].load(Ordering::Relaxed)
    }
}
