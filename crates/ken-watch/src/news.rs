//! Events, and what they mean.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, ReadFlags};

use crate::mask::{CAME, WENT};
use crate::sides::Meaning;

/// Number of written files to remember while events are read: few are written all the time.
const MAX_RECENT: usize = 8;

/// What happened since the last wait.
#[derive(Debug, Default)]
pub struct Events {
    /// Files and folders that may have changed. A folder stands for everything below it.
    pub changed: BTreeSet<PathBuf>,
    /// Other files that a program writes and has not closed.
    pub written: BTreeSet<PathBuf>,
    /// Why more may have changed than `changed` says.
    pub lost: Option<Lost>,
    /// Work trees that git changes now.
    pub locked: BTreeSet<PathBuf>,
    /// Number of events that the kernel told.
    pub n_events: usize,
    /// Whether the file was replaced that [`crate::Watcher::watch_replaced`] names.
    pub is_replaced: bool,
}

/// Why events may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// More happened than the kernel keeps.
    Overflow,
    /// A file system was mounted or unmounted.
    Mounts,
    /// A root came or went.
    Root,
    /// The machine was suspended.
    Suspension,
}

/// An entry that the index leaves out and a search of files may not, and whether it is there.
pub(crate) struct LeftOut {
    pub(crate) path: PathBuf,
    pub(crate) is_there: bool,
}

/// Events, and what they mean for the watches.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) events: Events,
    /// Folders that came, or of which other entries are taken now.
    pub(crate) entered: BTreeSet<PathBuf>,
    /// Paths that folders left.
    pub(crate) left: BTreeSet<PathBuf>,
    /// Number of events after which nothing is to be done at once.
    pub(crate) n_idle: usize,
    /// Entries that the index leaves out and a search of files may not.
    pub(crate) left_out: Vec<LeftOut>,
    /// Whether rules outside the walks changed.
    pub(crate) has_rules: bool,
    /// The files that were written last, by the watch of their folder and their name.
    recent: VecDeque<(i32, Vec<u8>)>,
}

impl News {
    /// Returns whether the event says that a file was written, as one of the last events did.
    pub(crate) fn repeats(&mut self, event: &inotify::Event<'_>) -> bool {
        if event.events() != ReadFlags::MODIFY {
            self.recent.clear();
            return false;
        }
        let name = event.file_name().map_or(&[][..], |name| name.to_bytes());
        let is_same = |(watch, file): &(i32, Vec<u8>)| *watch == event.wd() && file == name;
        if self.recent.iter().any(is_same) {
            return true;
        }
        self.recent.truncate(MAX_RECENT - 1);
        self.recent.push_front((event.wd(), name.to_vec()));
        false
    }

    /// Takes a change of the rules that decide on a folder.
    pub(crate) fn enter(&mut self, folder: &Path) {
        self.entered.insert(folder.to_path_buf());
        self.events.changed.insert(folder.to_path_buf());
    }

    /// Takes a folder that left its path, of which the folder above does not tell.
    pub(crate) fn go(&mut self, folder: &Path) {
        self.left.insert(folder.to_path_buf());
        self.events.changed.insert(folder.to_path_buf());
    }

    /// Takes the event of an entry outside the walks.
    pub(crate) fn take_side(&mut self, meaning: Meaning, kind: ReadFlags) {
        match meaning {
            Meaning::Rules(folder) => {
                self.has_rules = true;
                self.enter(&folder);
            }
            Meaning::File(path) if !kind.intersects(WENT) => self.take(path, kind),
            Meaning::File(_) => self.events.lost = Some(Lost::Root),
            Meaning::Way if kind.intersects(CAME | WENT) => self.events.lost = Some(Lost::Root),
            Meaning::Way | Meaning::Lock(_) => {}
        }
    }

    /// Takes the event of an entry that a walk takes.
    pub(crate) fn take(&mut self, path: PathBuf, kind: ReadFlags) {
        if kind == ReadFlags::MODIFY {
            self.n_idle += 1;
            if !self.events.changed.contains(&path) {
                self.events.written.insert(path);
            }
            return;
        }
        if kind.contains(ReadFlags::ISDIR) {
            if kind.intersects(CAME | WENT) {
                self.left.insert(path.clone());
            }
            // A folder that may be read now has other attributes.
            if !kind.intersects(WENT) {
                self.entered.insert(path.clone());
            }
        }
        self.events.written.remove(&path);
        self.events.changed.insert(path);
    }
}
