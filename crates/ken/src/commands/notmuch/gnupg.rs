//! Runs GnuPG for messages that are shown or indexed.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use ken_server::notmuch::{Cipher, Standard};

/// The longest session key, in characters of `9:` and hexadecimal digits; those of 256 bits have 66.
const MAX_SESSION_KEY: usize = 256;
/// The most session keys that are tried for a part.
const MAX_SESSION_KEYS: usize = 8;
/// The most bytes that are printed while a signature is checked: gpg prints what is signed, if it is inside.
const MAX_VERIFIED: usize = 256 << 20;
/// The most bytes of status lines.
const MAX_LINES: u64 = 1 << 20;

/// What a program of GnuPG printed, and its status lines.
type Answer = (Vec<u8>, String);

/// What a program of GnuPG reads at its standard input.
#[derive(Clone, Copy)]
enum Input<'i> {
    Content(&'i [u8]),
    SessionKey(&'i str),
}

/// Asks a program of GnuPG about its standard input and a file that only this process can reach. The status lines are empty if
/// it cannot be asked, or if it was stopped.
fn ask(
    standard: Standard,
    arguments: &[&str],
    file: Option<&[u8]>,
    input: Input<'_>,
    max_bytes: usize,
) -> Answer {
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
    // Ctrl-C stops this program, which waits for the answer.
    command.args(arguments).process_group(0);
    answer(command, file, input, max_bytes).unwrap_or_default()
}

fn answer(
    mut command: Command,
    file: Option<&[u8]>,
    input: Input<'_>,
    max_bytes: usize,
) -> io::Result<Answer> {
    let folder = tempfile::tempdir()?;
    if let Some(bytes) = file {
        let path = folder.path().join("file");
        ken_private::write(&path, bytes)?;
        command.arg(path);
    }
    let input = match input {
        Input::Content(content) => {
            command.arg("-");
            content
        }
        Input::SessionKey(key) => key.as_bytes(),
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // It waits for nobody while it reads or writes.
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // It may not want all of it.
            stdin.map(|mut stdin| stdin.write_all(input))
        });
        let lines = scope.spawn(move || {
            let mut lines = Vec::new();
            if let Some(stderr) = stderr {
                let mut stderr = stderr.take(MAX_LINES);
                let _ = stderr.read_to_end(&mut lines);
                let _ = io::copy(&mut stderr.into_inner(), &mut io::sink());
            }
            String::from_utf8_lossy(&lines).into_owned()
        });
        let mut content = Vec::new();
        if let Some(stdout) = stdout {
            let read = stdout.take(max_bytes as u64 + 1).read_to_end(&mut content);
            if read.is_err() || content.len() > max_bytes {
                child.kill()?;
                child.wait()?;
                let lines = lines.join().unwrap_or_default();
                return Ok((Vec::new(), lines));
            }
        }
        let status = child.wait()?;
        let lines = lines.join().unwrap_or_default();
        match status.code() {
            Some(_) => Ok((content, lines)),
            None => Err(io::ErrorKind::Interrupted.into()),
        }
    })
}

/// Returns the status lines about a signature, which may contain what is signed.
pub(super) fn verify(standard: Standard, signed: Option<&[u8]>, signature: &[u8]) -> String {
    // What is signed may have been encrypted, so it is in no file.
    let (file, input) = match signed {
        Some(signed) => (Some(signature), signed),
        None => (None, signature),
    };
    let input = Input::Content(input);
    ask(standard, &["--verify"], file, input, MAX_VERIFIED).1
}

/// Returns what a part contains, and the status lines about it.
pub(super) fn decrypt(cipher: &Cipher<'_>) -> (Option<Vec<u8>>, String) {
    let mut lines = String::new();
    if cipher.standard == Standard::OpenPgp {
        let keys = cipher.session_keys.iter().take(MAX_SESSION_KEYS);
        for key in keys.filter(|key| key.len() <= MAX_SESSION_KEY) {
            // A command line is seen by everybody.
            let arguments = ["--override-session-key-fd", "0", "--decrypt"];
            let (file, input) = (Some(cipher.bytes), Input::SessionKey(key));
            let answer = ask(cipher.standard, &arguments, file, input, cipher.max_bytes);
            let (content, told) = opened(answer);
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
    let input = Input::Content(cipher.bytes);
    opened(ask(
        cipher.standard,
        arguments,
        None,
        input,
        cipher.max_bytes,
    ))
}

/// Returns the content if it was encrypted. A signature that cannot be checked makes no content unreadable.
fn opened((content, lines): Answer) -> (Option<Vec<u8>>, String) {
    let is_opened = lines
        .lines()
        .any(|line| line.trim_end() == "[GNUPG:] DECRYPTION_OKAY");
    (is_opened.then_some(content), lines)
}
