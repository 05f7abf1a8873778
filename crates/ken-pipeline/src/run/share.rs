//! A part of a run's work, as it is written for other machines, and what became of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_core::{BytesPath, Change, Profile, Stamp};
use serde::{Deserialize, Serialize};

/// A part of the work of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct Share {
    /// The process whose run it is.
    pub(super) process: u64,
    /// How files are read: a machine that reads them otherwise leaves the share to others.
    pub(super) profile: Profile,
    pub(super) generation: u16,
    pub(super) full: bool,
    /// Whether the index keeps who may read each file.
    pub(super) access: bool,
    pub(super) files: Vec<SharedFile>,
}

/// A file of a share, as the walk found it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SharedFile {
    pub(super) path: BytesPath,
    pub(super) is_new: bool,
    pub(super) stamp: Stamp,
    /// A part of the stamp that is left out of it otherwise.
    volume: Option<u64>,
}

/// What became of a share.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// The process that did it.
    pub(super) process: u64,
    pub(super) added: u64,
    pub(super) changed: u64,
    pub(super) documents: u64,
    pub(super) failures: u64,
    pub(super) bytes: u64,
    /// The files that this machine has not, or has otherwise.
    pub(super) left: Vec<BytesPath>,
}

impl SharedFile {
    pub(super) fn of(change: &Change) -> Option<Self> {
        let (Change::Added { path, stamp } | Change::Changed { path, stamp }) = change else {
            return None;
        };
        Some(Self {
            path: BytesPath(path.clone()),
            is_new: matches!(change, Change::Added { .. }),
            stamp: *stamp,
            volume: stamp.volume,
        })
    }

    /// Returns the change. A machine that is gone may have written documents of a new file, too: they are deleted.
    pub(super) fn change(&self) -> Change {
        Change::Changed {
            path: self.path.0.clone(),
            stamp: Stamp {
                volume: self.volume,
                ..self.stamp
            },
        }
    }
}

impl Outcome {
    /// Counts the files of a share that were not left.
    pub(super) fn count(&mut self, files: &[SharedFile], left: &[PathBuf]) {
        for file in files {
            match left.contains(&file.path.0) {
                true => self.left.push(file.path.clone()),
                false if file.is_new => self.added += 1,
                false => self.changed += 1,
            }
        }
    }
}

/// What a run has shared.
#[derive(Default)]
pub(super) struct Shared {
    /// Files in shares whose outcome is not known.
    pub(super) n_out: AtomicUsize,
    /// Files that other machines left.
    pub(super) left: Mutex<Vec<PathBuf>>,
    /// Whether nobody knows what became of some shares.
    pub(super) is_unknown: AtomicBool,
}

impl Shared {
    /// Returns whether other machines left files.
    pub(super) fn has_left(&self) -> bool {
        self.is_unknown.load(Ordering::Relaxed) || !self.left().is_empty()
    }

    /// Returns the files that other machines left; none if any may be among them.
    pub(super) fn into_left(self) -> Option<Vec<PathBuf>> {
        let is_known = !self.is_unknown.into_inner();
        let left = self.left.into_inner();
        is_known.then(|| left.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn left(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_survives_its_description() {
        let stamp = Stamp {
            size: 1,
            mtime_ns: 2,
            ctime_ns: 3,
            inode: 4,
            device: 5,
            volume: Some(6),
            sidecar: None,
            mh: None,
        };
        let change = Change::Added {
            path: "/a".into(),
            stamp,
        };
        let file = SharedFile::of(&change).unwrap();
        let text = serde_json::to_string(&file).unwrap();
        let file: SharedFile = serde_json::from_str(&text).unwrap();
        assert!(matches!(file.change(), Change::Changed { stamp: of, .. } if of == stamp));
        let mut outcome = Outcome::default();
        let other = SharedFile {
            path: BytesPath("/b".into()),
            is_new: false,
            ..file
        };
        outcome.count(&[file, other], &[PathBuf::from("/a")]);
        assert_eq!((outcome.added, outcome.changed), (0, 1));
        let text = serde_json::to_string(&outcome).unwrap();
        let outcome: Outcome = serde_json::from_str(&text).unwrap();
        assert_eq!(outcome.left[0].0, PathBuf::from("/a"));
        assert_eq!(outcome.left.len(), 1);
    }
}
