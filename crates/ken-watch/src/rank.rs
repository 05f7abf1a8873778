//! Which folders are watched if not all can be: folders of mail first, then by their latest change, shallow ones, and
//! work trees.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fs_err as fs;
use ken_core::Root;
use ken_walk::{Gate, OnFolders};

const DAY: u64 = 24 * 60 * 60;

/// How much it is worth to watch a folder: the larger, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// A root, or a folder to which mail is delivered.
    is_first: bool,
    /// Each one more means that its latest change is half as old.
    recency: Reverse<u32>,
    depth: Reverse<usize>,
    is_work_tree: bool,
}

impl Rank {
    pub(crate) fn of(folder: &Path, roots: &[Root]) -> Self {
        let changed = fs::symlink_metadata(folder).map_or(0, |metadata| metadata.mtime());
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs());
        let days = now.saturating_sub(u64::try_from(changed).unwrap_or_default()) / DAY;
        Self {
            is_first: takes_mail(folder) || roots.iter().any(|root| root.path == folder),
            recency: Reverse(days.checked_ilog2().map_or(0, |age| age + 1)),
            depth: Reverse(folder.components().count()),
            is_work_tree: fs::symlink_metadata(folder.join(".git")).is_ok(),
        }
    }
}

/// Returns whether a folder is `new` or `cur` of a Maildir.
fn takes_mail(folder: &Path) -> bool {
    let other = match folder.file_name().and_then(|name| name.to_str()) {
        Some("new") => "cur",
        Some("cur") => "new",
        _ => return false,
    };
    folder.with_file_name(other).is_dir()
}

/// Finds the folders of a walk that are watched.
pub(crate) struct Ranks<'r> {
    roots: &'r [Root],
    budget: usize,
    /// The best, as many as can be watched.
    best: Mutex<BinaryHeap<Reverse<Rank>>>,
}

impl<'r> Ranks<'r> {
    pub(crate) fn new(roots: &'r [Root], budget: usize) -> Self {
        Self {
            roots,
            budget,
            best: Mutex::default(),
        }
    }

    /// Returns which folders are watched; none if there were no folders.
    pub(crate) fn choice(self) -> Option<Choice> {
        let best = self.best.into_inner();
        let best = best.unwrap_or_else(PoisonError::into_inner);
        let Reverse(least) = *best.peek()?;
        let n_least = best.iter().filter(|rank| rank.0 == least).count();
        let roots = self.roots.to_vec();
        Some(Choice {
            roots,
            least,
            n_least,
        })
    }
}

impl OnFolders for Ranks<'_> {
    fn entering(&self, folder: &Path, is_remote: bool) {
        if is_remote {
            return;
        }
        let rank = Rank::of(folder, self.roots);
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        best.push(Reverse(rank));
        if best.len() > self.budget {
            best.pop();
        }
    }

    fn entered(&self, _folder: &Path, _gate: Gate) {}
}

/// Which folders are watched.
pub(crate) struct Choice {
    roots: Vec<Root>,
    /// The least rank, and the number of folders of this rank that are watched.
    least: Rank,
    n_least: usize,
}

impl Choice {
    /// Returns whether a folder is better than the least that are watched.
    pub(crate) fn prefers(&self, folder: &Path) -> bool {
        Rank::of(folder, &self.roots) > self.least
    }

    /// Returns whether a folder is watched, and counts it.
    pub(crate) fn takes(&mut self, folder: &Path) -> bool {
        let rank = Rank::of(folder, &self.roots);
        let is_one_of_least = rank == self.least && self.n_least > 0;
        self.n_least -= usize::from(is_one_of_least);
        rank > self.least || is_one_of_least
    }
}
