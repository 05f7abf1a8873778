//! Recoll's `execm` protocol: messages of named items, each with its length.
//!
//! ```text
//! message := item* "\n"
//! item    := Name ":" " " decimal-length "\n" <length raw bytes>
//! ```
//! ken sends `filename`, which is empty to request the next document of the same file. Source:
//! `rclexecm.py` and `mh_execm.cpp` of Recoll. The answers are untrusted, so everything is bounded.

use std::io::{BufRead, Read};

use ken_core::Limit;

use super::fault::Fault;

/// Maximum length of a line that names an item.
const MAX_LINE_BYTES: u64 = 4096;
/// Recoll's own maximum of items in an answer.
const MAX_ITEMS: usize = 200;
/// What a helper prints instead of an answer if something that it needs is not installed.
const MISSING: &str = "RECFILTERROR HELPERNOTFOUND";

/// Returns a request. Helpers read at most nine items, with lower-case names.
pub(super) fn request(items: &[(&str, &[u8])]) -> Vec<u8> {
    let mut message = Vec::new();
    for (name, data) in items {
        message.extend_from_slice(format!("{name}: {}\n", data.len()).as_bytes());
        message.extend_from_slice(data);
    }
    message.push(b'\n');
    message
}

/// An answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The content of a document.
    pub(super) document: Option<Vec<u8>>,
    /// The member path; empty for the file itself.
    pub(super) ipath: String,
    pub(super) media_type: Option<String>,
    pub(super) charset: Option<String>,
    /// Other fields of the document.
    pub(super) fields: Vec<(String, String)>,
    /// This document is the last one.
    pub(super) is_last: bool,
    /// There are no more documents.
    pub(super) is_over: bool,
    /// The file could not be read.
    pub(super) file_failed: bool,
    /// This document could not be read; there may be others.
    pub(super) document_failed: bool,
}

/// Reads one answer; neither an item nor all items together may exceed the limit.
pub(super) fn read_answer(reader: &mut impl BufRead, limit: Limit) -> Result<Answer, Fault> {
    let mut answer = Answer::default();
    let mut rest = limit.in_force;
    for _ in 0..MAX_ITEMS {
        let Some((name, length)) = read_item(reader)? else {
            return Ok(answer);
        };
        rest = rest.checked_sub(length).ok_or(Fault::TooMuch(limit))?;
        let mut data = Vec::new();
        reader.take(length).read_to_end(&mut data)?;
        if data.len() as u64 != length {
            return Err(Fault::ENDED);
        }
        answer.take(&name, data);
    }
    Err(Fault::nonsense(format!("more than {MAX_ITEMS} items")))
}

/// Reads the line before an item: its name in lower case and its length. Returns none at the end of
/// the message.
fn read_item(reader: &mut impl BufRead) -> Result<Option<(String, u64)>, Fault> {
    let mut line = Vec::new();
    reader.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(Fault::ENDED);
    }
    let line = String::from_utf8_lossy(&line);
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(missing) = missing(line) {
        return Err(missing);
    }
    // Some helpers omit the space.
    let item = line.split_once(':').and_then(|(name, length)| {
        let length = length.trim().parse().ok()?;
        Some((name.trim().to_ascii_lowercase(), length))
    });
    match item {
        Some(item) => Ok(Some(item)),
        None => Err(Fault::nonsense(format!("it said \"{}\"", cut(line)))),
    }
}

/// Returns the fault of a missing program, if a line reports one.
pub(super) fn missing(line: &str) -> Option<Fault> {
    let what = line.strip_prefix(MISSING)?.trim();
    Some(Fault::Missing(cut(what).to_owned()))
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(200)]
}

impl Answer {
    fn take(&mut self, name: &str, data: Vec<u8>) {
        let text = || String::from_utf8_lossy(&data).into_owned();
        match name {
            "document" => self.document = Some(data),
            "ipath" => self.ipath = text(),
            "mimetype" => self.media_type = Some(text()).filter(|name| !name.is_empty()),
            "charset" => self.charset = Some(text()).filter(|name| name != "default"),
            "eofnext" => self.is_last = true,
            "eofnow" => self.is_over = true,
            "fileerror" => self.file_failed = true,
            "subdocerror" => self.document_failed = true,
            _ => {
                let value = text();
                self.fields.push((name.to_owned(), value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use ken_core::{Crash, Setting};

    use super::*;
    use crate::Limits;

    fn read(mut bytes: &[u8]) -> Result<Answer, Fault> {
        let limits = Limits {
            max_member_bytes: 1000,
            ..Limits::default()
        };
        read_answer(&mut bytes, limits.limit(Setting::MaxMemberBytes))
    }

    #[test]
    fn a_request_has_lengths_and_an_empty_line_at_its_end() {
        let items: [(&str, &[u8]); 2] = [("filename", b"/tmp/a b.zip"), ("mimetype", b"a/b")];
        assert_eq!(
            request(&items),
            b"filename: 12\n/tmp/a b.zipmimetype: 3\na/b\n"
        );
    }

    #[test]
    fn an_answer_holds_a_document_and_what_is_said_of_it() {
        let answer = read(
            b"Document: 5\na\nb\ncIpath: 1\nxMimetype: 10\ntext/plainEofnext: 0\n\
              author: 4\nAnnaauthor: 3\nBob\n",
        )
        .unwrap();
        assert_eq!(answer.document.as_deref(), Some(&b"a\nb\nc"[..]));
        assert_eq!(answer.ipath, "x");
        assert_eq!(answer.media_type.as_deref(), Some("text/plain"));
        assert!(answer.is_last && !answer.is_over);
        assert_eq!(answer.fields.len(), 2);
        assert!(read(b"Eofnow:0\nSubdocerror: 0\n\n").unwrap().is_over);
    }

    #[test]
    fn what_breaks_the_protocol_is_reported() {
        assert!(matches!(read(b""), Err(Fault::Crashed(Crash::Ended))));
        assert!(matches!(
            read(b"Document: 9\nabc"),
            Err(Fault::Crashed(Crash::Ended))
        ));
        assert!(matches!(read(b"Document: 1001\n"), Err(Fault::TooMuch(_))));
        assert!(matches!(
            read(b"Traceback (most\n"),
            Err(Fault::Crashed(Crash::Nonsense(_)))
        ));
        assert!(matches!(
            read(&b"a: 0\n".repeat(201)),
            Err(Fault::Crashed(Crash::Nonsense(_)))
        ));
        let missing = read(b"RECFILTERROR HELPERNOTFOUND python3:py7zr or python3:pylzma\n");
        let Err(Fault::Missing(what)) = missing else {
            panic!("{missing:?}");
        };
        assert_eq!(what, "python3:py7zr or python3:pylzma");
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            let _ = read(&bytes);
        }
    }
}
