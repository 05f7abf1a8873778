//! `ken sandbox-exec`: takes rights away from itself and becomes a helper program; `ken helper-guard`:
//! ends what helpers left behind.
//!
//! ken starts them by itself. They are no commands for people, so they are not in the help, and they
//! are looked for before anything else.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use ken_extract::helper::{guard, sandbox};

/// Becomes the helper or its guard if these arguments ask for that; returns if they do not, if it fails,
/// and when the guard has done its work.
pub(crate) fn exec_if_meant(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.skip(1);
    let first = arguments.next()?;
    if first == guard::ARGUMENT {
        guard::watch(std::io::stdin().lock(), Path::new(&arguments.next()?));
        return Some(ExitCode::SUCCESS);
    }
    if first != sandbox::ARGUMENT {
        return None;
    }
    let error = sandbox::exec(arguments);
    crate::output::warn(&format!("cannot start the helper: {error}"));
    Some(ExitCode::from(126))
}
