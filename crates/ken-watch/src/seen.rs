//! Sets watches during a walk.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_walk::{Gate, OnFolders};
use rustix::fs::inotify;
use rustix::io::Errno;

use crate::mask::MASK;
use crate::rank::Choice;
use crate::sides::Sides;
use crate::table::Table;
use crate::tops::Tops;

/// How much is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Folders that are watched.
    pub watched: usize,
    /// Folders beyond the budget of watches.
    pub beyond: usize,
    /// Folders on remote file systems, whose changes the kernel does not see.
    pub remote: usize,
    /// Folders with another path, at which they are watched.
    pub twofold: usize,
    /// Roots that follow links, or that cannot be walked now.
    pub roots: usize,
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        self.watched += other.watched;
        self.beyond += other.beyond;
        self.remote += other.remote;
        self.twofold += other.twofold;
        self.roots += other.roots;
    }
}

impl Coverage {
    /// Returns whether every change is seen.
    pub fn is_complete(&self) -> bool {
        self.unwatched() == 0
    }

    /// Returns the number of folders and roots that are not watched.
    pub fn unwatched(&self) -> usize {
        self.beyond + self.remote + self.twofold + self.roots
    }
}

/// What the threads of a walk share.
pub(crate) struct Seen {
    pub(crate) inotify: OwnedFd,
    pub(crate) state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) table: Table,
    pub(crate) sides: Sides,
    /// Which folders are watched, if not all can be.
    pub(crate) choice: Option<Choice>,
    /// The folders that are walked, each with everything below it; none if all are.
    pub(crate) walked: Option<BTreeSet<PathBuf>>,
    /// What changes unseen.
    pub(crate) unwatched: Tops<Coverage>,
    /// What the index leaves out and a search of files may not, with the number of times it was seen.
    pub(crate) left_out: Tops<usize>,
    /// Maximum number of watches that the kernel grants.
    pub(crate) budget: usize,
}

impl Seen {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches the hidden folders in a Maildir: they become mail folders, which are walked, when their own folders are
    /// made.
    fn enter_hidden(&self, maildir: &Path) {
        let entries = fs_err::read_dir(maildir).into_iter().flatten().flatten();
        let is_hidden = |entry: &fs_err::DirEntry| {
            let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            entry.file_name().as_encoded_bytes().starts_with(b".") && is_folder()
        };
        let hidden = entries.filter(is_hidden);
        hidden.for_each(|entry| self.entering(&entry.path(), false));
    }

    /// Removes watches that nothing needs any more.
    pub(crate) fn remove(&self, state: &State, watches: &[i32]) {
        let is_needed = |watch: i32| state.sides.has(watch) || state.table.get(watch).is_some();
        for watch in watches.iter().filter(|watch| !is_needed(**watch)) {
            // The kernel may have removed it.
            let _ = inotify::remove_watch(&self.inotify, *watch);
        }
    }
}

impl OnFolders for Seen {
    fn entering(&self, folder: &Path, is_remote: bool) {
        let mut state = self.state();
        let is_walked =
            |tops: &BTreeSet<PathBuf>| folder.ancestors().any(|above| tops.contains(above));
        if !state.walked.as_ref().is_none_or(is_walked) {
            // It only leads to what is walked.
            return;
        }
        let none = Coverage::default();
        if is_remote {
            return state
                .unwatched
                .insert(folder, Coverage { remote: 1, ..none });
        }
        let beyond = Coverage { beyond: 1, ..none };
        let choice = state.choice.as_mut();
        if choice.is_some_and(|choice| !choice.takes(folder)) {
            return state.unwatched.insert(folder, beyond);
        }
        if state.table.len() >= state.budget && !state.table.has(folder) {
            return state.unwatched.insert(folder, beyond);
        }
        match inotify::add_watch(&self.inotify, folder, MASK) {
            Ok(watch) => {
                let displaced = state.table.enter(watch, folder);
                self.remove(&state, displaced.watch.as_slice());
                // A folder with two paths: events name the later one.
                let other = displaced.left.filter(|left| left.is_dir());
                if let Some(other) = other {
                    state
                        .unwatched
                        .insert(&other, Coverage { twofold: 1, ..none });
                }
            }
            Err(Errno::NOSPC | Errno::NOMEM) => {
                state.budget = state.table.len();
                state.unwatched.insert(folder, beyond);
            }
            // It is gone, which its parent's watch tells, or cannot be read.
            Err(_) => state.unwatched.insert(folder, none),
        }
    }

    fn left_out(&self, path: &Path) {
        self.state().left_out.insert(path, 1);
    }

    fn entered(&self, folder: &Path, gate: Gate) {
        if gate.is_maildir() && self.state().table.has(folder) {
            self.enter_hidden(folder);
        }
        let mut state = self.state();
        if gate.has_git() {
            state.sides.watch_work_tree(&self.inotify, folder, folder);
        }
        state.table.set_gate(folder, gate);
    }
}
