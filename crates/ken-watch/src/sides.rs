//! What is watched besides the folders of walks: files elsewhere that decide what the walks take.
//!
//! These are ignore files in the folders above a root, those of git (the global one, and `info/exclude` of a
//! repository), and the names that lead to a root. The lock of git's index says that a work tree is changing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fs_err as fs;
use ken_core::Root;
use ken_walk::{Mounts, RULE_NAMES, WalkOptions, git_folders};
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use rustix::io::Errno;

use crate::mask::{CAME, FILE_MASK, SIDE_MASK, WENT};

/// Maximum number of these folders.
const MAX_FOLDERS: usize = 10_000;

/// What an entry means that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It decides what a walk takes of this folder.
    Rules(PathBuf),
    /// While it exists, git changes this work tree.
    Lock(PathBuf),
    /// It is a root or leads to one.
    Way,
    /// It is this root, which is a file.
    File(PathBuf),
}

/// Watched folders besides those of walks, by the numbers of their watches.
#[derive(Default)]
pub(crate) struct Sides {
    folders: BTreeMap<i32, Vec<(OsString, Meaning)>>,
    /// Work trees that git changes now.
    locked: BTreeSet<PathBuf>,
    /// Whether the limit of watches left out some.
    is_partial: bool,
    mounts: Mounts,
}

impl Sides {
    pub(crate) fn has(&self, watch: i32) -> bool {
        self.folders.contains_key(&watch)
    }

    /// Returns whether some folders are not watched, because there are no more watches.
    pub(crate) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Returns whether a path is on a remote file system, which may not answer.
    pub(crate) fn is_remote(&self, path: &Path) -> bool {
        self.mounts.are_above(path)
    }

    /// Returns the numbers of the watches.
    pub(crate) fn watches(&self) -> Vec<i32> {
        self.folders.keys().copied().collect()
    }

    /// Returns whether a root is a file that is watched.
    pub(crate) fn has_file(&self, root: &Path) -> bool {
        let is_it =
            |(_, meaning): &(_, Meaning)| matches!(meaning, Meaning::File(path) if path == root);
        self.folders.values().flatten().any(is_it)
    }

    /// Returns the work trees that git changes now.
    pub(crate) fn locked(&self) -> &BTreeSet<PathBuf> {
        &self.locked
    }

    /// Forgets a watch that the kernel removed.
    pub(crate) fn forget(&mut self, watch: i32) {
        self.folders.remove(&watch);
    }

    /// Forgets what concerns folders at and below a path, and returns the watches that are no longer needed.
    pub(crate) fn leave(&mut self, top: &Path) -> Vec<i32> {
        self.locked.retain(|tree| !tree.starts_with(top));
        let concerns = |meaning: &Meaning| match meaning {
            Meaning::Rules(folder) | Meaning::Lock(folder) => folder.starts_with(top),
            Meaning::Way | Meaning::File(_) => false,
        };
        let mut unneeded = Vec::new();
        self.folders.retain(|watch, entries| {
            entries.retain(|(_, meaning)| !concerns(meaning));
            unneeded.extend(entries.is_empty().then_some(*watch));
            !entries.is_empty()
        });
        unneeded
    }

    /// Returns what the event of an entry means.
    pub(crate) fn take(&mut self, watch: i32, name: &OsStr, kind: ReadFlags) -> Vec<Meaning> {
        let Some(entries) = self.folders.get(&watch) else {
            return Vec::new();
        };
        let of_name = entries.iter().filter(|(entry, _)| entry == name);
        let meanings: Vec<Meaning> = of_name.map(|(_, meaning)| meaning.clone()).collect();
        for meaning in &meanings {
            match meaning {
                Meaning::Lock(tree) if kind.intersects(CAME) => {
                    self.locked.insert(tree.clone());
                }
                Meaning::Lock(tree) if kind.intersects(WENT) => _ = self.locked.remove(tree),
                _ => {}
            }
        }
        meanings
    }

    /// Watches the ways to roots, and the rules outside of them.
    pub(crate) fn watch_above(&mut self, inotify: &OwnedFd, roots: &[Root], options: &WalkOptions) {
        self.mounts = Mounts::read();
        for root in roots {
            for folder in root.path.ancestors().skip(1) {
                if !self.is_remote(folder) && !is_public(folder) {
                    self.watch_way(inotify, folder, root);
                }
            }
            if let Some(file) = options.global_ignore.as_deref().filter(|_| !root.no_ignore) {
                let target = fs::canonicalize(file).ok().filter(|target| target != file);
                for file in target.as_deref().into_iter().chain([file]) {
                    self.watch(inotify, file, &Meaning::Rules(root.path.clone()));
                }
            }
        }
    }

    fn watch_way(&mut self, inotify: &OwnedFd, folder: &Path, root: &Root) {
        let way = root.path.strip_prefix(folder).ok();
        let Some(way) = way.and_then(|way| way.components().next()) else {
            return;
        };
        let is_it = folder.join(way) == root.path;
        let is_file = is_it && !self.is_remote(&root.path) && root.path.is_file();
        let (mask, meaning) = match is_file {
            true => (FILE_MASK, Meaning::File(root.path.clone())),
            false => (SIDE_MASK, Meaning::Way),
        };
        let Ok(watch) = self.add(inotify, folder, mask) else {
            return;
        };
        self.note(watch, way.as_os_str(), &meaning);
        if !root.no_ignore {
            let rules = Meaning::Rules(root.path.clone());
            for name in RULE_NAMES {
                self.note(watch, OsStr::new(name), &rules);
            }
            self.watch_work_tree(inotify, folder, &root.path);
        }
    }

    /// Watches the lock of a work tree, and the rules of its repository, which decide on a folder.
    pub(crate) fn watch_work_tree(&mut self, inotify: &OwnedFd, top: &Path, folder: &Path) {
        let Some(git) = git_folders(top).filter(|git| !self.is_remote(&git.own)) else {
            return;
        };
        let lock = git.own.join("index.lock");
        self.watch(inotify, &lock, &Meaning::Lock(top.to_path_buf()));
        if fs::symlink_metadata(lock).is_ok() {
            self.locked.insert(top.to_path_buf());
        }
        let info = git.common.map(|common| common.join("info"));
        let rules = Meaning::Rules(folder.to_path_buf());
        for path in info
            .iter()
            .flat_map(|info| [info.join("exclude"), info.clone()])
        {
            self.watch(inotify, &path, &rules);
        }
    }

    /// Watches a path in the nearest folder above it that exists.
    fn watch(&mut self, inotify: &OwnedFd, path: &Path, meaning: &Meaning) {
        let mut path = path;
        while let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            match self.add(inotify, folder, SIDE_MASK) {
                Ok(watch) => return self.note(watch, name, meaning),
                Err(Errno::NOENT | Errno::NOTDIR) => path = folder,
                Err(_) => return,
            }
        }
    }

    fn add(&mut self, inotify: &OwnedFd, folder: &Path, mask: WatchFlags) -> Result<i32, Errno> {
        let added = match self.folders.len() < MAX_FOLDERS {
            true => inotify::add_watch(inotify, folder, mask),
            false => Err(Errno::NOSPC),
        };
        self.is_partial |= matches!(added, Err(Errno::NOSPC | Errno::NOMEM));
        added
    }

    fn note(&mut self, watch: i32, name: &OsStr, meaning: &Meaning) {
        let entries = self.folders.entry(watch).or_default();
        let is_known = |(entry, known): &(OsString, Meaning)| entry == name && known == meaning;
        if !entries.iter().any(is_known) {
            entries.push((name.to_os_string(), meaning.clone()));
        }
    }
}

/// Returns whether everybody may write to a folder, such as `/tmp`: too much happens there.
fn is_public(folder: &Path) -> bool {
    let mode = fs::metadata(folder).map_or(0, |metadata| metadata.permissions().mode());
    mode & 0o1002 == 0o1002
}
