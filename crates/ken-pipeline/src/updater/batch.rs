//! Batches: changes that are processed together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// If a batch has more paths, they are replaced by their folders.
const MAX_PATHS: usize = 100_000;

/// A path that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChange {
    /// A file or folder was created, changed or removed. A folder stands for everything below it, and so does a file
    /// of rules or a marker in it, such as `.gitignore`.
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
    /// The changed files have this many bytes together. One file alone never counts: it may still grow.
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
    /// Each path with its bytes, if it is a file that may be read.
    paths: BTreeMap<PathBuf, u64>,
    /// The sum of these.
    n_bytes: u64,
    /// Whether the bytes count.
    measures: bool,
    first: Instant,
    latest: Instant,
}

impl Batch {
    pub(super) fn new(now: Instant, measures: bool) -> Self {
        Self {
            measures,
            paths: BTreeMap::new(),
            n_bytes: 0,
            first: now,
            latest: now,
        }
    }

    pub(super) fn take(&mut self, change: PathChange) {
        match change {
            PathChange::Touched(path) if !self.measures => self.insert(path, 0),
            PathChange::Touched(path) => {
                let metadata = fs_err::symlink_metadata(&path);
                let file = metadata.ok().filter(std::fs::Metadata::is_file);
                self.insert(path, file.map_or(0, |file| file.len()));
            }
            // A renamed file usually keeps its text, which is not read again.
            PathChange::Renamed { from, to } => {
                [from, to].into_iter().for_each(|path| self.insert(path, 0))
            }
        }
        self.bound();
    }

    /// Adds the changes of a later batch.
    pub(super) fn join(&mut self, later: Self) {
        for (path, n_bytes) in later.paths {
            self.insert(path, n_bytes);
        }
        self.latest = later.latest;
        self.bound();
    }

    /// Adds a path, whose bytes count once.
    fn insert(&mut self, path: PathBuf, n_bytes: u64) {
        let known = self.paths.entry(path).or_default();
        self.n_bytes += n_bytes.saturating_sub(*known);
        *known = n_bytes.max(*known);
    }

    /// Replaces paths by their folders, which stand for everything below them, while there are too
    /// many paths.
    fn bound(&mut self) {
        while self.paths.len() > MAX_PATHS {
            for (path, n_bytes) in std::mem::take(&mut self.paths) {
                let folder = path.parent().map(Path::to_path_buf).unwrap_or(path);
                *self.paths.entry(folder).or_default() += n_bytes;
            }
        }
    }

    /// Returns the time of the first change.
    pub(super) fn first(&self) -> Instant {
        self.first
    }

    /// Returns the time at which the batch begins.
    pub(super) fn is_due_at(&self, batching: &Batching) -> Instant {
        if self.n_bytes >= batching.max_bytes && self.paths.len() > 1 {
            return self.first;
        }
        (self.latest + batching.quiet).min(self.first + batching.longest)
    }

    /// Returns the paths, without those below another one.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = Vec::new();
        // In this order, a path precedes those below it.
        for path in self.paths.keys() {
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
        let mut batch = Batch::new(Instant::now(), true);
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
        let mut batch = Batch::new(Instant::now(), true);
        (0..=MAX_PATHS).for_each(|n| batch.take(touched(format!("/{}/{n}", n % 3))));
        assert_eq!(batch.paths(), ["/0", "/1", "/2"].map(PathBuf::from));
    }

    #[test]
    fn a_batch_waits_for_quiet_but_not_for_ever() {
        let start = Instant::now();
        let batching = Batching::default();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut batch = Batch::new(start, true);
        for (change, due) in [
            (0, 200),
            (150, 350),
            (1_000, 1_200),
            (1_900, 2_000),
            (1_990, 2_000),
        ] {
            batch.join(Batch::new(at(change), true));
            assert_eq!(batch.is_due_at(&batching), at(due), "{change}");
        }
        assert!(Batch::new(start, true).is_due_at(&Batching::AT_ONCE) <= start);
    }

    #[test]
    fn the_bytes_of_a_file_count_once_and_one_that_grows_waits_for_quiet() {
        let (folder, start) = (tempfile::tempdir().unwrap(), Instant::now());
        let batching = Batching::default();
        let large = folder.path().join("large");
        let file = fs_err::File::create(&large).unwrap();
        let mut batch = Batch::new(start, true);
        for mib in [40, 50] {
            file.set_len(mib << 20).unwrap();
            let mut news = Batch::new(start, true);
            news.take(touched(&large));
            batch.join(news);
        }
        batch.take(touched("/small"));
        let after_quiet = start + batching.quiet;
        assert_eq!(batch.is_due_at(&batching), after_quiet, "50 MiB");
        file.set_len(65 << 20).unwrap();
        let mut grown = Batch::new(start, true);
        grown.take(touched(&large));
        assert_eq!(grown.is_due_at(&batching), after_quiet, "one file");
        batch.join(grown);
        assert_eq!(batch.is_due_at(&batching), start, "65 MiB");
    }
}
