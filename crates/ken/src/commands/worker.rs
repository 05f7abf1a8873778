//! `ken worker`: the process that parses foreign bytes.
//!
//! ken starts this command itself, with a socket as standard input. It is not for people, so the help does not list
//! it. It is checked before anything else, as every run pays for a slow start of workers.

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

/// Serves the parent process until it releases the worker.
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
