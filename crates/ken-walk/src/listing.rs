//! The content of one folder: names, types and inodes, read with `getdents` into reused buffers.
//!
//! The whole folder is read before its entries are examined, for two reasons. Its ignore files
//! apply to all of them. In the order of inodes, both `stat` and later reading are nearly
//! sequential on rotating disks (mu's finding).

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use crate::rules::IgnoreFiles;
use crate::stamp::stamp_of;

/// Number of bytes that one system call requests.
const BUFFER_BYTES: usize = 32 * 1024;

/// The order in which the entries of a folder are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryOrder {
    /// By inode, which roughly follows the disk.
    #[default]
    Inode,
    /// By name.
    Path,
    /// By time of change, the latest first.
    Mtime,
}

/// The entries of a folder.
#[derive(Default)]
pub struct Listing {
    buffer: Vec<u8>,
    /// Names, each with its NUL.
    names: Vec<u8>,
    /// The entries, in the order of the file system until they are sorted.
    pub entries: Vec<Entry>,
    /// Which ignore files there are.
    pub ignore_files: IgnoreFiles,
}

/// One entry of a folder.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Offset of the name.
    name: usize,
    /// Length of the name, without its NUL.
    length: usize,
    /// The number of the inode.
    pub inode: u64,
    /// The type of the file, as far as the file system reports it without `stat`.
    pub kind: FileType,
}

impl Listing {
    /// Removes all entries.
    pub fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.ignore_files = IgnoreFiles::default();
    }

    /// Reads an open folder, without `.` and `..`.
    ///
    /// # Errors
    /// Fails if the rest of the folder cannot be read; the listing keeps what was read before.
    pub fn read(&mut self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        self.clear();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.reserve(BUFFER_BYTES);
        let outcome = self.read_entries(RawDir::new(folder, buffer.spare_capacity_mut()));
        self.buffer = buffer;
        outcome
    }

    fn read_entries(&mut self, mut entries: RawDir<'_, BorrowedFd<'_>>) -> Result<(), Errno> {
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                self.push(name, entry.file_type(), entry.ino());
            }
        }
        Ok(())
    }

    /// Adds an entry.
    pub fn push(&mut self, name: &[u8], kind: FileType, inode: u64) {
        if name.starts_with(b".") {
            self.ignore_files.note(name);
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

    /// Sorts the entries of an open folder.
    pub fn sort(&mut self, folder: BorrowedFd<'_>, order: EntryOrder) {
        let mut entries = std::mem::take(&mut self.entries);
        match order {
            EntryOrder::Inode => entries.sort_unstable_by_key(|entry| entry.inode),
            EntryOrder::Path => {
                entries.sort_unstable_by(|a, b| self.name(*a).cmp(self.name(*b)));
            }
            EntryOrder::Mtime => entries.sort_by_cached_key(|entry| {
                let name = self.c_name(*entry);
                let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
                let stamp = stat.ok().map(|stat| stamp_of(&stat, None));
                std::cmp::Reverse(stamp.map(|stamp| stamp.mtime_ns))
            }),
        }
        self.entries = entries;
    }

    /// Returns the name of an entry.
    pub fn name(&self, entry: Entry) -> &[u8] {
        &self.names[entry.name..][..entry.length]
    }

    /// Returns the name of an entry for a system call.
    pub fn c_name(&self, entry: Entry) -> &CStr {
        let with_nul = &self.names[entry.name..][..=entry.length];
        CStr::from_bytes_with_nul(with_nul).unwrap_or_default()
    }
}
