//! Runs GnuPG for messages that are shown or indexed.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use ken_server::notmuch::{Cipher, Standard};

/// The longest session key, in characters of `9:` and hexadecimal digits; those of 256 bits have 66.
const MAX_SESSION_KEY: usize = 256;
/// The most bytes that a part may contain; a small cipher may hide very many.
const MAX_CONTENT: u64 = 512 << 20;
/// The most bytes of status lines.
const MAX_LINES: u64 = 1 << 20;

fn program(standard: Standard) -> Command {
    let mut command = Command::new(match standard {
        Standard::OpenPgp => "gpg",
        Standard::Smime => "gpgsm",
    });
    // What they say about foreign data stands apart from the status lines, which it could imitate.
    command.args([
        "--batch",
        "--no-tty",
        "--log-file",
        "/dev/null",
        "--status-fd",
        "2",
    ]);
    command.stdin(Stdio::null());
    command
}

/// Writes files into a folder of this process alone, and asks GnuPG about them, with a line of input. Returns its output
/// and status lines, or nothing if it cannot be asked.
fn ask(
    standard: Standard,
    arguments: &[&str],
    files: &[(&str, &[u8])],
    line: Option<&str>,
) -> (bool, Vec<u8>, String) {
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
    if let Some(line) = line {
        // It is short enough for the buffer of a pipe.
        let Ok((reader, mut writer)) = io::pipe() else {
            return nothing();
        };
        if writeln!(writer, "{line}").is_err() {
            return nothing();
        }
        command.stdin(reader);
    }
    answer(command).unwrap_or_else(|_| nothing())
}

/// Runs a command; returns whether it succeeded, its output and its status lines.
fn answer(mut command: Command) -> io::Result<(bool, Vec<u8>, String)> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // It waits for nobody while it writes either.
    let lines = child.stderr.take().map(|errors| {
        std::thread::spawn(move || {
            let mut lines = Vec::new();
            let mut errors = errors.take(MAX_LINES);
            let _ = errors.read_to_end(&mut lines);
            let _ = io::copy(&mut errors.into_inner(), &mut io::sink());
            String::from_utf8_lossy(&lines).into_owned()
        })
    });
    let mut content = Vec::new();
    if let Some(output) = child.stdout.take() {
        output.take(MAX_CONTENT).read_to_end(&mut content)?;
    }
    if content.len() as u64 == MAX_CONTENT {
        child.kill()?;
        child.wait()?;
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let is_good = child.wait()?.success();
    let lines = lines.and_then(|lines| lines.join().ok());
    Ok((is_good, content, lines.unwrap_or_default()))
}

/// Returns the status lines about a signature, which may contain what is signed.
pub(super) fn verify(standard: Standard, signed: Option<&[u8]>, signature: &[u8]) -> String {
    let files = [("signature", Some(signature)), ("content", signed)];
    let files = files.into_iter();
    let files: Vec<_> = files
        .filter_map(|(name, bytes)| Some((name, bytes?)))
        .collect();
    ask(standard, &["--verify"], &files, None).2
}

/// Returns what a part contains, and the status lines about it.
pub(super) fn decrypt(cipher: &Cipher<'_>) -> (Option<Vec<u8>>, String) {
    let files = [("cipher", cipher.bytes)];
    let mut lines = String::new();
    if cipher.standard == Standard::OpenPgp {
        let keys = cipher.session_keys.iter();
        for key in keys.filter(|key| key.len() <= MAX_SESSION_KEY) {
            // A command line is seen by everybody.
            let arguments = ["--override-session-key-fd", "0", "--decrypt"];
            let (content, told) = readable(ask(cipher.standard, &arguments, &files, Some(key)));
            if content.is_some() {
                return (content, told);
            }
            lines = told;
        }
    }
    if !cipher.uses_secret_keys {
        return (None, lines);
    }
    let arguments: &[&str] = match cipher.standard {
        Standard::OpenPgp => &["--show-session-key", "--decrypt"],
        Standard::Smime => &["--decrypt"],
    };
    readable(ask(cipher.standard, arguments, &files, None))
}

fn readable((is_good, content, lines): (bool, Vec<u8>, String)) -> (Option<Vec<u8>>, String) {
    // A signature that cannot be checked makes no content unreadable.
    let is_readable = is_good || lines.lines().any(|line| line == "[GNUPG:] DECRYPTION_OKAY");
    (is_readable.then_some(content), lines)
}
