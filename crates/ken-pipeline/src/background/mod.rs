//! How much of the machine a run uses: all of it, less while other programs need it, nothing while
//! indexing is paused.
//!
//! Threads pass a [`Gate`](crate::progress::Gate) between two documents, which costs two loads
//! while all threads may work. One more thread checks at intervals how many may work, and whether
//! indexing was paused.

mod machine;
mod pause;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub use machine::give_back_large_blocks;
use machine::{Power, Work};
pub(crate) use machine::{give_back_memory, memory};
pub use pause::{Pause, pause, paused, resume};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::Progress;

/// Interval of these checks.
const LOOK: Duration = Duration::from_millis(500);

/// Gives this thread, and threads that it starts later, the lowest priority. Linux derives the
/// priority of their reads and writes from it.
pub fn yield_to_others() {
    // Without permission, the priority stays unchanged. Setting the class resets the nice value.
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle);
    let _ = rustix::process::nice(19);
}

/// Returns whether the machine runs on battery.
pub fn is_on_battery() -> bool {
    Power::now() == Power::Battery
}

/// Sets how many threads may work, and interrupts a run that respects pauses when indexing is paused, until `ended` is
/// set and this thread is woken.
pub(crate) fn keep(
    data: &Path,
    in_background: bool,
    respects_pause: bool,
    progress: &Progress,
    ended: &AtomicBool,
) {
    let mut work = Work::now();
    while !ended.load(Ordering::Relaxed) {
        thread::park_timeout(LOOK);
        if respects_pause && paused(data).is_some() {
            progress.pause();
        }
        if in_background {
            progress.gate.set(threads_left(&mut work));
        }
    }
}

/// Returns how many threads may work: one for each core that other programs left idle since the
/// last check, or one on battery.
fn threads_left(work: &mut Option<Work>) -> usize {
    let before = std::mem::replace(work, Work::now());
    if is_on_battery() {
        return 1;
    }
    match (before, work) {
        (Some(before), Some(now)) => before.cores_left(now),
        _ => usize::MAX,
    }
}

/// Waits while indexing is paused; returns whether to continue rather than stop.
pub(crate) fn wait_for_resume(data: &Path, progress: &Progress) -> bool {
    while paused(data).is_some() {
        progress.paused.store(true, Ordering::Relaxed);
        if progress.is_stopped() {
            return false;
        }
        thread::sleep(LOOK / 5);
    }
    progress.resume();
    true
}
