//! Programs of the desktop. No shell reads their arguments, and paths are absolute, so none looks like an option.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, Kind};

/// The program that opens a file in the program for its type.
pub(super) const OPENER: &str = "xdg-open";

/// How often it is looked whether a program started, and the pause between. One that still runs then is what was wanted.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Returns whether the session has a desktop.
#[allow(
    clippy::disallowed_methods,
    reason = "the session says so in its environment"
)]
pub(super) fn is_there() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ["WAYLAND_DISPLAY", "DISPLAY"].into_iter().any(is_set)
}

/// Opens a file in its program, or the folder of the file if that is wanted or the file would run. Returns whether the
/// file itself was opened.
pub(super) fn open(path: &Path, folder: bool) -> Result<bool, Failure> {
    let is_file = !folder && !runs(path);
    let opened = if is_file {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    start(Command::new(OPENER).arg(opened))?;
    Ok(is_file)
}

/// Returns whether opening a file would run it as a program.
fn runs(path: &Path) -> bool {
    let is_starter = path
        .extension()
        .is_some_and(|extension| extension == "desktop");
    let mode = fs_err::metadata(path).map(|metadata| metadata.permissions().mode());
    is_starter || mode.is_ok_and(|mode| mode & 0o111 != 0)
}

/// Starts a program with a window, and does not wait for its end. One that fails soon is an error.
pub(super) fn start(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().display().to_string();
    let fail = |why: String| Failure::new(Kind::Input, format!("{name}: {why}"));
    let started = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut program = started.map_err(|error| fail(error.to_string()))?;
    for _ in 0..TRIES {
        match program.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(fail(status.to_string())),
            Ok(None) => thread::sleep(PAUSE),
            Err(error) => return Err(fail(error.to_string())),
        }
    }
    thread::spawn(move || program.wait());
    Ok(())
}
