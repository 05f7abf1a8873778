//! Knows which file systems change a folder's times whenever its entries change.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Stat, StatFs, StatxAttributes, StatxFlags, fstatfs, fstatvfs, statx};

/// ext2 to ext4, XFS, Btrfs, F2FS, ZFS and tmpfs: statfs(2). File systems of servers or other
/// systems may keep times differently. An overlay may keep the times from before its lower layer
/// was changed, mounted or not.
const KEEPING: [i64; 6] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0x0102_1994,
];

/// Identifies the file systems of folders; asks the system once where many of one follow each
/// other.
#[derive(Default)]
pub struct FileSystems {
    /// The last device, and the number of its file system.
    last: Option<(u64, Option<u64>)>,
}

impl FileSystems {
    /// Returns a number of the file system of an open folder, which stays the same after a remount;
    /// none if the file system is not known to change a folder's times with its entries.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
    pub fn number(&mut self, folder: BorrowedFd<'_>, stat: &Stat) -> Option<u64> {
        let device = stat.st_dev as u64;
        match self.last {
            Some((last, number)) if last == device => number,
            _ => {
                let number = number(folder);
                self.last = Some((device, number));
                number
            }
        }
    }
}

#[allow(clippy::unnecessary_cast)] // types differ between machines
fn number(folder: BorrowedFd<'_>) -> Option<u64> {
    let kind = |of: StatFs| of.f_type as i64;
    let kind = fstatfs(folder).ok().map(kind)?;
    let id = fstatvfs(folder).ok()?.f_fsid as u64;
    KEEPING
        .contains(&kind)
        .then_some(id ^ (kind as u64).rotate_left(32))
}

/// Returns whether the names in a folder depend on whether a key is loaded (fscrypt).
pub(super) fn is_encrypted(folder: BorrowedFd<'_>) -> bool {
    let look = statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::TYPE);
    look.map_or(true, |of| {
        of.stx_attributes.contains(StatxAttributes::ENCRYPTED)
    })
}
