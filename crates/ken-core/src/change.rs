//! The changes that a walk finds: which files exist, and whether they changed.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::MessageState;
use siphasher::sip::SipHasher13;

use crate::Token;

/// The key of a file in the index: a keyed hash of its path.
///
/// Among n files, two share a key with probability n²/2⁶⁵: 3·10⁻⁶ for ten million files. The key of the hash is random
/// in each index, so nobody can choose paths that collide.
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

    /// Returns the hasher for the files in a folder, whose path ends with `/`.
    pub fn in_folder(&self, path: &[u8]) -> FolderHasher {
        let mut hasher = SipHasher13::new_with_keys(self.k0, self.k1);
        hasher.write(path);
        FolderHasher(hasher)
    }

    /// Returns a hash of some numbers.
    pub fn number<'a>(&self, of: impl IntoIterator<Item = &'a u64>) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.k0, self.k1);
        of.into_iter().for_each(|number| hasher.write_u64(*number));
        hasher.finish()
    }

    /// Returns a number specific to this index, for hashes of content. Nobody can make two contents with the same hash
    /// without knowing it.
    pub fn seed(&self) -> u64 {
        self.hash(b"content")
    }

    fn hash_numbers(&self, own: &[u64], sidecar: &[u64], mh: Option<MhState>) -> u64 {
        let mh = mh.map(MhState::number);
        self.number(own.iter().chain(sidecar).chain(&mh))
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.k0, self.k1);
        hasher.write(bytes);
        hasher.finish()
    }
}

/// Makes the keys of files in one folder, whose path is hashed once.
pub struct FolderHasher(SipHasher13);

impl FolderHasher {
    /// Returns the key of the file of this name.
    pub fn key(&self, name: &[u8]) -> FileKey {
        let mut hasher = self.0;
        hasher.write(name);
        FileKey(hasher.finish())
    }
}

/// A time that no file has.
const RACY_CTIME: i64 = i64::MIN;

/// What the file system says of a file that changes when the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, in nanoseconds since 1970-01-01 UTC.
    pub mtime_ns: i64,
    /// Time of the last change of content or inode, in nanoseconds since 1970-01-01 UTC.
    pub ctime_ns: i64,
    /// Number of the inode; together with the device it identifies a moved file.
    pub inode: u64,
    /// Number of the device.
    pub device: u64,
    /// A number of the file system that stays the same when it is mounted again, 0 if it has none; absent if the
    /// file system may give an unchanged file another inode, as FAT and FUSE do.
    #[serde(default, skip_serializing)]
    pub volume: Option<u64>,
    /// The stamp of the file's sidecar, whose fields are added to those of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sidecar: Option<SidecarStamp>,
    /// The sequences of its folder that list the file, if it is a message of MH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mh: Option<MhState>,
}

/// The sequences of an MH folder that list one of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, missing_docs)] // each is a sequence
pub struct MhState {
    pub is_unseen: bool,
    pub is_flagged: bool,
    pub is_replied: bool,
}

impl MhState {
    /// Returns the states of the message, as `is:` names them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let seen = match self.is_unseen {
            true => MessageState::Unread,
            false => MessageState::Seen,
        };
        let flagged = self.is_flagged.then_some(MessageState::Flagged);
        let replied = self.is_replied.then_some(MessageState::Replied);
        let states = [Some(seen), flagged, replied].into_iter().flatten();
        states.map(MessageState::name)
    }

    fn number(self) -> u64 {
        u64::from(self.is_unseen)
            | u64::from(self.is_flagged) << 1
            | u64::from(self.is_replied) << 2
    }
}

/// The stamp of a sidecar, such as `photo.jpg.xmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // as in `Stamp`
pub struct SidecarStamp {
    pub size: u64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub inode: u64,
}

impl Stamp {
    /// Returns the token of the file, read with the [`Profile`](crate::Profile) of this generation. The token stays
    /// the same as long as the file is unchanged.
    ///
    /// Every change of content moves `ctime`, which no program can set back. The inode and the volume tell files
    /// that have equal times: a folder that takes the place of another keeps the times of its files. The token
    /// leaves out the device, whose number may change with every mount, and the inode where it may change too:
    /// reading a whole disk again is the worse mistake. It includes the sidecar: if its change were noted
    /// separately, a run that is stopped could commit the sidecar and forget the file.
    pub fn token(&self, hasher: &KeyHasher, generation: u16) -> Token {
        match self.is_racy() {
            true => Token::racy(generation),
            false => Token::new(self.hash(hasher), generation),
        }
    }

    /// Returns the stamp of a file whose content may change without another stamp. Its token equals that of no file.
    pub fn as_racy(self) -> Self {
        Self {
            ctime_ns: RACY_CTIME,
            ..self
        }
    }

    /// Returns whether this is the result of [`Self::as_racy`].
    pub fn is_racy(&self) -> bool {
        self.ctime_ns == RACY_CTIME
    }

    /// Returns the hash of the stamp; a token holds 48 bits of it.
    fn hash(&self, hasher: &KeyHasher) -> u64 {
        let inode = |inode| self.volume.map_or(0, |_| inode);
        let (mtime, ctime) = (self.mtime_ns as u64, self.ctime_ns as u64);
        let volume = self.volume.unwrap_or(0);
        let own = [self.size, mtime, ctime, inode(self.inode), volume];
        let sidecar = self.sidecar.map(|sidecar| {
            [
                sidecar.size,
                sidecar.mtime_ns as u64,
                sidecar.ctime_ns as u64,
                inode(sidecar.inode),
            ]
        });
        let sidecar = sidecar.as_ref().map_or(&[][..], |of| of);
        hasher.hash_numbers(&own, sidecar, self.mh)
    }

    /// Returns a number that stays the same when the file is renamed, and never 0. Another file may have it later:
    /// whoever believes a move compares the tokens or the contents too.
    pub fn identity(&self, hasher: &KeyHasher) -> u64 {
        let own = [self.size, self.mtime_ns as u64, self.inode, self.device];
        // A file that moves without its sidecar is another file, as it has other fields.
        let sidecar = self
            .sidecar
            .map(|sidecar| [sidecar.size, sidecar.mtime_ns as u64, sidecar.inode]);
        let sidecar = sidecar.as_ref().map_or(&[][..], |of| of);
        hasher.hash_numbers(&own, sidecar, self.mh).max(1)
    }

    /// Returns the time of the last change of content in whole seconds.
    pub fn mtime_seconds(&self) -> i64 {
        self.mtime_ns.div_euclid(1_000_000_000)
    }
}

/// What an index knows of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The key of the file's path.
    pub key: FileKey,
    /// See [`Stamp::token`].
    pub token: Token,
    /// See [`Stamp::identity`]; 0 if the file was not indexed to its end.
    pub identity: u64,
}

impl FileRow {
    /// Returns whether the file was indexed to its end with this stamp, in any generation.
    pub fn is_of(&self, stamp: &Stamp, hasher: &KeyHasher) -> bool {
        self.token.is_settled() && self.token.stamp_hash() == stamp.token(hasher, 0).stamp_hash()
    }
}

/// What happened to a file since the last run.
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
    /// The index knows the file with another stamp.
    Changed {
        /// Absolute path.
        path: PathBuf,
        /// Its stamp now.
        stamp: Stamp,
    },
    /// The index knows the file with the same content, and other people may read it.
    Access {
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
    /// The file no longer exists.
    Gone {
        /// The key of the file's path.
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
        volume: None,
        sidecar: None,
        mh: None,
    };

    #[test]
    fn tokens_see_content_and_identities_see_moves() {
        let hasher = KeyHasher::new(1, 2);
        let token = |stamp: Stamp| stamp.token(&hasher, 1);
        let renamed = Stamp {
            ctime_ns: 9,
            ..STAMP
        };
        assert_ne!(token(STAMP), token(renamed));
        assert_eq!(STAMP.identity(&hasher), renamed.identity(&hasher));
        let remounted = Stamp {
            device: 6,
            inode: 7,
            ..STAMP
        };
        assert_eq!(token(STAMP), token(remounted));
        assert_ne!(STAMP.identity(&hasher), remounted.identity(&hasher));
        assert_eq!(STAMP.mtime_seconds(), -1);
    }

    #[test]
    fn files_with_equal_times_are_told_apart_where_inodes_last() {
        let hasher = KeyHasher::new(1, 2);
        let token = |inode, device, volume| {
            let stamp = Stamp {
                inode,
                device,
                volume,
                ..STAMP
            };
            stamp.token(&hasher, 1)
        };
        assert_ne!(token(4, 5, Some(0)), token(7, 5, Some(0)), "another file");
        assert_ne!(token(4, 5, Some(1)), token(4, 5, Some(2)), "another volume");
        assert_eq!(token(4, 5, Some(1)), token(4, 6, Some(1)), "a remount");
        assert_eq!(token(4, 5, None), token(7, 6, None));
    }

    #[test]
    fn a_racy_stamp_is_that_of_no_file() {
        let hasher = KeyHasher::new(1, 2);
        let racy = STAMP.as_racy();
        let row = FileRow {
            key: FileKey(1),
            token: racy.token(&hasher, 3),
            identity: 1,
        };
        assert!(row.token.is_finished() && !row.token.is_settled());
        assert_eq!(row.token.generation(), 3);
        assert!(!row.is_of(&STAMP, &hasher) && !row.is_of(&racy, &hasher));
        assert_eq!(racy.identity(&hasher), STAMP.identity(&hasher));
    }

    #[test]
    fn sidecars_are_part_of_both() {
        let hasher = KeyHasher::new(1, 2);
        let with = |ctime_ns, inode| Stamp {
            sidecar: Some(SidecarStamp {
                size: 1,
                mtime_ns: 2,
                ctime_ns,
                inode,
            }),
            ..STAMP
        };
        let tokens = [STAMP, with(3, 4), with(9, 4)].map(|stamp| stamp.token(&hasher, 1));
        assert!(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
        let identities = [STAMP, with(3, 4), with(9, 4)].map(|stamp| stamp.identity(&hasher));
        assert_ne!(identities[0], identities[1]);
        assert_eq!(identities[1], identities[2], "both were renamed");
        assert_ne!(identities[1], with(3, 5).identity(&hasher));
    }

    #[test]
    fn so_is_what_a_list_says() {
        let hasher = KeyHasher::new(1, 2);
        let state = |is_unseen, is_flagged| MhState {
            is_unseen,
            is_flagged,
            is_replied: false,
        };
        let states = [
            None,
            Some(state(false, false)),
            Some(state(true, false)),
            Some(state(false, true)),
        ];
        let stamps = states.map(|mh| Stamp { mh, ..STAMP });
        let tokens: std::collections::HashSet<Token> =
            stamps.iter().map(|stamp| stamp.token(&hasher, 1)).collect();
        let identities: std::collections::HashSet<u64> =
            stamps.iter().map(|stamp| stamp.identity(&hasher)).collect();
        assert_eq!((tokens.len(), identities.len()), (4, 4));
        assert_eq!(
            state(true, true).names().collect::<Vec<_>>(),
            ["unread", "flagged"]
        );
    }

    #[test]
    fn rows_know_their_stamp() {
        let hasher = KeyHasher::new(1, 2);
        let row = |token| FileRow {
            key: FileKey(1),
            token,
            identity: 1,
        };
        let known = row(STAMP.token(&hasher, 7));
        assert!(known.is_of(&STAMP, &hasher));
        assert!(!known.is_of(&Stamp { size: 11, ..STAMP }, &hasher));
        assert!(!row(Token::UNFINISHED).is_of(&STAMP, &hasher));
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

    #[test]
    fn keys_in_a_folder_are_those_of_the_paths() {
        let hasher = KeyHasher::new(1, 2);
        for folder in ["/", "/home/", "/home/abc/", "/home/a long one/"] {
            let here = hasher.in_folder(folder.as_bytes());
            for name in ["a", "report.pdf", "exactly8"] {
                let path = format!("{folder}{name}");
                assert_eq!(here.key(name.as_bytes()), hasher.key(Path::new(&path)));
            }
        }
    }
}
