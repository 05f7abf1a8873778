//! Runs GnuPG for messages that are shown.

use std::path::Path;
use std::process::{Command, Stdio};

use ken_server::notmuch::Standard;

fn program(standard: Standard) -> Command {
    let mut command = Command::new(match standard {
        Standard::OpenPgp => "gpg",
        Standard::Smime => "gpgsm",
    });
    command.args(["--batch", "--no-tty", "--status-fd", "2"]);
    command.stdin(Stdio::null());
    command
}

/// Writes files into a folder of this process alone, and asks GnuPG about them. Returns its output and status lines, or
/// nothing if it cannot be asked.
fn ask(standard: Standard, arguments: &[&str], files: &[(&str, &[u8])]) -> (bool, Vec<u8>, String) {
    let nothing = || (false, Vec::new(), String::new());
    let Ok(folder) = tempfile::tempdir() else {
        return nothing();
    };
    let mut command = program(standard);
    command.args(arguments);
    for (name, bytes) in files {
        let path = folder.path().join(Path::new(name));
        if ken_private::write(&path, bytes).is_err() {
            return nothing();
        }
        command.arg(path);
    }
    match command.output() {
        Ok(output) => {
            let lines = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.success(), output.stdout, lines)
        }
        Err(_) => nothing(),
    }
}

/// Returns the status lines about a signature, which may contain what is signed.
pub(super) fn verify(standard: Standard, signed: Option<&[u8]>, signature: &[u8]) -> String {
    let files = [("signature", Some(signature)), ("content", signed)];
    let files = files.into_iter();
    let files: Vec<_> = files
        .filter_map(|(name, bytes)| Some((name, bytes?)))
        .collect();
    ask(standard, &["--verify"], &files).2
}

/// Returns what a part contains, and the status lines about it.
pub(super) fn decrypt(standard: Standard, cipher: &[u8]) -> (Option<Vec<u8>>, String) {
    let (is_good, content, lines) = ask(standard, &["--decrypt"], &[("cipher", cipher)]);
    // A signature that cannot be checked makes no content unreadable.
    let is_readable = is_good || lines.contains("[GNUPG:] DECRYPTION_OKAY");
    (is_readable.then_some(content), lines)
}
