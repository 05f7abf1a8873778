//! Whether cores rest while there is work: those who do it mostly wait for a disk then, or other programs use the cores.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Within less time, it is not told.
const LOOK: Duration = Duration::from_micros(if cfg!(test) { 0 } else { 500 });

/// What this process used of some cores.
pub(super) struct Cores {
    n: u32,
    since: Instant,
    used: Duration,
}

impl Cores {
    /// Looks at as many cores as there are threads to use them, from now on.
    pub(super) fn of(n_threads: usize) -> Self {
        Self {
            n: u32::try_from(n_threads).unwrap_or(u32::MAX),
            since: Instant::now(),
            used: cpu_time(),
        }
    }

    /// Returns whether they rested since this was asked last. In the tests of a walk they always do.
    pub(super) fn rest(&mut self) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed < LOOK {
            return false;
        }
        let used = cpu_time();
        let rest = rest(self.n, elapsed, used.saturating_sub(self.used));
        (self.since, self.used) = (Instant::now(), used);
        rest || cfg!(test)
    }
}

/// Returns whether some cores were used for less than three quarters of a time.
fn rest(n: u32, elapsed: Duration, used: Duration) -> bool {
    used.saturating_mul(4) < elapsed.saturating_mul(n).saturating_mul(3)
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_rest_that_are_used_little() {
        let ms = Duration::from_millis;
        for (n, elapsed, used, expected) in [
            (1, 4, 3, false),
            (1, 4, 2, true),
            (2, 4, 6, false),
            (2, 4, 5, true),
            (64, 10, 640, false),
            (64, 10, 20, true),
        ] {
            let found = rest(n, ms(elapsed), ms(used));
            assert_eq!(found, expected, "{used} of {n} times {elapsed} ms");
        }
    }
}
