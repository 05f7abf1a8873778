//! What one folder holds: names, sorts and inodes, read with `getdents` into reused buffers.
//!
//! The whole folder is read before its entries are looked at, for two reasons: its ignore files
//! apply to all of them, and in the order of inodes both `stat` and later reading are nearly
//! sequential on rotating disks (mu's finding).

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, RawDir};
use rustix::io::Errno;

use crate::mh;
use crate::rules::Found;
use crate::scan::EntryOrder;
use crate::sidecar::is_sidecar;

/// Bytes asked for by one system call.
const BUFFER_BYTES: usize = 32 * 1024;
/// A folder that holds a file of this name is left out with all below it.
const MARKER: &[u8] = b".noindex";
/// One with a file of this name is not looked at again (mu's marker for folders that never change).
const HOLDER: &[u8] = b".noupdate";

/// Calls `each` with name, sort and inode of every entry of an open folder but `.` and `..`, in the order
/// of the file system; the buffer is used again and again.
///
/// # Errors
/// Fails if the folder cannot be read on; what was read before was told.
pub fn each_entry(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&CStr, FileType, u64),
) -> Result<(), Errno> {
    buffer.reserve(BUFFER_BYTES);
    let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            each(name, entry.file_type(), entry.ino());
        }
    }
    Ok(())
}

/// The entries of a folder.
#[derive(Default)]
pub(crate) struct Listing {
    buffer: Vec<u8>,
    /// Names, each with its NUL.
    names: Vec<u8>,
    /// In the order of inodes.
    pub(crate) entries: Vec<Entry>,
    /// Which ignore files there are.
    pub(crate) found: Found,
    /// Whether the folder holds the marker.
    pub(crate) is_marked: bool,
    /// Whether it holds the marker of folders that stay as they are in the index.
    pub(crate) is_held: bool,
    /// Whether it holds the list of sequences of MH.
    pub(crate) has_sequences: bool,
    /// How many of `cur` and `new` it holds.
    n_mail_folders: u8,
    /// The names of sidecars.
    pub(crate) sidecars: HashSet<Vec<u8>>,
}

/// One entry of a folder.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) inode: u64,
    name: usize,
    /// Its sort, as far as the file system tells without `stat`.
    pub(crate) kind: FileType,
}

impl Listing {
    /// Reads a folder; after an error it holds what could be read.
    pub(crate) fn read(&mut self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        self.names.clear();
        self.entries.clear();
        self.found = Found::default();
        self.is_marked = false;
        self.is_held = false;
        self.has_sequences = false;
        self.n_mail_folders = 0;
        self.sidecars.clear();
        let outcome = self.read_entries(folder);
        self.entries.sort_unstable_by_key(|entry| entry.inode);
        outcome
    }

    /// Returns whether it holds `cur` and `new`, as a folder of mail does.
    pub(crate) fn is_maildir(&self) -> bool {
        self.n_mail_folders == 2
    }

    /// Puts the entries in another order than that of inodes.
    pub(crate) fn sort(&mut self, folder: BorrowedFd<'_>, order: EntryOrder) {
        let names = &self.names;
        let name =
            |entry: &Entry| CStr::from_bytes_until_nul(&names[entry.name..]).unwrap_or_default();
        match order {
            EntryOrder::Inode => {}
            EntryOrder::Path => self.entries.sort_unstable_by(|a, b| name(a).cmp(name(b))),
            EntryOrder::Mtime => self.entries.sort_by_cached_key(|entry| {
                let stat = rustix::fs::statat(folder, name(entry), AtFlags::SYMLINK_NOFOLLOW);
                let stamp = stat.ok().map(|stat| crate::stamp_of(&stat));
                std::cmp::Reverse(stamp.map(|stamp| stamp.mtime_ns))
            }),
        }
    }

    /// Returns the name of an entry.
    pub(crate) fn name(&self, entry: Entry) -> &CStr {
        CStr::from_bytes_until_nul(&self.names[entry.name..]).unwrap_or_default()
    }

    fn read_entries(&mut self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = each_entry(folder, &mut buffer, |name, kind, inode| {
            self.push(name, kind, inode);
        });
        self.buffer = buffer;
        outcome
    }

    fn push(&mut self, name: &CStr, kind: FileType, inode: u64) {
        let bytes = name.to_bytes();
        if bytes.starts_with(b".") {
            self.found.note(bytes);
            self.is_marked |= bytes == MARKER;
            self.is_held |= bytes == HOLDER;
            self.has_sequences |= bytes == mh::LIST.as_bytes();
        }
        if is_sidecar(bytes) {
            self.sidecars.insert(bytes.to_vec());
        }
        let is_mail_folder = kind != FileType::RegularFile && matches!(bytes, b"cur" | b"new");
        self.n_mail_folders += u8::from(is_mail_folder);
        self.entries.push(Entry {
            inode,
            name: self.names.len(),
            kind,
        });
        self.names.extend_from_slice(name.to_bytes_with_nul());
    }
}
