//! `ken sandbox-exec`: gives up rights and becomes a helper. `ken helper-guard`: ends processes that helpers left
//! behind.
//!
//! ken starts these commands itself. They are not for people, so the help does not list them, and they are checked
//! before any others.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use ken_extract::helper::{guard, sandbox};

/// Becomes the helper or its guard if the arguments ask for that. Returns if they do not, if that fails, or when the
/// guard is done.
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
    match sandbox::exec(arguments) {
        Ok(()) => Some(ExitCode::SUCCESS),
        Err(error) => {
            crate::output::warn(&format!("cannot start the helper: {error}"));
            Some(ExitCode::from(126))
        }
    }
}
