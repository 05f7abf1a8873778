//! Ctrl-C: long work runs on a separate thread, and a signal ends it after a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ken_pipeline::{Options, Progress};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;
use crate::output;

/// Exit code of a program that was stopped by Ctrl-C.
pub(in crate::commands) const INTERRUPTED: u8 = 130;
/// The interval at which signals are checked and progress is shown.
const TICK: Duration = Duration::from_millis(100);
/// The time in which interrupted work commits. Then the process ends whatever its threads wait for; the next run goes
/// on from the last commit, as after a kill.
const LAST_COMMIT: Duration = Duration::from_secs(4);

/// Calls `stop` when a signal asks the program to end. A second signal ends the process, and so does the time that the
/// last commit may take.
pub(in crate::commands) fn end_with_signals(
    stop: impl Fn() + Send + 'static,
) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for (number, signal) in signals.forever().enumerate() {
            stop();
            thread::spawn(|| {
                thread::sleep(LAST_COMMIT);
                give_up();
            });
            if number > 0 {
                // This cannot fail for these two signals.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    });
    Ok(())
}

/// Ends the process without the last commit, and says so.
fn give_up() -> ! {
    let seconds = LAST_COMMIT.as_secs();
    output::warn(&format!(
        "the last commit is not done after {seconds} s and is given up; the next run reads its files again"
    ));
    signal_hook::low_level::exit(i32::from(INTERRUPTED))
}

/// The flag that Ctrl-C sets; a second Ctrl-C ends the process immediately.
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

    /// Does the work on a separate thread, from which all other threads start. Meanwhile this thread shows the
    /// progress, and cancels the work on Ctrl-C. Returns as soon as the work is over.
    pub(super) fn watch<T: Send>(
        &self,
        options: &Options,
        progress: &Progress,
        mut show: impl FnMut(),
        work: impl FnOnce() -> T + Send,
    ) -> T {
        // The channel carries nothing: the worker drops its end when it finishes, even by a panic.
        let (end, ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let working = scope.spawn(move || {
                let _end = end;
                work()
            });
            let mut interrupted = None;
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if self.0.load(Ordering::Relaxed) {
                    let since = interrupted.get_or_insert_with(Instant::now);
                    if since.elapsed() > LAST_COMMIT {
                        give_up();
                    }
                    // In this order, so that work whose helper stops knows why.
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
