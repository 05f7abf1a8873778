//! `ken sandbox-exec`: takes rights away from itself and becomes a helper program.
//!
//! ken starts it by itself. It is no command for people, so it is not in the help, and it is
//! looked for before anything else.

use std::ffi::OsString;
use std::process::ExitCode;

use ken_extract::helper::sandbox;

/// Becomes the helper if these arguments ask for that; returns only if they do not, or if it fails.
pub(crate) fn exec_if_meant(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.skip(1);
    if arguments.next()? != sandbox::ARGUMENT {
        return None;
    }
    let error = sandbox::exec(arguments);
    crate::output::warn(&format!("a helper could not be started: {error}"));
    Some(ExitCode::from(126))
}
