//! Reads one ignore file, so that an unintended one cannot stop a walk: anything but a regular file
//! has no patterns (opening a FIFO would wait for a writer, and a socket cannot be opened), and a
//! file of more than 1 MiB is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ignore::Error;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::policy::Policy;

/// Maximum size of an ignore file; its patterns take about 100 times its size in memory.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// An ignore file that could not be used, in whole or in part; the rest applies.
#[derive(Debug)]
pub struct RuleError {
    /// The ignore file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub error: Error,
}

/// Reads the patterns of a file, which apply below the folder. A missing file has none.
pub(super) fn read(
    folder: &Path,
    file: &Path,
    policy: &Policy,
    errors: &mut Vec<RuleError>,
) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    // It fails only after a glob was added.
    let _ = builder.case_insensitive(policy.any_case);
    let mut wrong: Vec<Error> = match text(file) {
        Ok(Some(text)) => add(&mut builder, file, &text),
        Ok(None) => return Gitignore::empty(),
        Err(error) => vec![error],
    };
    let patterns = builder.build().unwrap_or_else(|error| {
        wrong.push(error);
        Gitignore::empty()
    });
    let error = match wrong.len() {
        0 | 1 => wrong.pop(),
        _ => Some(Error::Partial(wrong)),
    };
    errors.extend(error.map(|error| RuleError {
        path: file.to_path_buf(),
        error,
    }));
    patterns
}

/// Adds the patterns of a text, up to a line that is not UTF-8; returns the mistakes, in ripgrep's
/// words.
fn add(builder: &mut GitignoreBuilder, file: &Path, text: &[u8]) -> Vec<Error> {
    let mut wrong = Vec::new();
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let added = match std::str::from_utf8(line) {
            Ok(line) => builder.add_line(Some(file.to_path_buf()), line).map(|_| ()),
            Err(_) => Err(Error::Io(io::Error::new(
                io::ErrorKind::InvalidData,
                "stream did not contain valid UTF-8",
            ))),
        };
        if let Err(error) = added {
            let is_end = error.is_io();
            let err = Box::new(error);
            wrong.push(named(file, Error::WithLineNumber { line: number, err }));
            if is_end {
                break;
            }
        }
    }
    wrong
}

/// Reads a whole ignore file; returns `None` if it does not exist or is not a regular file.
///
/// # Errors
/// Fails if the file cannot be read, or has more than 1 MiB.
pub fn text(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match crate::open(path, flags) {
        Ok(file) => File::from(file),
        // The last one means a socket, or a device without a driver.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NXIO) => return Ok(None),
        Err(error) => return Err(named(path, Error::Io(error.into()))),
    };
    let read = || {
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut text = Vec::new();
        (&file).take(MAX_FILE_BYTES + 1).read_to_end(&mut text)?;
        Ok(Some(text))
    };
    match read() {
        Ok(Some(text)) if text.len() as u64 > MAX_FILE_BYTES => Err(named(path, too_large())),
        Ok(text) => Ok(text),
        Err(error) => Err(named(path, Error::Io(error))),
    }
}

/// Not an I/O error, which `ken grep` ignores as ripgrep does.
fn too_large() -> Error {
    Error::Glob {
        glob: None,
        err: "ignore file larger than 1 MiB".to_owned(),
    }
}

fn named(path: &Path, error: Error) -> Error {
    Error::WithPath {
        path: path.to_path_buf(),
        err: Box::new(error),
    }
}

impl RuleError {
    /// Returns the mistake, without the path of the file.
    pub(crate) fn message(&self) -> String {
        match &self.error {
            Error::WithPath { err, .. } => err.to_string(),
            other => other.to_string(),
        }
    }
}
