//! Writes a storage as a separate compound file, so that an embedded document or message is a
//! member like any other file.
//!
//! The file has the simplest form that [`Compound`] reads: every stream in whole sectors, storages
//! as chains to the right.

use super::{Compound, EntryId};

const SECTOR: usize = 512;
const NONE: u32 = 0xffff_ffff;
const END: u32 = 0xffff_fffe;
const FAT: u32 = 0xffff_fffd;
/// Storages nested deeper are left out; no program nests them so deep.
const MAX_DEPTH: usize = 16;

/// An entry to write: its name, its content (none for a storage), and the storage it is in.
struct Entry {
    name: String,
    content: Option<Vec<u8>>,
    parent: usize,
}

/// The outermost storage of a file under construction.
pub(crate) const STORAGE_ROOT: usize = 0;

/// A compound file under construction.
pub(crate) struct Builder {
    parts: Vec<Entry>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            parts: vec![Entry {
                name: "Root Entry".to_owned(),
                content: None,
                parent: STORAGE_ROOT,
            }],
        }
    }

    /// Adds a storage in a storage.
    pub(crate) fn storage(&mut self, parent: usize, name: &str) -> usize {
        self.add(parent, name, None)
    }

    /// Adds a stream in a storage.
    pub(crate) fn stream(&mut self, parent: usize, name: &str, content: Vec<u8>) {
        self.add(parent, name, Some(content));
    }

    fn add(&mut self, parent: usize, name: &str, content: Option<Vec<u8>>) -> usize {
        self.parts.push(Entry {
            name: name.to_owned(),
            content,
            parent,
        });
        self.parts.len() - 1
    }

    /// Returns the file.
    pub(crate) fn finish(self) -> Vec<u8> {
        write(&self.parts)
    }
}

/// Returns a storage, with everything in it, as a file.
pub(super) fn rebuild(file: &Compound<'_>, storage: EntryId) -> Vec<u8> {
    let mut builder = Builder::new();
    copy(file, storage, STORAGE_ROOT, 0, &mut builder);
    builder.finish()
}

fn copy(file: &Compound<'_>, from: EntryId, to: usize, depth: usize, builder: &mut Builder) {
    for &id in file.children(from) {
        if file.is_stream(id) {
            builder.stream(to, file.name(id), file.read(id));
        } else if depth < MAX_DEPTH {
            let storage = builder.storage(to, file.name(id));
            copy(file, id, storage, depth + 1, builder);
        }
    }
}

fn write(parts: &[Entry]) -> Vec<u8> {
    let sectors_of = |bytes: usize| bytes.div_ceil(SECTOR);
    let n_directory = sectors_of(parts.len() * 128);
    let content = |part: &Entry| part.content.as_ref().map_or(0, Vec::len);
    let n_data: usize = parts.iter().map(|part| sectors_of(content(part))).sum();
    // The table needs sectors for its own sectors too, and for lists of them beyond the header's.
    let mut n_fat = 0;
    let mut n_lists = 0;
    while n_fat * 128 < n_fat + n_lists + n_directory + n_data {
        n_fat = (n_fat + n_lists + n_directory + n_data).div_ceil(128);
        n_lists = n_fat.saturating_sub(109).div_ceil(127);
    }
    let mut fat = vec![FAT; n_fat + n_lists];
    let mut next = n_fat + n_lists;
    let mut chain = |n_sectors: usize, fat: &mut Vec<u32>| {
        let start = next;
        next += n_sectors;
        fat.extend((start + 1..next).map(|number| number as u32));
        fat.extend((n_sectors > 0).then_some(END));
        if n_sectors > 0 { start as u32 } else { END }
    };
    let directory_start = chain(n_directory, &mut fat);
    let starts: Vec<u32> = parts
        .iter()
        .map(|part| chain(sectors_of(content(part)), &mut fat))
        .collect();
    fat.resize(n_fat * 128, NONE);

    let mut file = header(n_fat, n_lists, directory_start);
    fat.iter()
        .for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(lists(n_fat, n_lists));
    file.extend(directory(parts, &starts));
    pad(&mut file);
    for part in parts {
        file.extend(part.content.iter().flatten());
        pad(&mut file);
    }
    file
}

fn pad(file: &mut Vec<u8>) {
    file.resize(file.len().next_multiple_of(SECTOR), 0);
}

fn header(n_fat: usize, n_lists: usize, directory: u32) -> Vec<u8> {
    let mut header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    header.resize(24, 0);
    for number in [0x3e_u16, 3, 0xfffe, 9, 6] {
        header.extend(number.to_le_bytes());
    }
    header.resize(44, 0);
    let first_list = if n_lists > 0 { n_fat as u32 } else { END };
    // No stream is short enough for the small sectors.
    for number in [
        n_fat as u32,
        directory,
        0,
        0,
        END,
        0,
        first_list,
        n_lists as u32,
    ] {
        header.extend(number.to_le_bytes());
    }
    for number in 0..109 {
        let number = if number < n_fat { number as u32 } else { NONE };
        header.extend(number.to_le_bytes());
    }
    header
}

/// Returns lists of the table's sectors, each with the number of the next list at its end.
fn lists(n_fat: usize, n_lists: usize) -> Vec<u8> {
    let mut lists = Vec::new();
    for list in 0..n_lists {
        for entry in 0..127 {
            let number = 109 + list * 127 + entry;
            let number = if number < n_fat { number as u32 } else { NONE };
            lists.extend(number.to_le_bytes());
        }
        let next = if list + 1 < n_lists {
            (n_fat + list + 1) as u32
        } else {
            END
        };
        lists.extend(next.to_le_bytes());
    }
    lists
}

fn directory(parts: &[Entry], starts: &[u32]) -> Vec<u8> {
    let mut first_child = vec![NONE; parts.len()];
    let mut next_sibling = vec![NONE; parts.len()];
    for (position, part) in parts.iter().enumerate().skip(1).rev() {
        next_sibling[position] = first_child[part.parent];
        first_child[part.parent] = position as u32;
    }
    let mut directory = Vec::with_capacity(parts.len() * 128);
    for (position, part) in parts.iter().enumerate() {
        let mut entry = vec![0; 128];
        let units = part.name.encode_utf16().take(31);
        let name: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        entry[..name.len()].copy_from_slice(&name);
        entry[64] = name.len() as u8 + 2;
        entry[66] = match (position, &part.content) {
            (0, _) => 5,
            (_, Some(_)) => 2,
            (_, None) => 1,
        };
        let size = part.content.as_ref().map_or(0, Vec::len) as u32;
        for (at, number) in [
            (68, NONE),
            (72, next_sibling[position]),
            (76, first_child[position]),
            (116, starts[position]),
            (120, size),
        ] {
            entry[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        directory.extend(entry);
    }
    directory
}

/// Returns a compound file with streams at these paths, for tests.
#[cfg(test)]
pub(crate) fn compound_of(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new();
    for (path, content) in streams {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut parent = STORAGE_ROOT;
        for step in folder.split('/').filter(|step| !step.is_empty()) {
            let is_it = |part: &Entry| part.parent == parent && part.name == step;
            let found = builder.parts.iter().position(is_it);
            parent = found.unwrap_or_else(|| builder.storage(parent, step));
        }
        builder.stream(parent, name, content.to_vec());
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::compound::ROOT;

    #[test]
    fn a_storage_becomes_a_file() {
        let long = vec![7; 100_000];
        let file = compound_of(&[("out", b"x"), ("in/deep/a", &long), ("in/b", b"short")]);
        let file = Compound::open(&file).unwrap();
        let inner = rebuild(&file, file.find(ROOT, "in").unwrap());
        let inner = Compound::open(&inner).unwrap();
        assert_eq!(inner.stream(ROOT, "b").unwrap(), b"short");
        let deep = inner.find(ROOT, "deep").unwrap();
        assert_eq!(inner.stream(deep, "a").unwrap(), long);
        assert!(inner.stream(ROOT, "out").is_none());
    }

    #[test]
    fn a_large_file_lists_its_table() {
        // 109 sectors of the table cover 7 MB.
        let large = vec![1; 9 << 20];
        let file = compound_of(&[("a", &large), ("b", b"end")]);
        let file = Compound::open(&file).unwrap();
        assert!(file.stream(ROOT, "a").unwrap() == large);
        assert_eq!(file.stream(ROOT, "b").unwrap(), b"end");
    }
}
