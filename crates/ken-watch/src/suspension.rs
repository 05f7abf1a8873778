//! Whether the machine was suspended.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A shorter time is no suspension: the clocks are not read at once.
const SHORTEST: Duration = Duration::from_secs(5);

/// Sees that the machine was suspended, when it is asked: only one of two clocks goes on meanwhile.
#[derive(Debug)]
pub(crate) struct Suspension {
    /// For how long the machine was suspended since its start.
    known: Duration,
}

impl Suspension {
    pub(crate) fn now() -> Self {
        Self { known: total() }
    }

    /// Returns whether the machine was suspended since the last call.
    pub(crate) fn is_over(&mut self) -> bool {
        self.note(total())
    }

    fn note(&mut self, total: Duration) -> bool {
        let is_over = total > self.known + SHORTEST;
        self.known = total;
        is_over
    }
}

/// Returns for how long the machine was suspended since its start.
fn total() -> Duration {
    let [with, without] = [ClockId::Boottime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
        Duration::new(seconds, nanoseconds)
    });
    with.saturating_sub(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_is_seen_once() {
        let mut suspension = Suspension::now();
        assert!(!suspension.is_over());
        let before = suspension.known;
        assert!(suspension.note(before + Duration::from_secs(3_600)));
        assert!(!suspension.note(before + Duration::from_secs(3_601)));
        assert!(
            !suspension.note(before),
            "a clock that goes back does no harm"
        );
    }
}
