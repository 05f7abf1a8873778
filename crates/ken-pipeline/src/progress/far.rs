//! How far a run is, in words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Progress;

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

impl Progress {
    /// Returns the time that is left at the speed so far, `elapsed` after the beginning; none before anything is done.
    pub fn time_left(&self, elapsed: Duration) -> Option<Duration> {
        let done = get(&self.bytes_done);
        let left = get(&self.bytes_to_do).saturating_sub(done);
        let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
        let seconds = left as f64 / rate;
        (done > 0 && seconds.is_finite()).then(|| Duration::from_secs_f64(seconds.min(1e9)))
    }

    /// Returns how many files are done, and how long the rest takes once that is known.
    pub(crate) fn far(&self, elapsed: Duration) -> String {
        let (done, to_do) = (get(&self.files_done), get(&self.files_to_do));
        let mut far = match self.walked.load(Ordering::Relaxed) {
            false => format!("{done} files of {} found", get(&self.walk.files)),
            true => {
                let left = self.time_left(elapsed).filter(|_| done < to_do);
                let left = left.map(|left| format!(", {} left", in_words(left)));
                format!("{done}/{to_do} files{}", left.unwrap_or_default())
            }
        };
        let failures = get(&self.failures);
        if failures > 0 {
            far.push_str(&format!(", {failures} failed"));
        }
        far
    }
}

/// Returns a duration as people read it.
pub fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_once_all_files_are_found() {
        let progress = Progress::default();
        let set = |counter: &AtomicU64, n| counter.store(n, Ordering::Relaxed);
        set(&progress.walk.files, 9);
        set(&progress.files_to_do, 8);
        set(&progress.files_done, 2);
        set(&progress.bytes_to_do, 4_000);
        set(&progress.bytes_done, 1_000);
        let far = || progress.far(Duration::from_secs(70));
        assert_eq!(far(), "2 files of 9 found");
        progress.walked.store(true, Ordering::Relaxed);
        assert_eq!(far(), "2/8 files, 3 min 30 s left");
        set(&progress.failures, 1);
        set(&progress.files_done, 8);
        assert_eq!(far(), "8/8 files, 1 failed");
        assert_eq!(in_words(Duration::from_secs(7_260)), "2 h 1 min");
    }
}
