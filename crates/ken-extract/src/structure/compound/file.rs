//! Reads a compound file: a small file system of storages and streams in sectors (MS-CFB).
//!
//! The file is in memory; the table of sectors (FAT) and the directory are read when it is opened.
//! A hostile file may have chains of sectors that loop, and many entries that share one chain. A
//! chain is therefore never longer than the file, and all streams together are read up to a few
//! times its size.

use std::cell::Cell;
use std::collections::HashSet;

use crate::Error;
use crate::structure::cursor::Cursor;
use crate::text::code_page;

const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Sector numbers above this mean that there is no sector.
const MAX_SECTOR: u32 = 0xffff_fffa;
const HEADER_BYTES: usize = 512;
const ENTRY_BYTES: usize = 128;
const MINI_SECTOR_BYTES: usize = 64;
/// How often, on average, each byte of a file may be read as part of a stream.
const MAX_REREADS: u64 = 4;

/// The number of a directory entry.
pub(crate) type EntryId = usize;

/// The outermost storage.
pub(crate) const ROOT: EntryId = 0;

/// A stream or a storage.
struct DirectoryEntry {
    name: String,
    is_stream: bool,
    start: u32,
    size: u64,
    /// Entry numbers: the siblings in the tree of the parent storage, and the root of the entry's
    /// own tree.
    left: u32,
    right: u32,
    child: u32,
    children: Vec<EntryId>,
}

/// An open compound file.
pub(crate) struct Compound<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    fat: Vec<u32>,
    mini_fat: Vec<u32>,
    /// The stream that holds the sectors of small streams.
    mini: Vec<u8>,
    /// Streams shorter than this are in `mini`.
    mini_cutoff: u64,
    entries: Vec<DirectoryEntry>,
    /// Number of bytes of streams that may still be read.
    budget: Cell<u64>,
    is_damaged: Cell<bool>,
}

impl<'a> Compound<'a> {
    /// Opens a compound file.
    ///
    /// # Errors
    /// Fails if the bytes are not a compound file, or its directory cannot be read.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(bytes)
            .ok_or_else(|| Error::Malformed("the header of the compound file is damaged".into()))?;
        let mut file = Self {
            bytes,
            sector_bytes: header.sector_bytes,
            fat: Vec::new(),
            mini_fat: Vec::new(),
            mini: Vec::new(),
            mini_cutoff: header.mini_cutoff,
            entries: Vec::new(),
            budget: Cell::new((bytes.len() as u64).saturating_mul(MAX_REREADS)),
            is_damaged: Cell::new(false),
        };
        file.fat = file.read_fat(&header);
        let directory = file.chain(header.directory, u64::MAX);
        file.entries = directory.chunks_exact(ENTRY_BYTES).map(entry).collect();
        let Some(root) = file.entries.first() else {
            return Err(Error::Malformed(
                "the compound file has no directory".into(),
            ));
        };
        file.mini = file.chain(root.start, root.size);
        let mini_fat = file.chain(header.mini_fat, u64::MAX);
        file.mini_fat = numbers(&mini_fat);
        file.link_children();
        Ok(file)
    }

    /// Collects the sector table; its own sectors are listed in the header and in a chain.
    fn read_fat(&self, header: &Header) -> Vec<u32> {
        let n_sectors = self.bytes.len() / self.sector_bytes + 1;
        let mut fat = Vec::new();
        let mut add = |sectors: &[u32]| {
            for &number in sectors {
                if number < MAX_SECTOR && fat.len() < n_sectors {
                    fat.extend(numbers(self.sector(number)));
                }
            }
        };
        add(&header.fat_sectors);
        let mut next = header.more_fat_sectors;
        let mut n_left = n_sectors;
        while next < MAX_SECTOR && n_left > 0 {
            let mut list = numbers(self.sector(next));
            next = list.pop().unwrap_or(u32::MAX);
            add(&list);
            n_left -= 1;
        }
        fat
    }

    /// Returns a sector, or the part of it that is in the file.
    fn sector(&self, number: u32) -> &'a [u8] {
        // The header takes the place of one sector, or of the start of one.
        let start = (number as usize + 1).saturating_mul(self.sector_bytes);
        let end = start
            .saturating_add(self.sector_bytes)
            .min(self.bytes.len());
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Reads a chain of sectors, up to `size` bytes.
    fn chain(&self, start: u32, size: u64) -> Vec<u8> {
        let mut content = Vec::new();
        let mut next = start;
        while next < MAX_SECTOR && (content.len() as u64) < size {
            let sector = self.sector(next);
            if sector.is_empty() || content.len() > self.bytes.len() {
                self.is_damaged.set(true);
                break;
            }
            content.extend_from_slice(sector);
            next = self.fat.get(next as usize).copied().unwrap_or(u32::MAX);
        }
        self.cut(content, size)
    }

    fn mini_chain(&self, start: u32, size: u64) -> Vec<u8> {
        let mut content = Vec::new();
        let mut next = start;
        while next < MAX_SECTOR && (content.len() as u64) < size {
            let at = (next as usize).saturating_mul(MINI_SECTOR_BYTES);
            let end = at.saturating_add(MINI_SECTOR_BYTES).min(self.mini.len());
            let sector = self.mini.get(at..end).unwrap_or_default();
            if sector.is_empty() || content.len() > self.mini.len() {
                self.is_damaged.set(true);
                break;
            }
            content.extend_from_slice(sector);
            next = self
                .mini_fat
                .get(next as usize)
                .copied()
                .unwrap_or(u32::MAX);
        }
        self.cut(content, size)
    }

    fn cut(&self, mut content: Vec<u8>, size: u64) -> Vec<u8> {
        if size == u64::MAX {
            return content;
        }
        if (content.len() as u64) < size {
            self.is_damaged.set(true);
        } else {
            content.truncate(size as usize);
        }
        content
    }

    /// Finds the entries of each storage; each entry belongs to at most one storage.
    fn link_children(&mut self) {
        let mut seen = HashSet::from([ROOT as u32]);
        let mut open = vec![(self.entries[ROOT].child, ROOT)];
        while let Some((number, storage)) = open.pop() {
            let Some(entry) = self.entries.get(number as usize) else {
                continue;
            };
            if !seen.insert(number) {
                continue;
            }
            open.push((entry.left, storage));
            open.push((entry.right, storage));
            if !entry.is_stream {
                open.push((entry.child, number as usize));
            }
            self.entries[storage].children.push(number as usize);
        }
        for entry in &mut self.entries {
            entry.children.sort_unstable();
        }
    }

    /// Returns the entries of a storage, in the order of their creation.
    pub(crate) fn children(&self, storage: EntryId) -> &[EntryId] {
        &self.entries[storage].children
    }

    /// Returns the name of a stream or storage.
    pub(crate) fn name(&self, id: EntryId) -> &str {
        &self.entries[id].name
    }

    /// Returns whether an entry is a stream.
    pub(crate) fn is_stream(&self, id: EntryId) -> bool {
        self.entries[id].is_stream
    }

    /// Finds a stream or storage by its name.
    pub(crate) fn find(&self, storage: EntryId, name: &str) -> Option<EntryId> {
        let is_it = |id: &&EntryId| self.entries[**id].name.eq_ignore_ascii_case(name);
        self.children(storage).iter().find(is_it).copied()
    }

    /// Reads a stream; missing parts of a damaged one are left out.
    pub(crate) fn read(&self, id: EntryId) -> Vec<u8> {
        let entry = &self.entries[id];
        // No stream is longer than its file.
        let size = entry.size.min(self.bytes.len() as u64);
        let Some(budget) = self.budget.get().checked_sub(size) else {
            self.is_damaged.set(true);
            return Vec::new();
        };
        self.budget.set(budget);
        if size < entry.size {
            self.is_damaged.set(true);
        }
        if entry.size < self.mini_cutoff {
            self.mini_chain(entry.start, size)
        } else {
            self.chain(entry.start, size)
        }
    }

    /// Reads the stream with this name; none if it does not exist.
    pub(crate) fn stream(&self, storage: EntryId, name: &str) -> Option<Vec<u8>> {
        let id = self.find(storage, name)?;
        self.is_stream(id).then(|| self.read(id))
    }

    /// Ends reading.
    ///
    /// # Errors
    /// Fails if a stream could not be read to its end.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        if self.is_damaged.get() {
            return Err(Error::Malformed(
                "a stream of the compound file is cut off".into(),
            ));
        }
        Ok(())
    }
}

struct Header {
    sector_bytes: usize,
    directory: u32,
    mini_cutoff: u64,
    mini_fat: u32,
    more_fat_sectors: u32,
    fat_sectors: Vec<u32>,
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER_BYTES)?;
        if !header.starts_with(SIGNATURE) {
            return None;
        }
        let sector_bytes = match header[30] {
            shift @ 7..=16 => 1 << shift,
            _ => return None,
        };
        let mut fields = Cursor(&header[48..]);
        let directory = fields.le_u32()?;
        fields.take(4)?;
        let mini_cutoff = u64::from(fields.le_u32()?);
        let mini_fat = fields.le_u32()?;
        fields.take(4)?;
        let more_fat_sectors = fields.le_u32()?;
        fields.take(4)?;
        Some(Self {
            sector_bytes,
            directory,
            mini_cutoff,
            mini_fat,
            more_fat_sectors,
            fat_sectors: numbers(fields.0),
        })
    }
}

fn entry(bytes: &[u8]) -> DirectoryEntry {
    let number =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let name_bytes = usize::from(u16::from_le_bytes([bytes[64], bytes[65]])).clamp(2, 64) - 2;
    DirectoryEntry {
        name: code_page::utf16(&bytes[..name_bytes]).into_owned(),
        is_stream: bytes[66] == 2,
        start: number(116),
        // Old files hold noise in the upper half.
        size: u64::from(number(120)),
        left: number(68),
        right: number(72),
        child: number(76),
        children: Vec::new(),
    }
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    let numbers = bytes.as_chunks::<4>().0;
    numbers.iter().copied().map(u32::from_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::compound::rebuild::compound_of;

    #[test]
    fn streams_are_found_in_storages() {
        let long = vec![7; 5000];
        let file = compound_of(&[("a", b"short"), ("box/b", &long), ("box/c", b"")]);
        let file = Compound::open(&file).unwrap();
        assert_eq!(file.stream(ROOT, "A").unwrap(), b"short");
        let folder = file.find(ROOT, "box").unwrap();
        assert!(!file.is_stream(folder));
        assert_eq!(file.stream(folder, "b").unwrap(), long);
        assert_eq!(file.stream(folder, "c").unwrap(), b"");
        assert!(file.stream(ROOT, "b").is_none());
        assert!(file.finish().is_ok());
    }

    #[test]
    fn a_chain_that_loops_ends() {
        let mut file = compound_of(&[("a", &[7; 5000])]);
        let good = Compound::open(&file).unwrap();
        let start = good.entries[1].start;
        drop(good);
        // The table follows the header. The second sector of the stream points back to the first.
        let second = 512 + 4 * (start as usize + 1);
        file[second..second + 4].copy_from_slice(&start.to_le_bytes());
        let bad = Compound::open(&file).unwrap();
        assert_eq!(bad.stream(ROOT, "a").unwrap().len(), 5000);
    }

    #[test]
    fn streams_that_share_a_chain_are_read_a_few_times() {
        let names: Vec<String> = (0..40).map(|n| format!("s{n}")).collect();
        let content = vec![7; 50_000];
        let mut parts: Vec<(&str, &[u8])> = vec![("first", &content)];
        parts.extend(names.iter().map(|name| (&**name, &b""[..])));
        let file = compound_of(&parts);
        let mut file = Compound::open(&file).unwrap();
        let (start, size) = (file.entries[1].start, file.entries[1].size);
        for entry in &mut file.entries[2..] {
            (entry.start, entry.size) = (start, size);
        }
        let total: usize = (1..file.entries.len()).map(|id| file.read(id).len()).sum();
        assert!(total <= 5 * file.bytes.len());
        assert!(file.finish().is_err());
    }
}
