//! A machine that reads files for the run of another one, and which files it takes for the same.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ken_core::Stamp;

/// A machine that works on a share of another one.
#[derive(Default)]
pub(crate) struct Guest {
    left: Mutex<Vec<PathBuf>>,
}

impl Guest {
    /// Returns the stamp of a file with the numbers that the machine of the run has for its file system; none if the file
    /// is not the one that the run found.
    pub(crate) fn stamp(found: &Stamp, own: &Stamp) -> Option<Stamp> {
        let times = |stamp: &Stamp| (stamp.size, stamp.mtime_ns, stamp.inode);
        let is_racy = found.is_racy() || own.is_racy();
        if times(found) != times(own) || !is_racy && found.ctime_ns != own.ctime_ns {
            return None;
        }
        let stamp = Stamp {
            device: found.device,
            volume: found.volume,
            ..*own
        };
        Some(if is_racy { stamp.as_racy() } else { stamp })
    }

    /// Leaves a file to the machine of the run.
    pub(crate) fn leave(&self, path: &Path) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(path.to_path_buf());
    }

    pub(crate) fn into_left(self) -> Vec<PathBuf> {
        self.left
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_has_the_file_of_the_run_or_leaves_it() {
        let found = Stamp {
            size: 1,
            mtime_ns: 2,
            ctime_ns: 3,
            inode: 4,
            device: 5,
            volume: Some(6),
            sidecar: None,
            mh: None,
        };
        let here = Stamp {
            device: 9,
            volume: None,
            ..found
        };
        assert_eq!(Guest::stamp(&found, &here), Some(found));
        assert_eq!(Guest::stamp(&found, &here.as_racy()), Some(found.as_racy()));
        for other in [
            Stamp { size: 2, ..here },
            Stamp {
                mtime_ns: 3,
                ..here
            },
            Stamp {
                ctime_ns: 4,
                ..here
            },
            Stamp { inode: 5, ..here },
        ] {
            assert_eq!(Guest::stamp(&found, &other), None, "{other:?}");
        }
    }
}
