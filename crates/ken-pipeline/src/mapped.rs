//! Files that programs may be changing through a mapping, which moves no time.
//!
//! The first write to a page of a mapping moves the times of the file, later ones do not until the page is written
//! back, after half a minute; on a tmpfs no write through a mapping moves a time. A file that is mapped for writing
//! while it is read may therefore change without another stamp. `/proc/PID/maps` tells which files are: of the user's
//! processes, or of all for root.

use std::collections::HashSet;
use std::fs::File;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use ken_core::Stamp;

/// After this time the kernel has written a page back, on a disk that keeps up.
const WRITTEN_BACK: Duration = Duration::from_secs(60);
/// The processes are not looked at more often.
const PAUSE: Duration = Duration::from_secs(1);
/// statfs(2).
const TMPFS: i64 = 0x0102_1994;

/// The files that processes had mapped for writing at a time.
#[derive(Default)]
pub(crate) struct Mapped(RwLock<Option<Look>>);

struct Look {
    at: SystemTime,
    inodes: HashSet<u64>,
}

impl Mapped {
    /// Returns whether an open file with this stamp may change without another one. Only files that changed lately are
    /// looked for, and those on a tmpfs.
    pub(crate) fn may_change(&self, file: &File, stamp: &Stamp) -> bool {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_nanos(stamp.ctime_ns.max(0) as u64);
        let is_old = changed.elapsed().is_ok_and(|age| age > WRITTEN_BACK);
        let is_in_memory = is_on_tmpfs(file);
        if is_old && !is_in_memory {
            return false;
        }
        let among = |look: &Look| look.inodes.contains(&stamp.inode);
        // A program that began to write later is not among what was seen.
        let is_late = |look: &&Look| look.at > changed;
        {
            let seen = self.0.read().unwrap_or_else(PoisonError::into_inner);
            // On a tmpfs a file that is mapped after the look changes without another stamp.
            let counts = |look: &&Look| is_late(look) && !(is_in_memory && look.is_past());
            if let Some(look) = seen.as_ref().filter(counts) {
                return among(look);
            }
        }
        let mut seen = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if seen.as_ref().is_none_or(Look::is_past) {
            *seen = Some(Look::now());
        }
        seen.as_ref().filter(is_late).is_none_or(among)
    }
}

impl Look {
    fn now() -> Self {
        Self {
            at: SystemTime::now(),
            inodes: mapped_inodes(),
        }
    }

    fn is_past(&self) -> bool {
        self.at.elapsed().map_or(true, |age| age > PAUSE)
    }
}

#[allow(clippy::unnecessary_cast)] // types differ between machines
fn is_on_tmpfs(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|of| of.f_type as i64 == TMPFS)
}

/// Returns the inodes of all files that a process has mapped for writing. The device is left out: Btrfs and overlays
/// show another one than `stat`.
fn mapped_inodes() -> HashSet<u64> {
    let processes = fs_err::read_dir("/proc").into_iter().flatten().flatten();
    let is_number = |name: &std::ffi::OsStr| name.as_encoded_bytes()[0].is_ascii_digit();
    let processes = processes.filter(|process| is_number(&process.file_name()));
    let maps = processes.flat_map(|process| fs_err::read(process.path().join("maps")));
    maps.flat_map(|maps| inodes_in(&maps).collect::<Vec<_>>())
        .collect()
}

/// Reads lines as `7f24-7f25 rw-s 00000000 fe:00 12345 /path`.
fn inodes_in(maps: &[u8]) -> impl Iterator<Item = u64> {
    maps.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(|byte| *byte == b' ');
        let is_written = matches!(words.nth(1)?, [_, b'w', _, b's']);
        let inode = is_written.then(|| words.nth(2)).flatten()?;
        let inode: u64 = std::str::from_utf8(inode).ok()?.parse().ok()?;
        (inode != 0).then_some(inode)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_can_be_written_count() {
        let maps = b"5-6 r--s 0 fe:00 11 /a\n6-7 rw-s 0 fe:00 12 /b c\n7-8 rw-p 0 fe:00 13 /d\n\
            8-9 rwxs 1000 00:01 14 /e (deleted)\n9-a rw-s 0 00:00 0 \n";
        assert_eq!(inodes_in(maps).collect::<Vec<_>>(), [12, 14]);
    }

    #[test]
    fn a_file_that_changed_after_the_look_is_not_trusted() {
        let file = tempfile::tempfile().unwrap();
        let mut stamp = ken_walk::file_stamp(&file).unwrap().unwrap();
        let mapped = Mapped::default();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!mapped.may_change(&file, &stamp));
        let later = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        stamp.ctime_ns = later.unwrap().as_nanos() as i64;
        assert!(
            mapped.may_change(&file, &stamp),
            "there was a look just now"
        );
    }
}
