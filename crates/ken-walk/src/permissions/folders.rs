//! The rules of folders, remembered for a moment, and the way from an open folder up to `/`.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ken_core::access::{Rule, Wish};
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

/// How long folders are remembered: a later change counts.
const MOMENT: Duration = Duration::from_secs(1);
/// The most folders that are remembered.
const MAX_FOLDERS: usize = 100_000;
/// The most folders above a file whose path the system tells, which has at most 4,096 bytes.
const MAX_DEPTH: usize = 2_048;

/// The rules of a folder and of those above it.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) rules: Arc<BTreeSet<Rule>>,
    /// When the first of them was looked at.
    since: Instant,
}

impl Known {
    /// Returns no rules.
    pub(super) fn none() -> Self {
        Self {
            rules: Arc::default(),
            since: Instant::now(),
        }
    }

    pub(super) fn joined(&self, other: &Self) -> Self {
        Self {
            rules: Arc::new(self.rules.union(&other.rules).cloned().collect()),
            since: self.since.min(other.since),
        }
    }

    pub(super) fn with(self, rule: Rule) -> Self {
        if self.rules.contains(&rule) {
            return self;
        }
        let mut rules = (*self.rules).clone();
        rules.insert(rule);
        Self {
            rules: Arc::new(rules),
            ..self
        }
    }
}

/// Folders that are remembered by a key.
pub(super) struct Folders<K>(Mutex<HashMap<K, Known>>);

impl<K> Default for Folders<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Folders<K> {
    pub(super) fn get<Q>(&self, key: &Q) -> Option<Known>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let known = self.known().get(key).cloned();
        known.filter(|known| known.since.elapsed() < MOMENT)
    }

    pub(super) fn put(&self, key: K, folder: &Known) {
        let mut known = self.known();
        if known.len() >= MAX_FOLDERS {
            known.clear();
        }
        known.insert(key, folder.clone());
    }

    fn known(&self) -> MutexGuard<'_, HashMap<K, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device and the inode of a folder, and when it was changed last.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Inode([u64; 4]);

impl Inode {
    #[allow(
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        trivial_numeric_casts
    )] // the types differ by system
    fn of(stat: &Stat) -> Self {
        let ctime = [stat.st_ctime as u64, stat.st_ctime_nsec as u64];
        Self([stat.st_dev as u64, stat.st_ino as u64, ctime[0], ctime[1]])
    }

    fn is_same(self, other: Self) -> bool {
        self.0[..2] == other.0[..2]
    }
}

/// Returns the rules of an open folder and of those above it. Each is reached from the one below it, and not by a path that
/// somebody may change meanwhile.
pub(super) fn from_open(folders: &Folders<Inode>, mut folder: OwnedFd) -> Result<Known, Errno> {
    let mut way = Vec::new();
    let top = loop {
        let inode = Inode::of(&rustix::fs::fstat(&folder)?);
        if let Some(known) = folders.get(&inode) {
            break known;
        }
        let rule = super::rule_at(Wish::Pass, &descriptor(&folder))?;
        let is_top = way
            .last()
            .is_some_and(|(below, _): &(Inode, _)| below.is_same(inode));
        if is_top {
            break Known::none();
        }
        if way.len() > MAX_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        way.push((inode, rule));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        folder = rustix::fs::openat(&folder, "..", flags, Mode::empty())?;
    };
    Ok(way.into_iter().rev().fold(top, |above, (inode, rule)| {
        let known = above.with(rule);
        folders.put(inode, &known);
        known
    }))
}

/// Returns the path of an open file or folder for calls that take none that is open.
pub(super) fn descriptor(open: &impl AsRawFd) -> PathBuf {
    format!("/proc/self/fd/{}", open.as_raw_fd()).into()
}
