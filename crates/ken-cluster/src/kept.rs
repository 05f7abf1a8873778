//! A document as the cluster keeps it: one string of JSON, from which everything else is made again, and the text.

use ken_core::{
    Document, Failure, Field, FileKey, Ipath, Kind, Location, MessageSpan, Token, Value,
};
use ken_engine::{FileState, Record};
use serde::{Deserialize, Serialize};

/// All of a document but its text.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The bytes of the location in hexadecimal; a path need not be text.
    location: String,
    key: String,
    media_type: String,
    kind: Kind,
    fields: Vec<(Field, Value)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<u8>,
    /// Offset and digest of a message in its mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    span: Option<(u64, u64)>,
    /// Token and identity of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<(u64, u64)>,
}

/// The bits of the key of a former path by which messages are found. Of a million messages 63 have the same ones.
const FORMER_BITS: u32 = 20;

impl Kept {
    pub(crate) fn of(record: &Record) -> Self {
        let document = &record.document;
        Self {
            location: hex(&record.location.to_bytes()),
            key: key(record.key),
            media_type: document.media_type.clone(),
            kind: document.kind,
            fields: document.fields.clone(),
            failure: document.failure.clone(),
            content: document.content,
            message: document.message,
            span: document.span.map(|span| (span.offset, span.digest)),
            state: record.state.map(|of| (of.token.number(), of.identity)),
        }
    }

    /// Returns the record; none if the bytes of its location or its key are no hexadecimal numbers.
    pub(crate) fn into_record(self, body: String) -> Option<Record> {
        let location = Location::from_bytes(&unhex(&self.location)?);
        let mut document = Document::new(location.ipath.clone(), self.media_type, self.kind);
        document.fields = self.fields;
        document.body = body;
        document.failure = self.failure;
        document.content = self.content;
        document.message = self.message;
        document.span = self
            .span
            .map(|(offset, digest)| MessageSpan { offset, digest });
        let state = self.state.map(|(token, identity)| FileState {
            token: Token::from_number(token),
            identity,
        });
        Some(Record {
            location,
            key: FileKey(number(&self.key)?),
            state,
            document,
        })
    }
}

/// Returns a number as text of one length, in whose order numbers are.
pub(crate) fn number_text(number: u64) -> String {
    format!("{number:016x}")
}

/// Returns a number from its text.
pub(crate) fn number(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// Returns what the cluster keeps of the key of a path that a message may have had.
pub(crate) fn former(key: FileKey) -> String {
    format!("{:05x}", key.0 & ((1 << FORMER_BITS) - 1))
}

/// Returns the key of a file as text, which is also the identifier of the file's own document.
pub(crate) fn key(key: FileKey) -> String {
    number_text(key.0)
}

/// Returns the identifier of a document.
pub(crate) fn id(of: FileKey, ipath: &Ipath) -> String {
    match ipath.is_root() {
        true => key(of),
        false => format!(
            "{}-{}",
            key(of),
            number_text(hash(ipath.as_str().as_bytes()))
        ),
    }
}

/// Returns a hash that never changes: it is in the cluster.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    siphasher::sip::SipHasher13::new().hash(bytes)
}

/// Returns bytes as hexadecimal text, which has their order.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use ken_core::Cause;

    use super::*;

    #[test]
    fn a_record_is_kept_whole() {
        let ipath = Ipath::root().child("1").child("a|b");
        let mut document = Document::new(ipath.clone(), "text/plain", Kind::Document);
        document.add_text(Field::Title, "Ünder");
        document.add_number(Field::Size, -3);
        document.body = "text\u{2029}more".to_owned();
        document.failure = Some(Failure::new(Cause::Damaged { what: "x".into() }));
        document.content = Some(u64::MAX);
        document.message = Some(1);
        document.span = Some(MessageSpan {
            offset: 1,
            digest: u64::MAX,
        });
        let path = std::ffi::OsString::from("/a/\u{e9}");
        let record = Record {
            location: Location {
                path: path.into(),
                ipath,
            },
            key: FileKey(7),
            state: Some(FileState {
                token: Token::from_number(9),
                identity: u64::MAX,
            }),
            document: document.clone(),
        };
        let json = serde_json::to_string(&Kept::of(&record)).unwrap();
        let kept: Kept = serde_json::from_str(&json).unwrap();
        let read = kept.into_record(document.body.clone()).unwrap();
        assert_eq!(read.location, record.location);
        assert_eq!((read.key, read.state), (record.key, record.state));
        assert_eq!(read.document, document);
    }

    #[test]
    fn identifiers_are_those_of_files_and_members() {
        let key = FileKey(0xabc);
        assert_eq!(id(key, &Ipath::root()), "0000000000000abc");
        let member = id(key, &Ipath::root().child("1"));
        assert!(
            member.starts_with("0000000000000abc-") && member.len() == 33,
            "{member}"
        );
    }
}
