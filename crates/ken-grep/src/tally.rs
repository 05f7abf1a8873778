//! Counts of a search: matches, files, and files that an index ruled out.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_printer::Stats;

/// The outcome of a search.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Whether something was found: a match, or a file without one if those are wanted.
    pub matched: bool,
    /// Number of files that the walk handed on.
    pub files: u64,
    /// Number of these files that an index ruled out.
    pub excluded: u64,
    /// Statistics, if they are wanted.
    pub stats: Option<Stats>,
}

/// The counts of all threads together.
#[derive(Default)]
pub(crate) struct Tally {
    matched: AtomicBool,
    files: AtomicU64,
    excluded: AtomicU64,
    stats: Option<Mutex<Stats>>,
}

impl Tally {
    pub(crate) fn new(stats: bool) -> Self {
        Self {
            stats: stats.then(Mutex::default),
            ..Self::default()
        }
    }

    /// Counts files that the walk handed on, and the number that an index ruled out.
    pub(crate) fn count(&self, files: u64, excluded: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.excluded.fetch_add(excluded, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, matched: bool, stats: Option<&Stats>) {
        if matched {
            self.matched.store(true, Ordering::Relaxed);
        }
        if let (Some(sum), Some(stats)) = (&self.stats, stats) {
            *sum.lock().unwrap_or_else(PoisonError::into_inner) += stats;
        }
    }

    pub(crate) fn has_match(&self) -> bool {
        self.matched.load(Ordering::Relaxed)
    }

    pub(crate) fn summary(self) -> Summary {
        Summary {
            matched: self.matched.into_inner(),
            files: self.files.into_inner(),
            excluded: self.excluded.into_inner(),
            stats: self
                .stats
                .map(|stats| stats.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
