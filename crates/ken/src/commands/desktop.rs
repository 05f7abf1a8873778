//! Programs of the desktop. No shell reads their arguments, and paths are absolute, so none looks like an option.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::config::runtime_folder;
use crate::failure::{Failure, Kind};

/// The program that opens a file in the program for its type.
pub(super) const OPENER: &str = "xdg-open";

/// How often it is looked whether a program started, and the pause between. One that still runs then is what was wanted.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// The variables that say where windows appear.
const DISPLAYS: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];
/// Returns whether the session has a desktop. A service may be older than the desktop, and asks only when it opens
/// something.
pub(super) fn is_there() -> bool {
    has_display() || is_service()
}

/// Returns whether this process is the first one of a service of systemd.
#[allow(
    clippy::disallowed_methods,
    reason = "systemd says so in the environment"
)]
fn is_service() -> bool {
    let first = std::env::var("SYSTEMD_EXEC_PID");
    first.is_ok_and(|first| first == std::process::id().to_string())
}

#[allow(
    clippy::disallowed_methods,
    reason = "the session says so in its environment"
)]
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn has_display() -> bool {
    DISPLAYS.into_iter().any(is_set)
}

/// Returns whether the session has a bus, by which programs of the desktop talk to each other.
pub(super) fn has_bus() -> bool {
    let is_there = || {
        runtime_folder().is_some_and(|folder| fs_err::exists(folder.join("bus")).unwrap_or(false))
    };
    is_set("DBUS_SESSION_BUS_ADDRESS") || is_there()
}

/// Returns whether a desktop has told systemd of itself.
fn is_known_to_systemd() -> bool {
    let asked = Command::new("systemctl")
        .args(["--user", "show-environment"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let told = asked.map_or_else(|_| Vec::new(), |asked| asked.stdout);
    let told = String::from_utf8_lossy(&told);
    let mut names = told.lines().filter_map(|line| line.split_once('='));
    names.any(|(name, value)| DISPLAYS.contains(&name) && !value.is_empty())
}

/// Returns a command that has systemd start a program as a service of its own. Below this process it would share the
/// limits of its service, and end when that is started again; and a service that is older than the desktop has none of
/// the variables that say where windows appear.
fn as_own_service(command: &Command) -> Command {
    let mut own = Command::new("systemd-run");
    own.args(["--user", "--quiet", "--collect"])
        // It may start another program and end.
        .args(["--property=ExitType=cgroup", "--"])
        .arg(command.get_program())
        .args(command.get_args());
    own
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
    let mut own;
    let command = match is_service() {
        true if !has_display() && !is_known_to_systemd() => {
            return Err(fail("the session has no desktop".to_owned()));
        }
        true => {
            own = as_own_service(command);
            &mut own
        }
        false => command,
    };
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
