//! Batches: changes that are processed together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// If a batch has more paths, they are replaced by their folders.
const MAX_PATHS: usize = 100_000;

/// A path that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChange {
    /// A file or folder was created, changed or removed; a folder stands for everything below it.
    Touched(PathBuf),
    /// A file or folder has a new path.
    Renamed {
        /// The old path.
        from: PathBuf,
        /// The new path.
        to: PathBuf,
    },
}

/// When a batch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// No change came for this time.
    pub quiet: Duration,
    /// The first change is this old.
    pub longest: Duration,
    /// The changed files have this many bytes together.
    pub max_bytes: u64,
}

impl Default for Batching {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(200),
            longest: Duration::from_secs(2),
            max_bytes: 64 << 20,
        }
    }
}

impl Batching {
    /// Each batch begins as soon as the previous one is done.
    pub const AT_ONCE: Self = Self {
        quiet: Duration::ZERO,
        longest: Duration::ZERO,
        max_bytes: 0,
    };
}

/// A batch of changes, with each path once.
pub(super) struct Batch {
    paths: BTreeSet<PathBuf>,
    n_bytes: u64,
    first: Instant,
    latest: Instant,
}

impl Batch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            paths: BTreeSet::new(),
            n_bytes: 0,
            first: now,
            latest: now,
        }
    }

    pub(super) fn take(&mut self, change: PathChange) {
        match change {
            PathChange::Touched(path) => {
                let metadata = fs_err::symlink_metadata(&path);
                let file = metadata.ok().filter(std::fs::Metadata::is_file);
                if self.paths.insert(path) {
                    self.n_bytes += file.map_or(0, |file| file.len());
                }
            }
            // A renamed file is not read.
            PathChange::Renamed { from, to } => self.paths.extend([from, to]),
        }
        self.bound();
    }

    /// Adds the changes of a later batch.
    pub(super) fn join(&mut self, later: Self) {
        self.paths.extend(later.paths);
        self.n_bytes += later.n_bytes;
        self.latest = later.latest;
        self.bound();
    }

    /// Replaces paths by their folders, which stand for everything below them, while there are too
    /// many paths.
    fn bound(&mut self) {
        while self.paths.len() > MAX_PATHS {
            let paths = std::mem::take(&mut self.paths);
            let folder = |path: PathBuf| path.parent().map(Path::to_path_buf).unwrap_or(path);
            self.paths = paths.into_iter().map(folder).collect();
        }
    }

    /// Returns the time of the first change.
    pub(super) fn first(&self) -> Instant {
        self.first
    }

    /// Returns the time at which the batch begins.
    pub(super) fn is_due_at(&self, batching: &Batching) -> Instant {
        if self.n_bytes >= batching.max_bytes {
            return self.first;
        }
        (self.latest + batching.quiet).min(self.first + batching.longest)
    }

    /// Returns the paths, without those below another one.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        // In this order, a path precedes those below it.
        for path in &self.paths {
            if !paths.last().is_some_and(|above| path.starts_with(above)) {
                paths.push(path.clone());
            }
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(path: impl Into<PathBuf>) -> PathChange {
        PathChange::Touched(path.into())
    }

    #[test]
    fn each_path_is_taken_once_and_a_folder_for_all_below_it() {
        let mut batch = Batch::new(Instant::now());
        for path in ["/a/b", "/a/b/c", "/a/b c", "/a/b", "/a/b/c/d", "/x"] {
            batch.take(touched(path));
        }
        let (from, to) = ("/y/1".into(), "/x/1".into());
        batch.take(PathChange::Renamed { from, to });
        let expected = ["/a/b", "/a/b c", "/x", "/y/1"];
        assert_eq!(batch.paths(), expected.map(PathBuf::from));
    }

    #[test]
    fn too_many_paths_become_their_folders() {
        let mut batch = Batch::new(Instant::now());
        (0..=MAX_PATHS).for_each(|n| batch.take(touched(format!("/{}/{n}", n % 3))));
        assert_eq!(batch.paths(), ["/0", "/1", "/2"].map(PathBuf::from));
    }

    #[test]
    fn a_batch_waits_for_quiet_but_not_for_ever() {
        let start = Instant::now();
        let batching = Batching::default();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut batch = Batch::new(start);
        for (change, due) in [
            (0, 200),
            (150, 350),
            (1_000, 1_200),
            (1_900, 2_000),
            (1_990, 2_000),
        ] {
            batch.join(Batch::new(at(change)));
            assert_eq!(batch.is_due_at(&batching), at(due), "{change}");
        }
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large");
        fs_err::File::create(&large)
            .unwrap()
            .set_len(65 << 20)
            .unwrap();
        batch.take(touched(large));
        assert_eq!(batch.is_due_at(&batching), start);
        assert!(Batch::new(start).is_due_at(&Batching::AT_ONCE) <= start);
    }
}
