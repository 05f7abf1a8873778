//! Changes that were handed to the updater and are not in the index yet.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ken_pipeline::updater::Ticket;

struct Submitted {
    ticket: Ticket,
    at: Instant,
    paths: BTreeSet<PathBuf>,
}

/// Submissions that are not done, oldest first.
#[derive(Default)]
pub(super) struct Undone(VecDeque<Submitted>);

impl Undone {
    pub(super) fn add(&mut self, ticket: Ticket, at: Instant, paths: BTreeSet<PathBuf>) {
        self.0.push_back(Submitted { ticket, at, paths });
    }

    /// Forgets what is in the index: everything up to a ticket.
    pub(super) fn settle(&mut self, done: Ticket) {
        while self
            .0
            .pop_front_if(|oldest| oldest.ticket <= done)
            .is_some()
        {}
    }

    /// Returns since when something is not in the index.
    pub(super) fn since(&self) -> Option<Instant> {
        self.0.front().map(|oldest| oldest.at)
    }

    /// Returns the last ticket.
    pub(super) fn last(&self) -> Option<Ticket> {
        self.0.back().map(|latest| latest.ticket)
    }

    /// Returns the paths, perhaps more than once.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let submitted = self.0.iter();
        submitted.flat_map(|submitted| submitted.paths.iter().map(PathBuf::as_path))
    }
}
