//! Racy files: how long until a stamp can be trusted.
//!
//! A file system stamps changes with a coarse clock: 4 to 10 ms on Linux, one or two seconds in the
//! formats of ext3, ext4 with small inodes, FAT and HFS+ and on servers of these. A file that is read
//! within the tick of its last change may change again without a new stamp, and the index would
//! keep the old content for ever. Git calls such entries "racily clean". ken waits for the end of
//! a short tick before it reads. A file within a long one is read at once, scanned by every search,
//! and read again by the next run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ken_core::Stamp;

/// Two ticks of the slowest usual clock (100 Hz).
const TICK: Duration = Duration::from_millis(20);
/// A tick of FAT, the longest of all.
const LONG_TICK: Duration = Duration::from_millis(2020);
/// A time that is further in the future comes from a clock that was wrong, and says nothing.
const MAX_AHEAD: Duration = Duration::from_secs(3600);

const SECOND_NS: i64 = 1_000_000_000;

/// Whether a file changes its stamp when it changes from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Every change is visible.
    Yes,
    /// Every change is visible after this time.
    In(Duration),
    /// A change may be hidden for longer than is worth waiting.
    No,
}

/// Returns whether the stamp of a file can be trusted, if it is read now.
///
/// Only `ctime` counts, which programs cannot set. A whole second means that the file system has no
/// finer times. A time a little in the future is that of a server with another clock.
pub fn settle(stamp: &Stamp, now: SystemTime) -> Settled {
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let age_ns = since_epoch.as_nanos() as i128 - i128::from(stamp.ctime_ns);
    let is_ahead = age_ns < 0;
    let age = Duration::from_nanos(u64::try_from(age_ns.unsigned_abs()).unwrap_or(u64::MAX));
    match stamp.ctime_ns % SECOND_NS {
        _ if is_ahead && age < MAX_AHEAD => Settled::No,
        _ if is_ahead => Settled::Yes,
        0 if age < LONG_TICK => Settled::No,
        _ if age < TICK => Settled::In(TICK - age),
        _ => Settled::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(age_ns: i64) -> Stamp {
        Stamp {
            size: 0,
            mtime_ns: 0,
            ctime_ns: 1000 * SECOND_NS - age_ns,
            inode: 0,
            device: 0,
            volume: None,
            sidecar: None,
            mh: None,
        }
    }

    #[test]
    fn only_files_changed_just_now_are_waited_for() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let settled = |age_ns| settle(&changed(age_ns), now);
        assert_eq!(settled(1), Settled::In(TICK - Duration::from_nanos(1)));
        assert_eq!(settled(5_000_000), Settled::In(Duration::from_millis(15)));
        assert_eq!(settled(20_000_000), Settled::Yes);
        assert_eq!(settled(1001 * SECOND_NS), Settled::Yes);
    }

    #[test]
    fn whole_seconds_may_hide_a_change_for_seconds() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let settled = |seconds| settle(&changed(seconds * SECOND_NS), now);
        assert_eq!([0, 1, 2].map(settled), [Settled::No; 3]);
        assert_eq!(settled(3), Settled::Yes);
    }

    #[test]
    fn a_clock_that_is_a_little_ahead_is_that_of_a_server() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(settle(&changed(-1), now), Settled::No);
        assert_eq!(settle(&changed(-5000 * SECOND_NS - 1), now), Settled::Yes);
    }
}
