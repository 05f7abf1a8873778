//! What file systems promise: which of them number files for good, and which change a folder's times
//! whenever its entries change.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Stat, StatFs, StatxAttributes, StatxFlags, fstatfs, fstatvfs, statx,
};

const EXT: i64 = 0xef53;
const XFS: i64 = 0x5846_5342;
const BTRFS: i64 = 0x9123_683e;
const F2FS: i64 = 0xf2f5_2010;
const ZFS: i64 = 0x2fc1_2fc1;
const TMPFS: i64 = 0x0102_1994;

/// File systems that change a folder's times with its entries: statfs(2). File systems of servers or
/// other systems may keep times differently. An overlay may keep the times from before its lower
/// layer was changed, mounted or not.
const KEEPING: [i64; 6] = [EXT, XFS, BTRFS, F2FS, ZFS, TMPFS];

/// Those whose number comes from an identifier on the disk, or from that of the mount of a tmpfs.
/// Others make it from the number of the device, which may change with every mount.
const NUMBERED: [i64; 4] = [EXT, BTRFS, ZFS, TMPFS];

/// File systems that may give an unchanged file another inode: FAT, exFAT, FUSE, SMB (three
/// versions), 9P, VirtualBox. Some number the files as they are met.
const RENUMBERING: [i64; 8] = [
    0x4d44,
    0x2011_bab0,
    0x6573_5546,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x0102_1997,
    0x786f_4256,
];

/// A file system, as statfs(2) describes it.
#[derive(Clone, Copy)]
struct FileSystem {
    kind: i64,
    id: u64,
}

impl FileSystem {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)] // types differ between machines
    fn of(open: impl AsFd) -> Option<Self> {
        // A magic number has 32 bits, and is negative in a signed type of as many.
        let kind = |of: StatFs| i64::from(of.f_type as u32);
        Some(Self {
            kind: fstatfs(&open).ok().map(kind)?,
            id: fstatvfs(&open).ok()?.f_fsid as u64,
        })
    }

    fn number(self) -> Option<u64> {
        let number = self.id ^ (self.kind as u64).rotate_left(32);
        KEEPING.contains(&self.kind).then_some(number)
    }

    fn volume(self) -> Option<u64> {
        let number = match NUMBERED.contains(&self.kind) {
            true => self.id,
            false => 0,
        };
        (!RENUMBERING.contains(&self.kind)).then_some(number)
    }
}

/// The file systems that a thread met; asks the system once for each device.
#[derive(Default)]
pub struct FileSystems {
    /// Each device with its file system, the last one that was asked for first.
    known: Vec<(u64, FileSystem)>,
}

/// Maximum number of devices that are remembered; a folder of snapshots may have many.
const MAX_KNOWN: usize = 64;

impl FileSystems {
    /// Returns a number of the file system of an open folder, which stays the same after a remount;
    /// none if the file system is not known to change a folder's times with its entries.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
    pub fn number(&mut self, folder: BorrowedFd<'_>, stat: &Stat) -> Option<u64> {
        let found = self.of(stat.st_dev as u64, || FileSystem::of(folder));
        found.and_then(FileSystem::number)
    }

    /// Returns the [volume](ken_core::Stamp::volume) of an open file.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
    pub fn volume(&mut self, file: impl AsFd, stat: &Stat) -> Option<u64> {
        let found = self.of(stat.st_dev as u64, || FileSystem::of(file));
        found.and_then(FileSystem::volume)
    }

    /// Returns the [volume](ken_core::Stamp::volume) of a file in an open folder. The file may be a
    /// mount point.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
    pub fn volume_at(&mut self, folder: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> Option<u64> {
        let look = || {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?;
            let is_it = rustix::fs::fstat(&file).is_ok_and(|now| now.st_dev == stat.st_dev);
            is_it.then(|| FileSystem::of(&file)).flatten()
        };
        let found = self.of(stat.st_dev as u64, look);
        found.and_then(FileSystem::volume)
    }

    fn of(&mut self, device: u64, look: impl FnOnce() -> Option<FileSystem>) -> Option<FileSystem> {
        match self.known.iter().position(|(known, _)| *known == device) {
            Some(0) => {}
            Some(at) => self.known.swap(0, at),
            None => {
                self.known.truncate(MAX_KNOWN - 1);
                self.known.insert(0, (device, look()?));
            }
        }
        self.known.first().map(|(_, found)| *found)
    }
}

/// Returns the [volume](ken_core::Stamp::volume) of the file at a path.
pub(crate) fn volume_of_path(path: &std::path::Path, stat: &Stat) -> Option<u64> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty()).ok()?;
    FileSystems::default().volume(&file, stat)
}

/// Returns whether the names in a folder depend on whether a key is loaded (fscrypt).
pub(crate) fn is_encrypted(folder: BorrowedFd<'_>) -> bool {
    let look = statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::TYPE);
    look.map_or(true, |of| {
        of.stx_attributes.contains(StatxAttributes::ENCRYPTED)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inodes_count_where_they_last() {
        let volume = |kind| FileSystem { kind, id: 7 }.volume();
        assert_eq!(volume(EXT), Some(7));
        // Its number changes with that of the device.
        assert_eq!(volume(XFS), Some(0));
        assert_eq!(volume(0x6573_5546), None);
    }

    #[test]
    fn a_file_has_the_volume_of_its_folder_unless_it_is_mounted() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("a"), "").unwrap();
        let open = fs_err::File::open(folder.path()).unwrap();
        let stat = rustix::fs::statat(&open, c"a", AtFlags::empty()).unwrap();
        let mut systems = FileSystems::default();
        let volume = systems.volume(&open, &stat);
        assert_eq!(systems.known.len(), 1);
        let mut others = FileSystems::default();
        assert_eq!(others.volume_at(open.as_fd(), c"a", &stat), volume);
        let mut elsewhere = stat;
        elsewhere.st_dev += 1;
        assert_eq!(others.volume_at(open.as_fd(), c"a", &elsewhere), None);
        assert_eq!(others.known.len(), 1, "what is not known is asked again");
    }
}
