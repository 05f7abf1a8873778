//! What walk tells about files: which there are, and whether they changed.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

/// The key of a file in the index: a keyed hash of its path.
///
/// With n files, two share a key with probability n²/2⁶⁵: 3·10⁻⁶ for ten million files. The key
/// of the hash is random in each index, so nobody can make such names on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileKey(pub u64);

/// Turns paths into [`FileKey`]s and [`Stamp`]s into tokens.
///
/// SipHash-1-3 (Aumasson and Bernstein 2012, with one compression and three finalisation rounds).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyHasher {
    k0: u64,
    k1: u64,
}

impl KeyHasher {
    /// Returns the hasher of an index with these random numbers.
    pub fn new(k0: u64, k1: u64) -> Self {
        Self { k0, k1 }
    }

    /// Returns the key of a file.
    pub fn key(&self, path: &Path) -> FileKey {
        use std::os::unix::ffi::OsStrExt;
        FileKey(self.hash(path.as_os_str().as_bytes()))
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.k0, self.k1);
        hasher.write(bytes);
        hasher.finish()
    }
}

/// What says that a file is unchanged: the part of `stat` that moves when the content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, in nanoseconds since 1970-01-01 UTC.
    pub mtime_ns: i64,
    /// Time of the last change of content or inode, in nanoseconds since 1970-01-01 UTC.
    pub ctime_ns: i64,
    /// Number of the inode; with the device it tells a moved file.
    pub inode: u64,
    /// Number of the device.
    pub device: u64,
}

impl Stamp {
    /// Returns a number that is the same as long as the file is unchanged, and never 0.
    ///
    /// Inode and device are left out: on FAT and network file systems, and after a reboot, they
    /// change while the file does not, and reading a disk again for that would be the worse
    /// mistake. Every change of content moves `ctime`, which no program can set back.
    pub fn token(&self, hasher: &KeyHasher) -> u64 {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.mtime_ns.to_le_bytes());
        bytes[16..].copy_from_slice(&self.ctime_ns.to_le_bytes());
        hasher.hash(&bytes).max(1)
    }

    /// Returns a number that stays the same when the file is renamed, and never 0.
    pub fn identity(&self, hasher: &KeyHasher) -> u64 {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.mtime_ns.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.inode.to_le_bytes());
        bytes[24..].copy_from_slice(&self.device.to_le_bytes());
        hasher.hash(&bytes).max(1)
    }

    /// Returns the time of the last change of content in whole seconds.
    pub fn mtime_seconds(&self) -> i64 {
        self.mtime_ns.div_euclid(1_000_000_000)
    }
}

/// What an index knows of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The key of its path.
    pub key: FileKey,
    /// See [`Stamp::token`]; 0 if the file was not indexed to its end.
    pub token: u64,
    /// See [`Stamp::identity`]; 0 if the file was not indexed to its end.
    pub identity: u64,
}

/// What became of a file since the last run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// The index does not know the file.
    Added {
        /// Absolute path.
        path: PathBuf,
        /// Its stamp now.
        stamp: Stamp,
    },
    /// The index knows it under another stamp.
    Changed {
        /// Absolute path.
        path: PathBuf,
        /// Its stamp now.
        stamp: Stamp,
    },
    /// The index knows the same file under a path that is gone.
    Moved {
        /// The key of the old path.
        from: FileKey,
        /// Absolute path now.
        path: PathBuf,
        /// Its stamp now.
        stamp: Stamp,
    },
    /// The file is no longer there.
    Gone {
        /// The key of its path.
        key: FileKey,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp {
        size: 10,
        mtime_ns: -1,
        ctime_ns: 3,
        inode: 4,
        device: 5,
    };

    #[test]
    fn tokens_see_content_and_identities_see_moves() {
        let hasher = KeyHasher::new(1, 2);
        let renamed = Stamp {
            ctime_ns: 9,
            ..STAMP
        };
        assert_ne!(STAMP.token(&hasher), renamed.token(&hasher));
        assert_eq!(STAMP.identity(&hasher), renamed.identity(&hasher));
        let remounted = Stamp {
            device: 6,
            inode: 7,
            ..STAMP
        };
        assert_eq!(STAMP.token(&hasher), remounted.token(&hasher));
        assert_ne!(STAMP.identity(&hasher), remounted.identity(&hasher));
        assert_eq!(STAMP.mtime_seconds(), -1);
    }

    #[test]
    fn keys_depend_on_the_index() {
        let path = Path::new("/home/a/report.pdf");
        assert_ne!(
            KeyHasher::new(1, 2).key(path),
            KeyHasher::new(1, 3).key(path)
        );
        assert_eq!(
            KeyHasher::new(1, 2).key(path),
            KeyHasher::new(1, 2).key(path)
        );
    }
}
