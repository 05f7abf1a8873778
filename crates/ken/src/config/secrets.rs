//! `[passwords]`, `[web]` and `[engine.auth]`: secrets, which a file or a command holds.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_extract::Passwords;
use serde::{Deserialize, Serialize};

use super::below_home;
use crate::failure::{Failure, Kind};

/// The fewest characters of a password that other machines can guess at.
const MIN_PASSWORD: usize = 12;
/// The most passwords in the settings.
const MAX_PASSWORDS: usize = 1_000;

/// What commands printed in this process, by command: one that asks a person asks once.
static PRINTED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Browsers on other machines. Without an address only this machine reaches the page.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WebSettings {
    /// The address and port at which other machines reach `ken serve`, such as `0.0.0.0:8723`. It needs a password.
    pub(crate) address: Option<SocketAddr>,
    /// The names by which browsers reach it, for instance that of a proxy with TLS.
    pub(crate) names: Vec<String>,
    /// Where the password is: on the first line of a file, or of the output of a command.
    pub(crate) password: PasswordSettings,
}

/// The sources of passwords: a file, a command, or both. Passwords are tried in their order.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PasswordSettings {
    /// A file with a password on each line; `~/` means the home folder.
    pub(crate) file: Option<PathBuf>,
    /// A shell command that prints a password on each line.
    pub(crate) command: Option<String>,
}

impl WebSettings {
    /// Returns the password; none if there is no address that needs one.
    pub(crate) fn password(&self) -> Result<Option<String>, Failure> {
        let Some(address) = self.address else {
            return Ok(None);
        };
        let password = self.password.secret("web.password")?;
        let problem = match password.chars().count() {
            0 => "has no password",
            1..MIN_PASSWORD => "has a password of fewer than 12 characters",
            _ => return Ok(Some(password)),
        };
        let message =
            format!("web.address {address} {problem}, so everybody could read your documents");
        Err(Failure::new(Kind::Usage, message)
            .hint("set web.password.file or web.password.command"))
    }
}

fn is_read_by_others(file: &Path) -> bool {
    fs_err::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

impl PasswordSettings {
    /// Returns whether there is a source.
    pub(super) fn is_set(&self) -> bool {
        self.file.is_some() || self.command.is_some()
    }

    /// Returns the first line, which is the only secret; `name` is that of the setting. A command runs once in a process.
    pub(super) fn secret(&self, name: &str) -> Result<String, Failure> {
        let file = self.file.as_deref().map(below_home);
        if let Some(file) = file.filter(|file| is_read_by_others(file)) {
            let message = format!(
                "other users can read the password in \"{}\"",
                file.display()
            );
            return Err(Failure::new(Kind::Usage, message)
                .hint(&format!("chmod 600 \"{}\"", file.display())));
        }
        let text = self.text(name, printed)?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    /// Returns the secret as [`PasswordSettings::secret`] does, but from a command that runs again.
    #[cfg(feature = "cluster")]
    pub(super) fn next_secret(&self, name: &str) -> Result<String, Failure> {
        lock_printed().retain(|(command, _)| Some(command) != self.command.as_ref());
        self.secret(name)
    }

    /// Returns the text of the file and of the output of the command; `name` is that of the setting.
    fn text(
        &self,
        name: &str,
        of_command: fn(&str, &str) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let mut text = String::new();
        if let Some(file) = &self.file {
            text = fs_err::read_to_string(below_home(file))
                .map_err(|error| Failure::new(Kind::Usage, format!("{name}.file: {error}")))?;
            text.push('\n');
        }
        if let Some(command) = &self.command {
            text.push_str(&of_command(name, command)?);
        }
        Ok(text)
    }

    pub(super) fn read(&self) -> Result<Passwords, Failure> {
        let text = self.text("passwords", output_of)?;
        // More passwords would only slow down each encrypted file.
        let n_passwords = text.lines().filter(|line| !line.is_empty()).count();
        if n_passwords > MAX_PASSWORDS {
            let message =
                format!("{n_passwords} passwords, but there can be at most {MAX_PASSWORDS}");
            return Err(Failure::new(Kind::Usage, message));
        }
        Ok(Passwords::new(text.lines().map(str::to_owned)))
    }
}

fn lock_printed() -> MutexGuard<'static, Vec<(String, String)>> {
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what a command printed in this process; runs it if it has not run.
fn printed(name: &str, command: &str) -> Result<String, Failure> {
    let mut printed = lock_printed();
    if let Some((_, output)) = printed.iter().find(|(of, _)| of == command) {
        return Ok(output.clone());
    }
    let output = output_of(name, command)?;
    printed.push((command.to_owned(), output.clone()));
    Ok(output)
}

/// Runs a shell command and returns its output. The command may ask on the terminal; what a program gets from a pipe is not
/// for the command.
fn output_of(name: &str, command: &str) -> Result<String, Failure> {
    let wrong = |cause: String| {
        let message = format!("{name}.command \"{command}\": {cause}");
        Failure::new(Kind::Usage, message)
    };
    let input = match io::stdin().is_terminal() {
        true => Stdio::inherit(),
        false => Stdio::null(),
    };
    let output = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(input)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| wrong(error.to_string()))?;
    if !output.status.success() {
        return Err(wrong(output.status.to_string()));
    }
    String::from_utf8(output.stdout).map_err(|error| wrong(error.to_string()))
}
