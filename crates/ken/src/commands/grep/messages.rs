//! Messages on standard error: failures, and events with `--debug`.

use std::sync::atomic::{AtomicBool, Ordering};

use ken_grep::Observer;

use super::typed::{Logging, Typed};
use crate::output;

/// Prints failures and remembers whether there were any.
pub(super) struct Messages {
    quiet: bool,
    quiet_rules: bool,
    failed: AtomicBool,
}

impl Messages {
    pub(super) fn new(typed: &Typed) -> Self {
        Self {
            quiet: typed.no_messages,
            quiet_rules: typed.no_messages || typed.no_ignore_messages,
            failed: AtomicBool::new(false),
        }
    }

    /// Returns whether anything failed.
    pub(super) fn any_failure(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

impl Observer for Messages {
    fn failed(&self, message: &str) {
        self.failed.store(true, Ordering::Relaxed);
        if !self.quiet {
            print(message);
        }
    }

    fn bad_rule(&self, message: &str) {
        if !self.quiet_rules {
            print(message);
        }
    }
}

/// Prints one message between lines of results.
pub(super) fn print(message: &str) {
    output::between_lines(&format!("{}: {message}\n", output::program()));
}

/// Prints the log of the walker and the searcher.
struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let (level, target) = (record.level(), record.target());
        print(&format!("{level}|{target}: {}", record.args()));
    }

    fn flush(&self) {}
}

/// Starts logging if requested.
pub(super) fn start_log(logging: Option<Logging>) {
    let Some(logging) = logging else {
        return;
    };
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(match logging {
            Logging::Debug => log::LevelFilter::Debug,
            Logging::Trace => log::LevelFilter::Trace,
        });
    }
}
