//! Changes that were handed to the updater and are not in the index yet.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ken_pipeline::updater::Ticket;

/// If there are more paths, their folders stand for them.
const MAX_PATHS: usize = 20_000;

struct Submitted {
    ticket: Ticket,
    at: Instant,
    paths: BTreeSet<PathBuf>,
}

/// Submissions that are not done, oldest first.
#[derive(Default)]
pub(super) struct Undone {
    submitted: VecDeque<Submitted>,
    /// Number of paths of all of them.
    n_paths: usize,
}

impl Undone {
    pub(super) fn add(&mut self, ticket: Ticket, at: Instant, paths: BTreeSet<PathBuf>) {
        self.n_paths += paths.len();
        self.submitted.push_back(Submitted { ticket, at, paths });
        if self.n_paths > MAX_PATHS {
            self.fold();
        }
    }

    /// Joins all submissions in one, of few paths.
    fn fold(&mut self) {
        let (Some(at), Some(ticket)) = (self.since(), self.last()) else {
            return;
        };
        let all = std::mem::take(&mut self.submitted);
        let mut paths = tops(all.into_iter().flat_map(|of| of.paths).collect());
        while paths.len() > MAX_PATHS / 2 {
            let folders = paths.iter().map(|path| path.parent().unwrap_or(path));
            paths = tops(folders.map(Path::to_path_buf).collect());
        }
        self.n_paths = paths.len();
        self.submitted.push_back(Submitted { ticket, at, paths });
    }

    /// Forgets what is in the index: everything up to a ticket.
    pub(super) fn settle(&mut self, done: Ticket) {
        let is_done = |oldest: &mut Submitted| oldest.ticket <= done;
        while let Some(oldest) = self.submitted.pop_front_if(is_done) {
            self.n_paths -= oldest.paths.len();
        }
    }

    /// Returns since when something is not in the index.
    pub(super) fn since(&self) -> Option<Instant> {
        self.submitted.front().map(|oldest| oldest.at)
    }

    /// Returns the last ticket.
    pub(super) fn last(&self) -> Option<Ticket> {
        self.submitted.back().map(|latest| latest.ticket)
    }

    /// Returns the paths, perhaps more than once.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let submitted = self.submitted.iter();
        submitted.flat_map(|submitted| submitted.paths.iter().map(PathBuf::as_path))
    }
}

/// Returns the paths without those below another one, which stands for them.
fn tops(paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let mut tops: Vec<PathBuf> = Vec::new();
    for path in paths {
        // In this order, a path precedes those below it.
        if !tops.last().is_some_and(|top| path.starts_with(top)) {
            tops.push(path);
        }
    }
    tops.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ken_pipeline::updater::Ticket;

    #[test]
    fn many_paths_become_their_folders_and_are_kept_until_the_last_is_done() {
        let (mut undone, at) = (Undone::default(), Instant::now());
        for n in 0..3 * MAX_PATHS {
            let path = PathBuf::from(format!("/a/{}/{n}", n % 3));
            undone.add(Ticket::default(), at, BTreeSet::from([path]));
        }
        assert!(undone.paths().count() <= MAX_PATHS);
        let is_covered = |path: &Path| undone.paths().any(|above| path.starts_with(above));
        assert!(is_covered(Path::new("/a/1/1")) && !is_covered(Path::new("/b")));
        assert_eq!(undone.since(), Some(at));
        undone.settle(Ticket::default());
        assert_eq!(undone.since(), None);
    }
}
