//! Pictures that were drawn before, in files that only their owner can read.
//!
//! A picture is named by a hash of what the file system says of the open file (device, inode, size,
//! times of modification and change), of the member path and of the order. A file whose content
//! changes gets another time of change, which nothing can set back; so no byte of it is read, and
//! its copies are drawn again.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ken_private::Cache;
use sha2::{Digest, Sha256};

use super::Original;
use crate::picture::{Order, Picture};

/// The version of drawing. It is raised when the same bytes are drawn in another way.
const VERSION: u8 = 1;
/// A file that changed this shortly ago may change again without another time.
const RACY: Duration = Duration::from_secs(2);

/// The kept pictures.
pub(super) struct Kept {
    cache: Cache,
    max_bytes: u64,
    /// Bytes that were put since the folder was last looked through.
    n_put: AtomicU64,
}

/// The place of one picture.
pub(super) struct Entry<'k> {
    kept: &'k Kept,
    name: String,
}

impl Kept {
    pub(super) fn new(folder: PathBuf, max_bytes: u64) -> Self {
        Self {
            cache: Cache::new(folder, max_bytes),
            max_bytes,
            n_put: AtomicU64::new(0),
        }
    }

    /// Returns the place of a picture; none if the file changed just now.
    pub(super) fn entry(&self, original: &Original<'_>, order: Order) -> Option<Entry<'_>> {
        let mut hash = Sha256::new_with_prefix([VERSION]);
        for number in stamp(original.file).ok()?? {
            hash.update(number.to_le_bytes());
        }
        for number in order.to_numbers() {
            hash.update(number.to_le_bytes());
        }
        hash.update(original.ipath.as_str());
        let hash = hash.finalize();
        Some(Entry {
            kept: self,
            name: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

impl Entry<'_> {
    pub(super) fn get(&self) -> Option<Picture> {
        Picture::from_bytes(self.kept.cache.get(&self.name)?)
    }

    pub(super) fn put(&self, picture: &Picture) {
        let Kept {
            cache,
            max_bytes,
            n_put,
        } = self.kept;
        let bytes = picture.to_bytes();
        cache.put(&self.name, &bytes);
        let n_bytes = bytes.len() as u64;
        if n_put.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes > max_bytes / 8 {
            n_put.store(0, Ordering::Relaxed);
            cache.prune();
        }
    }
}

/// Returns what changes when the content of a file does; none if it changed just now.
fn stamp(file: &File) -> io::Result<Option<[i64; 7]>> {
    let metadata = file.metadata()?;
    let changed = Duration::from_secs(u64::try_from(metadata.ctime()).unwrap_or(0));
    let settled = SystemTime::now()
        .duration_since(UNIX_EPOCH + changed)
        .is_ok_and(|age| age > RACY);
    Ok(settled.then_some([
        metadata.dev() as i64,
        metadata.ino() as i64,
        metadata.size() as i64,
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ]))
}
