//! `ken worker`: the process that parses foreign bytes; and `ken remote`, the one that calls file systems which may not
//! answer.
//!
//! ken starts this command itself, with a socket as standard input. It is not for people, so the help does not list
//! it. It is checked before anything else, as every run pays for a slow start of workers.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use ken_extract::worker;
use ken_walk::remote;

/// Serves the parent process until it releases this one, if the arguments say so.
pub(crate) fn run_if_meant(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let only = arguments.nth(1).filter(|_| arguments.next().is_none())?;
    let socket = || io::stdin().as_fd().try_clone_to_owned();
    let served = match only {
        _ if only == worker::ARGUMENT => {
            socket().and_then(|socket| worker::serve(socket, ken_extract::extract))
        }
        _ if only == remote::ARGUMENT => socket().and_then(|socket| remote::serve(socket.into())),
        _ => return None,
    };
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::output::warn(&format!("ken starts its workers itself: {error}"));
            ExitCode::from(2)
        }
    })
}
