//! How much of the machine a run takes: all of it, less while it is wanted otherwise, nothing while indexing
//! is paused.
//!
//! Threads pass a [`Gate`](crate::progress::Gate) between two documents, which is two loads as long as all may work. One more
//! thread looks every so often how many may, and whether indexing was paused.

mod machine;
mod pause;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub use machine::give_back_large_blocks;
pub(crate) use machine::memory;
use machine::{Power, Work};
pub use pause::{Pause, pause, paused, resume};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::Progress;

/// How often it is looked what the machine does and whether indexing is paused.
const LOOK: Duration = Duration::from_millis(500);

/// Lets whatever else runs go first: this thread, those that it starts from now on, and their reads and
/// writes, as Linux derives the class of these from that of the thread.
pub fn yield_to_others() {
    // Whoever may not is as much in the foreground as before. Setting the class sets the other back.
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle);
    let _ = rustix::process::nice(19);
}

/// Sets how many threads may work, and stops a run when indexing is paused, until `ended` is set and this
/// thread is woken.
pub(crate) fn keep(data: &Path, in_background: bool, progress: &Progress, ended: &AtomicBool) {
    let mut work = Work::now();
    while !ended.load(Ordering::Relaxed) {
        thread::park_timeout(LOOK);
        if paused(data).is_some() {
            progress.pause();
        }
        if in_background {
            progress.gate.set(room(&mut work));
        }
    }
}

/// Returns for how many threads the machine has room: as many as cores that other programs left idle since
/// it was looked last, one on battery.
fn room(work: &mut Option<Work>) -> usize {
    let before = std::mem::replace(work, Work::now());
    if Power::now() == Power::Battery {
        return 1;
    }
    match (before, work) {
        (Some(before), Some(now)) => before.cores_left(now),
        _ => usize::MAX,
    }
}

/// Waits while indexing is paused; returns whether to go on, and not to stop.
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
