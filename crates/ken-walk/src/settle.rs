//! Racy files: how long until a stamp can be trusted.
//!
//! A file system stamps changes with a coarse clock (4 to 10 ms on Linux). A file that is read
//! within the tick of its last change may change again without a new stamp, and the index would
//! keep the old content for ever. Git calls such entries "racily clean". ken waits for the end of
//! the tick before it reads.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ken_core::Stamp;

/// Two ticks of the slowest usual clock (100 Hz).
const TICK: Duration = Duration::from_millis(20);

/// Returns how long to wait before the file is examined again and read, if at all.
///
/// Only `ctime` counts, which programs cannot set. If it is in the future, the file is on a server
/// with a different clock, and waiting would not help.
pub fn settle(stamp: &Stamp, now: SystemTime) -> Option<Duration> {
    let now_ns = i128::try_from(now.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()?;
    let age_ns = u64::try_from(now_ns - i128::from(stamp.ctime_ns)).ok()?;
    TICK.checked_sub(Duration::from_nanos(age_ns))
        .filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_changed_just_now_are_waited_for() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let changed = |age_ns: i64| Stamp {
            size: 0,
            mtime_ns: 0,
            ctime_ns: 1_000_000_000_000 - age_ns,
            inode: 0,
            device: 0,
            sidecar: None,
            mh: None,
        };
        assert_eq!(settle(&changed(0), now), Some(TICK));
        assert_eq!(
            settle(&changed(5_000_000), now),
            Some(Duration::from_millis(15))
        );
        assert_eq!(settle(&changed(20_000_000), now), None);
        assert_eq!(settle(&changed(-1), now), None);
        assert_eq!(settle(&changed(i64::MAX), now), None);
    }
}
