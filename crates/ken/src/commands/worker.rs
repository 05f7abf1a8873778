//! `ken worker`: the process in which foreign bytes are parsed.
//!
//! ken starts it by itself, with a socket as standard input. It is no command for people, so it is
//! not in the help, and it is looked for before anything else: a worker that starts late is paid for
//! by each run.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use ken_extract::worker;

/// Returns whether these arguments start a worker.
pub(crate) fn is_meant(mut arguments: impl Iterator<Item = OsString>) -> bool {
    let first = arguments.nth(1);
    first.is_some_and(|first| first == worker::ARGUMENT) && arguments.next().is_none()
}

/// Serves the parent until that lets the worker go.
pub(crate) fn run() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned();
    match socket.and_then(|socket| worker::serve(socket, ken_extract::extract)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::output::warn(&format!("ken starts its workers itself: {error}"));
            ExitCode::from(2)
        }
    }
}
