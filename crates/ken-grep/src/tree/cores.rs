//! Measures whether cores are idle while there is work: then the threads mostly wait for a disk, or
//! other programs use the cores.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Thresholds for threads that wait for a disk.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Maximum time of a folder in memory for each entry; the folder itself takes up to 20 times
    /// that.
    pub(super) entry: Duration,
    /// Minimum time over which the use of cores is measured.
    pub(super) interval: Duration,
    /// Cores that are busy for less of the time count as idle.
    pub(super) least_percent: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            entry: Duration::from_micros(4),
            interval: Duration::from_micros(500),
            least_percent: 75,
        }
    }
}

impl Patience {
    /// Returns whether a folder with `n_entries` took longer than one in memory.
    pub(super) fn is_over(&self, start: Instant, n_entries: usize) -> bool {
        let n_entries = u32::try_from(n_entries).unwrap_or(u32::MAX);
        start.elapsed() > self.entry.saturating_mul(n_entries.saturating_add(20))
    }
}

/// How much this process uses some cores.
pub(super) struct Cores {
    n: u32,
    patience: Patience,
    since: Instant,
    used: Duration,
}

impl Cores {
    /// Measures as many cores as there are threads to use them, from now on.
    pub(super) fn of(n_threads: usize, patience: Patience) -> Self {
        Self {
            n: u32::try_from(n_threads).unwrap_or(u32::MAX),
            patience,
            since: Instant::now(),
            used: cpu_time(),
        }
    }

    /// Returns whether cores were idle since the last call.
    pub(super) fn rest(&mut self) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed < self.patience.interval {
            return false;
        }
        let used = cpu_time();
        let since = used.saturating_sub(self.used);
        let rest = rest(self.n, self.patience.least_percent, elapsed, since);
        (self.since, self.used) = (Instant::now(), used);
        rest
    }
}

/// Returns whether some cores were used for less than this share of the time.
fn rest(n: u32, least_percent: u32, elapsed: Duration, used: Duration) -> bool {
    let all = elapsed.saturating_mul(n);
    used.saturating_mul(100) < all.saturating_mul(least_percent)
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
            let found = rest(n, 75, ms(elapsed), ms(used));
            assert_eq!(found, expected, "{used} of {n} times {elapsed} ms");
        }
    }
}
