//! The clock by which a holder measures its own lease.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the time since the machine was started. Unlike that of [`std::time::Instant`] it goes on while the machine is
/// suspended (`CLOCK_BOOTTIME`, clock_gettime(2)), as the clocks of other machines do.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}
