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
            self.push(name, kind, inode);
        });
        self.buffer = buffer;
        outcome
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, name: &CStr, kind: FileType, inode: u64) {
        let bytes = name.to_bytes();
        if bytes.starts_with(b".") {
            self.found.note(bytes);
        }
        self.entries.push(Entry {
            name: self.names.len(),
            inode,
            kind,
        });
        self.names.extend_from_slice(name.to_bytes_with_nul());
    }

    /// Returns the name of an entry.
    pub(super) fn name(&self, entry: Entry) -> &CStr {
        CStr::from_bytes_until_nul(&self.names[entry.name..]).unwrap_or_default()
    }
}
