//! Converts the system's `stat` of a file to a stamp.

use std::os::fd::AsFd;

use ken_core::Stamp;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::FileSystems;

/// Returns the stamp of an open file; none if it is not a regular file.
///
/// # Errors
/// Fails as fstat(2) does.
pub fn file_stamp(file: impl AsFd) -> Result<Option<Stamp>, Errno> {
    let stat = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(stat.st_mode).is_file();
    Ok(is_file.then(|| stamp_of(&stat, FileSystems::default().volume(&file, &stat))))
}

/// Returns the stamp in the system's `stat`, with the volume from [`FileSystems`]. Times outside the years 1677 to
/// 2262 are clamped.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)] // types differ between machines
pub fn stamp_of(stat: &Stat, volume: Option<u64>) -> Stamp {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        ctime_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        inode: stat.st_ino as u64,
        device: stat.st_dev as u64,
        volume,
        sidecar: None,
        mh: None,
    }
}

/// Returns whether an entry of a folder was added or removed since, or the folder itself moved.
pub(crate) fn changed_since(stat: &Stat, since: i64) -> bool {
    let stamp = stamp_of(stat, None);
    stamp.mtime_ns >= since || stamp.ctime_ns >= since
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_range_of_stamps_are_clamped() {
        let mut stat = rustix::fs::stat("/").unwrap();
        stat.st_mtime = i64::MAX as _;
        assert_eq!(stamp_of(&stat, None).mtime_ns, i64::MAX);
    }
}
