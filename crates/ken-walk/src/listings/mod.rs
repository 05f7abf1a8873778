//! What folders held when they were listed, kept in a file: one that did not change since need not be listed again.
//!
//! A folder's times change when an entry comes, goes or is renamed, so with the same inode and times it has the
//! same entries. Who changed shortly before it was listed may have changed once more within the same tick of the
//! clock, and is not kept; nor is a folder of a file system that is not known to keep such times.
//!
//! ```text
//! listings   for each folder: how many entries; of each the sort (a byte), how much greater its inode is than that
//!            of the one before, its name, a 0
//! rows       for each folder, by key: key, stamp, where its listing begins
//! footer     where the rows begin, a number of the index, the CRC-32 of all before it, MAGIC
//! ```
//!
//! Numbers of rows and footer have 8 bytes, little-endian, those of listings 7 bits to a byte; differences are
//! signed (zigzag). What is read of a damaged file is nonsense, but within bounds; its checksum is compared when
//! somebody asks for it.

mod recorder;
#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ken_core::{KeyHasher, Stamp, first_from, number_at, put_number, take_number};
use rustix::fs::{FileType, Stat};

use crate::folder::stamp_of;
pub(crate) use recorder::Batch;
pub use recorder::Recorder;

/// Changes with the format.
const MAGIC: [u8; 8] = *b"kenlist1";
const ROW_BYTES: usize = 24;
const FOOTER_BYTES: usize = 32;
/// The end of it, which has no checksum.
const SUM_BYTES: usize = 16;

/// The bytes of a file, mapped or in memory.
type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// The folders of an index as they were listed last.
pub struct Listings {
    bytes: Bytes,
    rows: Range<usize>,
    hasher: KeyHasher,
}

impl Listings {
    /// Returns where the file of an index is.
    pub fn path(index: &Path) -> PathBuf {
        index.join("listings")
    }

    /// Opens the file of an index, whose hasher is told; `None` if it is not there, damaged at its end, of another
    /// format or of another index.
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

    /// Returns whether all bytes are as they were written; reads all of them.
    pub fn is_sound(&self) -> bool {
        let all = (*self.bytes).as_ref();
        let (summed, end) = all.split_at(all.len() - SUM_BYTES);
        number_at(end, 0) == u64::from(crc32fast::hash(summed))
    }

    /// Returns what a folder holds, in the order of inodes, if it is as it was when it was listed; `stat` tells how
    /// it is now.
    pub fn of(&self, folder: &Path, stat: &Stat) -> Option<KeptListing<'_>> {
        let FolderStamp { key, stamp } = FolderStamp::new(&self.hasher, folder, stat);
        let row = self.row(key)?;
        (number_at(row, 8) == stamp).then(|| self.listing(row))?
    }

    fn rows(&self) -> &[[u8; ROW_BYTES]] {
        let rows = (*self.bytes).as_ref().get(self.rows.clone());
        rows.unwrap_or_default().as_chunks().0
    }

    fn row(&self, key: u64) -> Option<&[u8; ROW_BYTES]> {
        let rows = self.rows();
        let row = rows.get(first_from(rows, key))?;
        (number_at(row, 0) == key).then_some(row)
    }

    fn listing(&self, row: &[u8; ROW_BYTES]) -> Option<KeptListing<'_>> {
        let start = usize::try_from(number_at(row, 16)).ok()?;
        let listings = (*self.bytes).as_ref().get(..self.rows.start)?;
        let mut left = listings.get(start..)?;
        let n = take_number(&mut left)?;
        Some(KeptListing { left, n, inode: 0 })
    }
}

/// The entries of a folder, as they were kept: name, sort and inode.
#[derive(Clone)]
pub struct KeptListing<'a> {
    left: &'a [u8],
    n: u64,
    inode: u64,
}

impl<'a> Iterator for KeptListing<'a> {
    type Item = (&'a CStr, FileType, u64);

    fn next(&mut self) -> Option<Self::Item> {
        self.n = self.n.checked_sub(1)?;
        let (sort, rest) = self.left.split_first()?;
        self.left = rest;
        let more = take_number(&mut self.left)?;
        let more = (more >> 1) ^ (more & 1).wrapping_neg();
        self.inode = self.inode.wrapping_add(more);
        let name = CStr::from_bytes_until_nul(self.left).ok()?;
        self.left = &self.left[name.to_bytes_with_nul().len()..];
        let kind = FileType::from_raw_mode(u32::from(*sort) << SORT_SHIFT);
        Some((name, kind, self.inode))
    }
}

/// The bits of a mode that tell the sort of a file begin here: inode(7).
const SORT_SHIFT: u32 = 12;

/// Returns the sort of an entry as a byte; 0 if the file system does not tell.
fn sort(kind: FileType) -> u8 {
    match kind {
        FileType::Unknown => 0,
        known => (known.as_raw_mode() >> SORT_SHIFT) as u8,
    }
}

/// Which folder it is, and how it was.
struct FolderStamp {
    key: u64,
    stamp: u64,
}

impl FolderStamp {
    fn new(hasher: &KeyHasher, folder: &Path, stat: &Stat) -> Self {
        let stamp = stamp_of(stat);
        // The size of a folder tells less than its inode.
        let stamp = Stamp {
            size: stamp.inode,
            ..stamp
        };
        Self {
            key: hasher.key(folder).0,
            stamp: stamp.token(hasher, 0),
        }
    }
}

fn put_entries<'a>(
    n: u64,
    entries: impl Iterator<Item = (&'a CStr, FileType, u64)>,
    out: &mut Vec<u8>,
) {
    put_number(n, out);
    let mut last = 0_u64;
    for (name, kind, inode) in entries {
        out.push(sort(kind));
        let more = inode.wrapping_sub(last) as i64;
        put_number(((more << 1) ^ (more >> 63)) as u64, out);
        last = inode;
        out.extend_from_slice(name.to_bytes_with_nul());
    }
}
