//! What one folder holds: names, sorts and inodes, read with `getdents` into reused buffers.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::rules::Found;

/// The entries of a folder, in the order of the file system.
#[derive(Default)]
pub(super) struct Listing {
    buffer: Vec<u8>,
    /// Names, each with its NUL.
    names: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    /// Which ignore files there are.
    pub(super) found: Found,
}

/// One entry of a folder.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    name: usize,
    /// How many bytes the name has, without its NUL.
    length: usize,
    pub(super) inode: u64,
    /// Its sort, as far as the file system tells without `stat`.
    pub(super) kind: FileType,
}

impl Listing {
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.found = Found::default();
    }

    /// Reads a folder; after an error it holds what could be read.
    pub(super) fn read(&mut self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        self.clear();
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = ken_walk::each_entry(folder, &mut buffer, |name, kind, inode| {
            self.push(name.to_bytes(), kind, inode);
        });
        self.buffer = buffer;
        outcome
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, name: &[u8], kind: FileType, inode: u64) {
        if name.starts_with(b".") {
            self.found.note(name);
        }
        self.entries.push(Entry {
            name: self.names.len(),
            length: name.len(),
            inode,
            kind,
        });
        self.names.extend_from_slice(name);
        self.names.push(0);
    }

    /// Returns the name of an entry.
    pub(super) fn name(&self, entry: Entry) -> &[u8] {
        &self.names[entry.name..][..entry.length]
    }

    /// Returns the name of an entry as a system call takes it.
    pub(super) fn c_name(&self, entry: Entry) -> &CStr {
        let with_nul = &self.names[entry.name..][..=entry.length];
        CStr::from_bytes_with_nul(with_nul).unwrap_or_default()
    }
}
