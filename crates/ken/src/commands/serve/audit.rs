//! The audit: one line of JSON for each question, in a file that only the user of the server can read.
//!
//! A line is written before its answer is sent, by one write at the end of the file, so that lines of several threads do not
//! mix. If it cannot be written, nothing is answered.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::people::Signature;

/// The most characters of an address and of a body in a line. What other people than the user of the server ask is not
/// longer, so their lines have all of it.
pub(super) const MAX_TEXT: usize = 8_000;

/// The file of the audit, opened for each line: log rotation may have moved it.
pub(super) struct Audit {
    file: std::path::PathBuf,
    turn: Mutex<()>,
}

/// A question as the audit keeps it.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    v: u8,
    time: String,
    uid: u32,
    user: Option<&'a str>,
    from: &'a str,
    method: &'a str,
    address: String,
    body: Option<String>,
    query: Option<String>,
    status: u16,
    hits: Option<usize>,
}

impl<'a> Line<'a> {
    /// Returns the line for a request and its answer.
    pub(super) fn new(
        asked_by: &'a Signature,
        (method, address, body): (&'a str, &str, &[u8]),
        query: Option<&str>,
        status: u16,
        hits: Option<usize>,
    ) -> Self {
        let body = String::from_utf8_lossy(body);
        let of_body = || {
            let value: Value = serde_json::from_str(&body).ok()?;
            Some(value.get("query")?.as_str()?.to_owned())
        };
        Self {
            v: 1,
            time: Timestamp::now().to_string(),
            uid: asked_by.uid,
            user: asked_by.name.as_deref(),
            from: asked_by.from,
            method,
            address: cut(address),
            query: query
                .map(str::to_owned)
                .or_else(of_body)
                .map(|query| cut(&query)),
            body: (!body.is_empty()).then(|| cut(&body)),
            status,
            hits,
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

impl Audit {
    /// Returns the audit in a file, which is made if it is not there.
    ///
    /// # Errors
    /// Fails if lines cannot be written to it.
    pub(super) fn open(file: &Path) -> io::Result<Self> {
        let audit = Self {
            file: file.to_path_buf(),
            turn: Mutex::default(),
        };
        audit.append(b"")?;
        Ok(audit)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// Fails if it is not in the file as a whole.
    pub(super) fn write(&self, line: &Line<'_>) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.append(&text)
    }

    fn append(&self, text: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = ken_private::options()
            .create(true)
            .append(true)
            .open(&self.file)?;
        if ken_private::is_open(&self.file) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("other users can read \"{}\"", self.file.display()),
            ));
        }
        match file.write(text)? {
            n_bytes if n_bytes == text.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn anna() -> Signature {
        Signature {
            uid: 7,
            name: Some("anna".to_owned()),
            from: "proxy",
        }
    }

    #[test]
    fn a_line_has_the_query_of_the_address_or_of_the_body() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Audit::open(&path).unwrap();
        let anna = anna();
        let body = br#"{"query":"two\nlines"}"#;
        for (query, body) in [(Some("one"), &b""[..]), (None, body)] {
            let line = Line::new(&anna, ("GET", "/x", body), query, 200, Some(3));
            audit.write(&line).unwrap();
        }
        let text = fs_err::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (&lines[0]["query"], &lines[1]["query"]),
            (&"one".into(), &"two\nlines".into())
        );
        assert_eq!(
            (&lines[0]["user"], &lines[0]["hits"]),
            (&"anna".into(), &3.into())
        );
        let mode = fs_err::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_others_can_read_takes_no_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Audit::open(&path).unwrap();
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let anna = anna();
        assert!(
            audit
                .write(&Line::new(&anna, ("GET", "/", b""), None, 200, None))
                .is_err()
        );
        fs_err::remove_dir_all(folder.path()).unwrap();
        assert!(
            audit
                .write(&Line::new(&anna, ("GET", "/", b""), None, 200, None))
                .is_err()
        );
    }
}
