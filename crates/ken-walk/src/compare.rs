//! Finds what changed: compares the files of a walk with the catalogue.
//!
//! Changes are passed on while the walk runs, so that extraction overlaps with it. Only added files
//! with the identity of a known file wait for the end of the walk: they are moves if the known file
//! turns out to be gone, and hard links otherwise.
//!
//! A file that was not seen is gone only if it could have been seen: its root was there, and no
//! folder above it was unreadable.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ken_core::{Change, FileKey, FileRow, KeyHasher, Root, Stamp};

use crate::Catalogue;
use crate::listings::Recorder;
use crate::options::{Progress, Visitor, WalkOptions, WalkSummary};
use crate::walk::{walk, walk_towards};

/// Returns whether other people may read a file than the index knows.
pub type IsReclassified<'a> = dyn Fn(&Path, &FileRow) -> bool + Sync + 'a;

/// What the files of a walk are compared with, and the receivers of the differences.
pub struct Comparison<'a> {
    /// Makes keys and tokens as in the index.
    pub hasher: KeyHasher,
    /// What the index knows; a catalogue serves one walk, which sets its `seen` bits.
    pub catalogue: &'a Catalogue,
    /// Whether every file counts as changed.
    pub full: bool,
    /// Returns whether a file counts as changed although its stamp is the same.
    pub is_stale: &'a (dyn Fn(&Path, &FileRow) -> bool + Sync),
    /// Returns whether other people may read a file than the index knows; absent if it does not keep who may.
    pub is_reclassified: Option<&'a IsReclassified<'a>>,
    /// Returns the paths of files that were not seen, in the given order.
    pub path_of: &'a (dyn Fn(&[FileKey]) -> Vec<Option<PathBuf>> + Sync),
    /// Called with each change, from all threads of the walk.
    pub emit: &'a (dyn Fn(Change) + Sync),
    /// Records what each folder contains, if wanted.
    pub recorder: Option<&'a Recorder>,
}

/// The outcome of a walk and its comparison.
#[derive(Debug, Default)]
pub struct Summary {
    /// The walk.
    pub walk: WalkSummary,
    /// Number of unchanged files.
    pub unchanged: u64,
    /// Number of files that were not seen but are kept in the index, because their root or folder
    /// could not be read.
    pub kept: u64,
}

/// The files that were not seen, by what becomes of them.
#[derive(Default)]
struct Unseen {
    /// Sorted by identity.
    gone: Vec<GoneRow>,
    kept: u64,
    /// Number of those in folders that did not change.
    unchanged: u64,
}

/// Maximum number of paths that are looked up at once.
const PATHS_AT_ONCE: usize = 1 << 16;

/// A known file that is gone from its path.
struct GoneRow {
    identity: u64,
    key: FileKey,
    is_moved: bool,
}

/// An added file that may have moved.
struct Held {
    path: PathBuf,
    stamp: Stamp,
    identity: u64,
}

/// Walks the roots and passes on the changes.
///
/// If the walk is cancelled, no file is reported as gone or moved.
pub fn changes(
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    comparison: &Comparison<'_>,
) -> Summary {
    compare(roots, comparison, |visitor| {
        walk(roots, options, progress, visitor)
    })
}

/// Examines only some paths, with everything below them, and passes on the changes. The catalogue
/// must contain these files and no others.
///
/// Only the folders that lead to the paths are read.
pub fn changes_of(
    paths: &[PathBuf],
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    comparison: &Comparison<'_>,
) -> Summary {
    compare(roots, comparison, |visitor| {
        walk_towards(paths, true, roots, options, progress, visitor)
    })
}

fn compare(
    roots: &[Root],
    comparison: &Comparison<'_>,
    walk: impl FnOnce(Visitor<'_>) -> WalkSummary,
) -> Summary {
    let unchanged = AtomicU64::new(0);
    let held = Mutex::new(Vec::new());
    let visit = |path: &Path, stamp: Stamp| {
        if let Some(waiting) = comparison.file(path, stamp, &unchanged) {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            held.push(waiting);
        }
    };
    let visitor = Visitor {
        file: &visit,
        skipped: None,
        recorder: comparison.recorder,
    };
    let walk = walk(visitor);
    let mut unchanged = unchanged.into_inner();
    let mut kept = 0;
    if !walk.cancelled {
        let held = held.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unseen = comparison.finish(roots, &walk, held);
        kept = unseen.kept;
        unchanged += unseen.unchanged;
    }
    Summary {
        unchanged,
        kept,
        walk,
    }
}

impl Comparison<'_> {
    /// Compares one file; returns it if it has to wait for the end of the walk.
    fn file(&self, path: &Path, stamp: Stamp, unchanged: &AtomicU64) -> Option<Held> {
        let known = self.catalogue.see(self.hasher.key(path));
        if let Some(row) = known {
            let is_known = row.is_of(&stamp, &self.hasher) && !self.is_another(row, &stamp);
            let may_have_content = is_known || self.may_have_content(row, &stamp);
            let is_kept = may_have_content && !(self.is_stale)(path, row) && !self.full;
            let is_reclassified = || self.is_reclassified.is_some_and(|is| is(path, row));
            if is_kept && is_reclassified() {
                let path = path.to_path_buf();
                (self.emit)(Change::Access { path, stamp });
            } else if is_kept && is_known {
                unchanged.fetch_add(1, Ordering::Relaxed);
            } else {
                let path = path.to_path_buf();
                (self.emit)(Change::Changed { path, stamp });
            }
            return None;
        }
        let identity = stamp.identity(&self.hasher);
        let path = path.to_path_buf();
        if !self.full && self.catalogue.has_identity(identity) {
            return Some(Held {
                path,
                stamp,
                identity,
            });
        }
        (self.emit)(Change::Added { path, stamp });
        None
    }

    /// Returns whether a file may have the content that the index knows, and another owner, mode or list: these move the
    /// `ctime`, and leave the size, the time of modification and the inode. So may another file with the inode of one that
    /// is gone: who takes in the change compares the content.
    fn may_have_content(&self, row: &FileRow, stamp: &Stamp) -> bool {
        self.is_reclassified.is_some()
            && row.token.is_settled()
            && !stamp.is_racy()
            && row.identity == stamp.identity(&self.hasher)
    }

    /// Returns whether a file has the inode that another one had. Where inodes last, the token tells; elsewhere
    /// a file that was given a new inode is still itself, unless the inode is known from another path.
    fn is_another(&self, row: &FileRow, stamp: &Stamp) -> bool {
        if stamp.volume.is_some() {
            return false;
        }
        let identity = stamp.identity(&self.hasher);
        identity != row.identity && self.catalogue.has_identity(identity)
    }

    /// Reports what moved and what is gone; returns the fate of the other files that were not seen.
    fn finish(&self, roots: &[Root], walk: &WalkSummary, mut held: Vec<Held>) -> Unseen {
        let mut unseen = self.unseen(roots, walk);
        let mut gone = std::mem::take(&mut unseen.gone);
        held.sort_unstable_by(|a, b| (a.identity, &a.path).cmp(&(b.identity, &b.path)));
        // Both are sorted by identity, so one pass joins them.
        let mut sources = gone.iter_mut().peekable();
        for Held {
            path,
            stamp,
            identity,
        } in held
        {
            while sources.next_if(|row| row.identity < identity).is_some() {}
            match sources.next_if(|row| row.identity == identity) {
                Some(row) => {
                    row.is_moved = true;
                    let from = row.key;
                    (self.emit)(Change::Moved { from, path, stamp });
                }
                None => (self.emit)(Change::Added { path, stamp }),
            }
        }
        for row in gone.into_iter().filter(|row| !row.is_moved) {
            (self.emit)(Change::Gone { key: row.key });
        }
        unseen
    }

    fn unseen(&self, roots: &[Root], walk: &WalkSummary) -> Unseen {
        let mut unseen = Unseen::default();
        let mut rows = self.catalogue.unseen().peekable();
        if changed_nowhere(walk) {
            unseen.unchanged = rows.count() as u64;
            return unseen;
        }
        while rows.peek().is_some() {
            let rows: Vec<&FileRow> = rows.by_ref().take(PATHS_AT_ONCE).collect();
            let keys: Vec<FileKey> = rows.iter().map(|row| row.key).collect();
            for (row, path) in rows.iter().zip((self.path_of)(&keys)) {
                match path {
                    Some(path) if is_unlooked(&path, walk) => unseen.unchanged += 1,
                    Some(path) if is_gone(&path, roots, walk) => {
                        unseen.gone.push(GoneRow::new(row));
                    }
                    _ => unseen.kept += 1,
                }
            }
        }
        let gone = &mut unseen.gone;
        gone.sort_unstable_by_key(|row| (row.identity, row.key));
        unseen
    }
}

impl GoneRow {
    fn new(row: &FileRow) -> Self {
        Self {
            // A file that was not indexed completely has nothing to move.
            identity: if row.token.is_finished() {
                row.identity
            } else {
                0
            },
            key: row.key,
            is_moved: false,
        }
    }
}

/// Returns whether the walk found no changed folder, so that every file is still there.
fn changed_nowhere(walk: &WalkSummary) -> bool {
    let is_lazy = !walk.unlooked.is_empty() || !walk.unlisted.is_empty();
    let saw_all = walk.unavailable.is_empty() && walk.incomplete.is_empty() && walk.held.is_empty();
    is_lazy && walk.n_looked == 0 && saw_all
}

/// Returns whether a file is in a folder that did not change, or stays unchanged.
fn is_unlooked(path: &Path, walk: &WalkSummary) -> bool {
    let are_none = walk.held.is_empty() && walk.unlisted.is_empty();
    let mut folders = path.ancestors().skip(1);
    path.parent()
        .is_some_and(|folder| walk.unlooked.contains(folder))
        || !are_none
            && folders.any(|folder| walk.held.contains(folder) || walk.unlisted.contains(folder))
}

/// Returns whether a file that was not seen would have been seen if it still existed.
fn is_gone(path: &Path, roots: &[Root], walk: &WalkSummary) -> bool {
    // A file outside all roots is gone, whether it still exists or not.
    let is_walked = crate::covering(roots, path).is_none_or(|root| {
        let mut unavailable = walk.unavailable.iter();
        !unavailable.any(|(path, _)| *path == root.path)
    });
    is_walked
        && !path
            .ancestors()
            .any(|folder| walk.incomplete.contains(folder))
}
