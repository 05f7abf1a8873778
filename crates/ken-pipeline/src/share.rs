//! A part of a run's work, as it is written for other machines, and what became of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_core::{BytesPath, Change, FileKey, Profile, Stamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A part of the work of a run.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Work {
    /// Files to read.
    Files(Share),
    /// Files in whose pictures text is recognised.
    Pictures(Pictures),
}

/// Files to read.
#[derive(Serialize, Deserialize)]
pub(crate) struct Share {
    /// The process whose run it is.
    pub(crate) process: u64,
    /// How files are read: a machine that reads them otherwise leaves the share to others.
    pub(crate) profile: Profile,
    pub(crate) generation: u16,
    pub(crate) full: bool,
    /// Whether the index keeps who may read each file.
    pub(crate) access: bool,
    pub(crate) files: Vec<SharedFile>,
}

/// Files in whose pictures text is recognised. The machine of the run writes what others recognise.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pictures {
    /// Its number among those of its run.
    pub(crate) number: u64,
    pub(crate) profile: Profile,
    pub(crate) languages: String,
    /// Whether earlier recognition used other languages.
    pub(crate) other_languages: bool,
    pub(crate) files: Vec<FileKey>,
}

/// A file of a share, as the walk found it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SharedFile {
    pub(crate) path: BytesPath,
    pub(crate) is_new: bool,
    pub(crate) stamp: Stamp,
    /// A part of the stamp that is left out of it otherwise.
    volume: Option<u64>,
}

/// What became of a share.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// The process that did it.
    pub(crate) process: u64,
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) documents: u64,
    pub(crate) failures: u64,
    pub(crate) bytes: u64,
    /// The files that this machine has not, or has otherwise.
    pub(crate) left: Vec<BytesPath>,
}

/// What a run says at its end that has recognised all text in pictures.
pub(crate) const PICTURES_READ: &str = "pictures read";

/// What became of a share of pictures.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Texts {
    /// The number of the share.
    pub(crate) number: u64,
    /// The number of files with a text.
    pub(crate) n_files: u64,
    /// The texts by their names in the cache, which stand for the content and the languages.
    pub(crate) texts: BTreeMap<String, String>,
}

/// Returns a text by which machines understand each other.
pub(crate) fn text_of<T: Serialize>(what: &T) -> Result<String, ken_engine::Error> {
    serde_json::to_string(what).map_err(|error| ken_engine::Error::Query(error.to_string()))
}

/// Returns what another machine wrote. One with a newer ken may write something else.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ken_engine::Error> {
    serde_json::from_str(text)
        .map_err(|error| ken_engine::Error::Query(format!("a share: {error}")))
}

impl SharedFile {
    pub(crate) fn of(change: &Change) -> Option<Self> {
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
    pub(crate) fn change(&self) -> Change {
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
    pub(crate) fn count(&mut self, files: &[SharedFile], left: &[PathBuf]) {
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
pub(crate) struct Shared {
    /// Files in shares whose outcome is not known.
    pub(crate) n_out: AtomicUsize,
    /// Files that other machines left.
    pub(crate) left: Mutex<Vec<PathBuf>>,
    /// Whether nobody knows what became of some shares.
    pub(crate) is_unknown: AtomicBool,
}

impl Shared {
    /// Returns whether other machines left files.
    pub(crate) fn has_left(&self) -> bool {
        self.is_unknown.load(Ordering::Relaxed) || !self.left().is_empty()
    }

    /// Returns the files that other machines left; none if any may be among them.
    pub(crate) fn into_left(self) -> Option<Vec<PathBuf>> {
        let is_known = !self.is_unknown.into_inner();
        let left = self.left.into_inner();
        is_known.then(|| left.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn left(&self) -> MutexGuard<'_, Vec<PathBuf>> {
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
