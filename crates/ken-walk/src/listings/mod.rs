//! Listings of folders, kept in a file, so that a folder that did not change need not be listed
//! again.
//!
//! A folder's times change when an entry is added, removed or renamed. On file systems that keep
//! such times (see [`crate::FileSystems`]), a folder with the same inode, size and times therefore has the
//! same entries. A folder that changed within two seconds before a run may have changed again
//! within the same tick of the clock, and is not kept.
//!
//! ```text
//! listings   for each folder: for each entry its type (a byte), the difference of its inode from the
//!            previous one, its name, a 0
//! rows       for each folder, by key: key, stamp, offset, length and CRC-32 of its listing
//! footer     the offset of the rows, a number of the index, the CRC-32 of all before it, MAGIC
//! ```
//!
//! Numbers have 8 bytes (4 for length and CRC-32 of a listing), little-endian, and 7 bits per byte
//! in listings; differences are signed (zigzag). A listing with a wrong checksum counts as missing,
//! so damage misleads no search.

mod recorder;
#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ken_core::{KeyHasher, Stamp, first_from, number_at, put_number, take_number};
use rustix::fs::{FileType, Stat};

use crate::stamp::stamp_of;
pub(crate) use recorder::Batch;
pub use recorder::Recorder;

/// Changes with the format.
const MAGIC: [u8; 8] = *b"kenlist2";
const ROW_BYTES: usize = 32;
const FOOTER_BYTES: usize = 32;
/// The end of the footer, which the checksum does not cover.
const SUM_BYTES: usize = 16;

/// The bytes of a file, mapped or in memory.
type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The folders of an index as they were last listed.
pub struct Listings {
    bytes: Bytes,
    rows: Range<usize>,
    hasher: KeyHasher,
}

/// The position of a folder's listing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: u64,
    stamp: u64,
    /// Offset of the listing.
    offset: u64,
    /// Number of its bytes.
    length: u32,
    /// CRC-32 of its bytes.
    sum: u32,
}

impl Row {
    fn of(bytes: &[u8; ROW_BYTES]) -> Self {
        let last = number_at(bytes, 24);
        Self {
            key: number_at(bytes, 0),
            stamp: number_at(bytes, 8),
            offset: number_at(bytes, 16),
            length: last as u32,
            sum: (last >> 32) as u32,
        }
    }

    fn numbers(&self) -> [u64; ROW_BYTES / 8] {
        let last = u64::from(self.sum) << 32 | u64::from(self.length);
        [self.key, self.stamp, self.offset, last]
    }
}

impl Listings {
    /// Returns the path of the listings of an index.
    pub fn path(index: &Path) -> PathBuf {
        index.join("listings")
    }

    /// Opens the file of an index with its hasher; returns `None` if the file is missing, damaged
    /// at its end, in another format or of another index. The next run that can rewrites it then.
    pub fn open(
        index: &Path,
        hasher: KeyHasher,
        map: impl Fn(&Path) -> io::Result<Bytes>,
    ) -> Option<Self> {
        Self::new(map(&Self::path(index)).ok()?, hasher)
    }

    fn new(bytes: Bytes, hasher: KeyHasher) -> Option<Self> {
        let all = (*bytes).as_ref();
        let footer = all.last_chunk::<FOOTER_BYTES>()?;
        let start = usize::try_from(number_at(footer, 0)).ok()?;
        let rows = start..all.len() - FOOTER_BYTES;
        let is_one = footer.ends_with(&MAGIC)
            && number_at(footer, 8) == hasher.seed()
            && rows.start <= rows.end
            && rows.len().is_multiple_of(ROW_BYTES);
        is_one.then_some(Self {
            bytes,
            rows,
            hasher,
        })
    }

    /// Returns whether all bytes are unchanged since they were written; reads all of them.
    pub fn is_sound(&self) -> bool {
        let all = (*self.bytes).as_ref();
        let (summed, end) = all.split_at(all.len() - SUM_BYTES);
        number_at(end, 0) == u64::from(crc32fast::hash(summed))
    }

    /// Returns the content of a folder, in the order of inodes, if the folder did not change since
    /// it was listed; `stat` is its current state, and `file_system` the number from
    /// [`crate::FileSystems`].
    pub fn of(&self, folder: &Path, stat: &Stat, file_system: u64) -> Option<KeptListing<'_>> {
        let key = self.hasher.key(folder).0;
        let stamp = stamp(&self.hasher, stat, file_system);
        let bytes = self.listing(self.row(self.index_of(key), key, stamp)?)?;
        Some(KeptListing {
            left: bytes,
            inode: 0,
        })
    }

    fn rows(&self) -> &[[u8; ROW_BYTES]] {
        let rows = (*self.bytes).as_ref().get(self.rows.clone());
        rows.unwrap_or_default().as_chunks().0
    }

    /// Returns the index of the row for a key, if it exists.
    fn index_of(&self, key: u64) -> usize {
        first_from(self.rows(), key)
    }

    fn row(&self, index: usize, key: u64, stamp: u64) -> Option<Row> {
        let row = self.rows().get(index).map(Row::of)?;
        (row.key == key && row.stamp == stamp).then_some(row)
    }

    /// Returns the bytes of a listing, if their checksum is right.
    fn listing(&self, row: Row) -> Option<&[u8]> {
        let start = usize::try_from(row.offset).ok()?;
        let listings = (*self.bytes).as_ref().get(..self.rows.start)?;
        let bytes = listings.get(start..)?.get(..row.length as usize)?;
        (crc32fast::hash(bytes) == row.sum).then_some(bytes)
    }
}

/// The kept entries of a folder: name, type and inode.
#[derive(Clone)]
pub struct KeptListing<'a> {
    left: &'a [u8],
    inode: u64,
}

impl<'a> Iterator for KeptListing<'a> {
    type Item = (&'a [u8], FileType, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, rest) = self.left.split_first()?;
        self.left = rest;
        let more = take_number(&mut self.left)?;
        let more = (more >> 1) ^ (more & 1).wrapping_neg();
        self.inode = self.inode.wrapping_add(more);
        let end = memchr::memchr(0, self.left)?;
        let name = &self.left[..end];
        self.left = &self.left[end + 1..];
        let kind = FileType::from_raw_mode(u32::from(*kind) << KIND_SHIFT);
        Some((name, kind, self.inode))
    }
}

/// Reads a file, given the bytes before the number of the index.
#[cfg(any(fuzzing, test))]
pub(crate) fn read_file(bytes: &[u8]) {
    let entries = KeptListing {
        left: bytes,
        inode: 0,
    };
    assert!(entries.count() <= bytes.len());
    let hasher = KeyHasher::new(1, 2);
    let mut file = bytes.to_vec();
    file.extend(hasher.seed().to_le_bytes());
    file.extend(u64::from(crc32fast::hash(&file)).to_le_bytes());
    file.extend(MAGIC);
    let Some(listings) = Listings::new(Box::new(file), hasher) else {
        return;
    };
    assert!(listings.is_sound());
    for row in listings.rows().iter().map(Row::of) {
        let at = listings.index_of(row.key);
        let row = listings.row(at, row.key, row.stamp);
        row.and_then(|row| listings.listing(row));
    }
}

/// Position of the file type in the bits of a mode: inode(7).
const KIND_SHIFT: u32 = 12;

/// Appends entries in the form that [`KeptListing`] reads.
fn put_entries<'a>(entries: impl Iterator<Item = (&'a CStr, FileType, u64)>, out: &mut Vec<u8>) {
    let mut last = 0_u64;
    for (name, kind, inode) in entries {
        // 0 if the file system does not report it.
        out.push(match kind {
            FileType::Unknown => 0,
            known => (known.as_raw_mode() >> KIND_SHIFT) as u8,
        });
        let more = inode.wrapping_sub(last) as i64;
        put_number(((more << 1) ^ (more >> 63)) as u64, out);
        last = inode;
        out.extend_from_slice(name.to_bytes_with_nul());
    }
}

/// Returns a hash that changes with a folder's entries. The size is nearly a sum of them on some
/// file systems: there are versions of Btrfs in which a new subvolume changes nothing else.
fn stamp(hasher: &KeyHasher, stat: &Stat, file_system: u64) -> u64 {
    let Stamp {
        inode,
        size,
        mtime_ns,
        ctime_ns,
        ..
    } = stamp_of(stat, None);
    hasher.number(&[inode, size, mtime_ns as u64, ctime_ns as u64, file_system])
}
