//! The files that a piece of work adds.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ken_core::Change;

/// Number of files that are named.
const MAX_ADDED: usize = 10_000;

/// Receives the changes that a run finds.
pub(super) type Notify<'a> = dyn Fn(&Change) + Sync + 'a;

/// Collects the files that a run adds, if that is wanted.
pub(super) struct Added(Option<Mutex<Vec<PathBuf>>>);

impl Added {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self(is_wanted.then(Mutex::default))
    }

    pub(super) fn note(&self, change: &Change) {
        if let (Some(added), Change::Added { path, .. }) = (&self.0, change) {
            let mut added = added.lock().unwrap_or_else(PoisonError::into_inner);
            if added.len() < MAX_ADDED {
                added.push(path.clone());
            }
        }
    }

    pub(super) fn take(self) -> Vec<PathBuf> {
        let added = self.0.map(Mutex::into_inner);
        added.map_or_else(Vec::new, |added| {
            added.unwrap_or_else(PoisonError::into_inner)
        })
    }
}
