//! Compares what exists below the roots with the result of the walk: each file must be found, or left out for a
//! reason. The folders are listed here without the walk's code and without any rules.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ken_core::{FileKey, Root};
use ken_walk::{Skip, Visitor, WalkOptions};
use serde::Serialize;

use crate::{Options, Progress};

/// What exists below the roots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Below {
    /// Number of files that the walk finds.
    pub found: u64,
    /// Number of files, links and others that the walk leaves out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Files that the walk neither finds nor leaves out.
    #[serde(skip)]
    pub unexplained: Vec<PathBuf>,
    /// Number of folders that cannot be read.
    pub unreadable: u64,
}

/// Compares the results of the walk with the content of the folders.
pub(super) fn compare(roots: &[Root], options: &Options, progress: &Progress) -> Below {
    let walk = WalkOptions {
        threads: options.threads,
        excluded: options.excluded_paths(),
        global_ignore: options.global_ignore.clone(),
        order: options.order,
        ..WalkOptions::default()
    };
    // Any key will do: it only serves to identify the path again.
    let hasher = ken_core::KeyHasher::new(0, 0);
    let found: Mutex<Vec<FileKey>> = Mutex::default();
    let skips: Mutex<HashMap<PathBuf, &'static str>> = Mutex::default();
    let file = |path: &Path, _| lock(&found).push(hasher.key(path));
    let skipped = |path: &Path, skip: Skip| {
        lock(&skips).insert(path.to_path_buf(), name(&skip));
    };
    let visitor = Visitor {
        file: &file,
        skipped: Some(&skipped),
        recorder: None,
    };
    let began = SystemTime::now();
    let walked = ken_walk::walk(roots, &walk, &progress.walk, visitor);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    let mut listing = Listing {
        found: &|path| found.binary_search(&hasher.key(path)).is_ok(),
        skips: &skips.into_inner().unwrap_or_else(PoisonError::into_inner),
        below: Below {
            found: found.len() as u64,
            ..Below::default()
        },
    };
    let is_unavailable = |root: &&Root| {
        walked
            .unavailable
            .iter()
            .any(|(path, _)| *path == root.path)
    };
    for root in roots.iter().filter(|root| !is_unavailable(root)) {
        listing.take(root.path.clone());
    }
    // The walk may have missed files that were created after it began.
    listing.below.unexplained.retain(|path| {
        let changed = fs_err::symlink_metadata(path).map(|metadata| metadata.ctime());
        let began = began
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        changed.is_ok_and(|changed| changed < i64::try_from(began).unwrap_or(i64::MAX) - 1)
    });
    listing.below
}

/// Lists folders without any rules.
struct Listing<'l> {
    found: &'l dyn Fn(&Path) -> bool,
    skips: &'l HashMap<PathBuf, &'static str>,
    below: Below,
}

impl Listing<'_> {
    fn take(&mut self, root: PathBuf) {
        // Folders, with the reason why they are left out.
        let mut folders = vec![(root, None)];
        while let Some((folder, reason)) = folders.pop() {
            let reason = reason.or_else(|| self.skips.get(&folder).copied());
            // Anything outside the root may be large, or never respond.
            if reason.is_some_and(|reason| ELSEWHERE.contains(&reason)) {
                continue;
            }
            let Ok(entries) = fs_err::read_dir(&folder) else {
                self.below.unreadable += u64::from(folder.is_dir());
                continue;
            };
            for entry in entries.flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push((path, reason));
                } else {
                    self.judge(path, reason);
                }
            }
        }
    }

    /// Determines why something other than a folder is there and not found.
    fn judge(&mut self, path: PathBuf, reason: Option<&'static str>) {
        if (self.found)(&path) {
            return;
        }
        match reason.or_else(|| self.skips.get(&path).copied()) {
            Some(reason) => *self.below.left_out.entry(reason).or_default() += 1,
            // It may have gone meanwhile, or a walk that follows links reaches it by another path.
            None if fs_err::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) => {
                self.below.unexplained.push(path);
            }
            None => {}
        }
    }
}

/// Reasons for leaving out folders that are outside the root.
const ELSEWHERE: [&str; 3] = [FILE_SYSTEM, EXCLUDED, OTHER_ROOT];
const FILE_SYSTEM: &str = "on another file system";
const EXCLUDED: &str = "excluded";
const OTHER_ROOT: &str = "a root of its own";

/// Returns the name of a reason, for people.
fn name(skip: &Skip) -> &'static str {
    match skip {
        Skip::Hidden => "hidden",
        Skip::Ignored { .. } => "ignored",
        Skip::Marked => "in a folder with .noindex",
        Skip::Held => "in a folder with .noupdate",
        Skip::Undelivered => "in the tmp folder of a Maildir",
        Skip::Loose => "beside the folders of a Maildir",
        Skip::Special => "neither file nor folder",
        Skip::Link => "link",
        Skip::Loop => "link to a folder above",
        Skip::FileSystem => FILE_SYSTEM,
        Skip::Excluded => EXCLUDED,
        Skip::Root => OTHER_ROOT,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_walk_missed_is_unexplained() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["0.txt", "1.txt", "2.txt"] {
            fs_err::write(path(name), "").unwrap();
        }
        let skips = HashMap::from([(path("2.txt"), "ignored")]);
        let mut listing = Listing {
            found: &|path| path.ends_with("0.txt"),
            skips: &skips,
            below: Below::default(),
        };
        listing.take(folder.path().to_path_buf());
        assert_eq!(listing.below.unexplained, [path("1.txt")]);
        assert_eq!(listing.below.left_out, BTreeMap::from([("ignored", 1)]));
    }
}
