//! Ctrl-C: long work runs on a thread of its own, and a signal ends it after a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ken_pipeline::{Options, Progress};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::failure::Failure;

/// Exit code of a program that was stopped by Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;
/// How often signals are looked for, and what the work came to is shown.
const TICK: Duration = Duration::from_millis(100);

/// What Ctrl-C sets; the second time it ends the process at once.
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn on_signals() -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(INTERRUPTED),
                Arc::clone(&stop),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self(stop))
    }

    /// Does the work on a thread of its own, so that all others start from there; shows its progress on this
    /// one meanwhile, and cancels it if Ctrl-C was pressed. Returns as soon as the work is over.
    pub(super) fn watch<T: Send>(
        &self,
        options: &Options,
        progress: &Progress,
        mut show: impl FnMut(),
        work: impl FnOnce() -> T + Send,
    ) -> T {
        // Nothing is sent: the end of the work lets go of its end, also by a panic.
        let (end, ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let working = scope.spawn(move || {
                let _end = end;
                work()
            });
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if self.0.load(Ordering::Relaxed) {
                    // In this order: who is let go by a program is to know why.
                    progress.cancel();
                    options.extract.helpers.iter().for_each(|h| h.stop());
                }
                show();
            }
            working
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
