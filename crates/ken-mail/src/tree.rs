//! The tree of a message's parts (RFC 2045, RFC 2046), with the headers of each: what a program shows part by part.
//!
//! A multipart has its parts as children, and an attached message has its own content as the only child. Depth and
//! number of parts are bounded; what lies deeper stays a part without children.

use std::borrow::Cow;

use crate::Detect;
use crate::charset::Charset;
use crate::date;
use crate::decode::{Content, Transfer, text};
use crate::header::{Fields, add_addresses, add_ids, clean, words};
use crate::params::Params;
use crate::parse::without_empty_lines;
use crate::part::split;
use crate::words::decoded;

/// The deepest part with children.
const MAX_DEPTH: usize = 50;
/// The most parts of a message.
const MAX_PARTS: usize = 10_000;

/// A part of a message, or the message itself.
#[derive(Debug)]
pub struct TreePart<'a> {
    /// The header and the body, as they are in the message.
    pub whole: &'a [u8],
    /// The body, as it is in the message.
    pub body: &'a [u8],
    /// The media type as it is written, without parameters.
    pub media_type: String,
    /// The word of the disposition, such as `attachment`.
    pub disposition: Option<String>,
    /// The identifier of the content, without angle brackets.
    pub content_id: Option<String>,
    /// The declared name of the file.
    pub file_name: Option<String>,
    /// The declared character set.
    pub charset: Option<String>,
    /// The declared encoding of the body.
    pub encoding: Option<String>,
    /// What the part consists of.
    pub inner: TreeInner<'a>,
    transfer: Transfer,
}

/// What a part consists of.
#[derive(Debug)]
pub enum TreeInner<'a> {
    /// Content that is no part of a message.
    Leaf,
    /// The parts of a multipart.
    Multipart(Vec<TreePart<'a>>),
    /// An attached message.
    Message(Box<TreePart<'a>>),
}

impl<'a> TreePart<'a> {
    /// Reads a message. Any bytes are one.
    pub fn read(message: &'a [u8], detect: Detect<'_>) -> Self {
        let mut n_left = MAX_PARTS;
        let message = without_from_line(without_empty_lines(message));
        read(message, "text/plain", 0, &mut n_left, detect)
    }

    /// Returns whether the media type is of this type and, unless it is `*`, subtype.
    pub fn is(&self, kind: &str, subtype: &str) -> bool {
        let (own, own_subtype) = self.media_type.split_once('/').unwrap_or_default();
        own.eq_ignore_ascii_case(kind)
            && (subtype == "*" || own_subtype.eq_ignore_ascii_case(subtype))
    }

    /// Returns whether the part is declared as an attachment.
    pub fn is_attachment(&self) -> bool {
        let word = self.disposition.as_deref().unwrap_or_default();
        word.eq_ignore_ascii_case("attachment")
    }

    /// Returns the part without the header fields of a message: those about content, and the body.
    pub fn without_message_header(&self) -> Vec<u8> {
        let mut part = Vec::with_capacity(self.whole.len());
        for (name, value) in Fields::new(self.whole) {
            let start = name.get(..8).unwrap_or_default();
            if start.eq_ignore_ascii_case(b"content-") {
                part.extend_from_slice(name);
                part.push(b':');
                part.extend_from_slice(value);
            }
        }
        part.push(b'\n');
        part.extend_from_slice(self.body);
        part
    }

    /// Returns the content, decoded.
    pub fn content(&self) -> Cow<'a, [u8]> {
        let content = Content {
            raw: self.body,
            transfer: self.transfer,
        };
        content.decode()
    }

    /// Returns the content as text with line feeds only.
    pub fn text(&self, detect: Detect<'_>) -> String {
        let charset = Charset::named(self.charset.as_deref().unwrap_or_default());
        text(self.content(), charset, detect).replace("\r\n", "\n")
    }

    /// Returns a parameter of the content type.
    pub fn parameter(&self, name: &str, detect: Detect<'_>) -> Option<String> {
        let value = clean(self.values("Content-Type").next()?, detect);
        Params::new(&value).get(name, detect)
    }

    /// Returns the values of a header, decoded and each on one line.
    pub fn header(&self, name: &str, detect: Detect<'_>) -> Vec<String> {
        let values = self.values(name);
        values
            .map(|value| words(&clean(value, detect), detect))
            .collect()
    }

    /// Returns the first header of a name as it is written there, and its value, decoded and without line ends.
    pub fn folded_header(&self, name: &str, detect: Detect<'_>) -> Option<(String, String)> {
        let mut fields = Fields::new(self.whole);
        let (own, value) = fields.find(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes()))?;
        let value = clean(value, detect).replace(['\r', '\n'], "");
        let value = decoded(value.trim(), detect).into_owned();
        Some((String::from_utf8_lossy(own).into_owned(), value))
    }

    /// Returns the addresses in a header: `Name <user@host>` or an address each.
    pub fn addresses(&self, name: &str, detect: Detect<'_>) -> Vec<String> {
        let mut all = Vec::new();
        for value in self.values(name) {
            add_addresses(&clean(value, detect), detect, &mut all);
        }
        all
    }

    /// Returns the identifiers in a header, without angle brackets.
    pub fn ids(&self, name: &str, detect: Detect<'_>) -> Vec<String> {
        let mut all = Vec::new();
        for value in self.values(name) {
            add_ids(&decoded(&clean(value, detect), detect), &mut all);
        }
        all
    }

    /// Returns when the message was sent by its header, in seconds since 1970-01-01 UTC, and the minutes by which its
    /// clock was ahead of UTC.
    pub fn date(&self, detect: Detect<'_>) -> Option<(i64, i32)> {
        let value = self.header("Date", detect).into_iter().next()?;
        Some((date::parse(&value)?, minutes_ahead(&value)))
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let fields = Fields::new(self.whole);
        fields.filter_map(move |(field, value)| {
            field.eq_ignore_ascii_case(name.as_bytes()).then_some(value)
        })
    }
}

/// Returns a message without the line of a mailbox before it.
fn without_from_line(bytes: &[u8]) -> &[u8] {
    match bytes.starts_with(b"From ") {
        true => &bytes[crate::lines::line_end(bytes)..],
        false => bytes,
    }
}

/// Returns the offset in `Fri, 05 Jan 2001 15:43:57 +0100`, in minutes; 0 if there is none.
fn minutes_ahead(date: &str) -> i32 {
    let sign_of = |word: &str| match word.as_bytes() {
        [sign @ (b'+' | b'-'), digits @ ..] if digits.len() == 4 => {
            let digits = std::str::from_utf8(digits).ok()?;
            let number: i32 = digits.parse().ok()?;
            let minutes = number / 100 * 60 + number % 100;
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    };
    date.split_whitespace().find_map(sign_of).unwrap_or(0)
}

fn read<'a>(
    whole: &'a [u8],
    default_type: &str,
    depth: usize,
    n_left: &mut usize,
    detect: Detect<'_>,
) -> TreePart<'a> {
    *n_left = n_left.saturating_sub(1);
    let mut part = TreePart {
        whole,
        body: b"",
        media_type: String::new(),
        disposition: None,
        content_id: None,
        file_name: None,
        charset: None,
        encoding: None,
        inner: TreeInner::Leaf,
        transfer: Transfer::default(),
    };
    let mut boundary = None;
    let mut fields = Fields::new(whole);
    for (name, value) in fields.by_ref() {
        take(&mut part, &mut boundary, name, value, detect);
    }
    part.body = fields.body();
    if part.media_type.is_empty() {
        default_type.clone_into(&mut part.media_type);
    }
    if depth < MAX_DEPTH && *n_left > 0 {
        part.inner = inner(&part, boundary.as_deref(), depth, n_left, detect);
    }
    part
}

fn inner<'a>(
    part: &TreePart<'a>,
    boundary: Option<&str>,
    depth: usize,
    n_left: &mut usize,
    detect: Detect<'_>,
) -> TreeInner<'a> {
    if part.is("message", "rfc822") && part.transfer == Transfer::Identity {
        let message = read(part.body, "text/plain", depth + 1, n_left, detect);
        return TreeInner::Message(Box::new(message));
    }
    if !part.is("multipart", "*") {
        return TreeInner::Leaf;
    }
    let default_type = match part.is("multipart", "digest") {
        true => "message/rfc822",
        false => "text/plain",
    };
    let pieces = split(part.body, boundary.unwrap_or_default(), *n_left);
    let pieces = pieces.into_iter();
    let parts = pieces.map(|piece| read(piece, default_type, depth + 1, n_left, detect));
    TreeInner::Multipart(parts.collect())
}

fn take(
    part: &mut TreePart<'_>,
    boundary: &mut Option<String>,
    name: &[u8],
    value: &[u8],
    detect: Detect<'_>,
) {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
    let text = || clean(value, detect);
    if is("content-type") && part.media_type.is_empty() {
        let text = text();
        let params = Params::new(&text);
        if params.word.contains('/') {
            params.word.clone_into(&mut part.media_type);
        }
        let get = |name| params.get(name, detect);
        *boundary = get("boundary");
        part.charset = get("charset");
        part.file_name = part.file_name.take().or_else(|| get("name"));
    } else if is("content-disposition") {
        let text = text();
        let params = Params::new(&text);
        part.disposition = Some(params.word.to_owned()).filter(|word| !word.is_empty());
        let name = params.get("filename", detect);
        part.file_name = name.or_else(|| part.file_name.take());
    } else if is("content-id") {
        let id = text().trim().trim_matches(['<', '>']).to_owned();
        part.content_id = Some(id);
    } else if is("content-transfer-encoding") {
        let encoding = text().trim().to_owned();
        part.transfer = Transfer::from_name(&encoding);
        part.encoding = Some(encoding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn parts_are_a_tree() {
        let message = b"Subject: =?utf-8?q?gr=C3=BCn?=\nDate: Fri, 05 Jan 2001 15:43:57 +0130\n\
            Content-Type: multipart/mixed; boundary=m\n\n--m\n\n\
            plain\n--m\nContent-Type: message/rfc822\n\nTo: a@x, B <b@x>\n\ninside\n--m\n\
            Content-Type: Text/HTML; charset=latin1; name=p.html\n\
            Content-Disposition: attachment\nContent-ID: <1@x>\n\
            Content-Transfer-Encoding: base64\n\n5A0K\n--m--\n";
        let tree = TreePart::read(message, &utf8);
        assert_eq!(tree.header("subject", &utf8), ["grün"]);
        assert_eq!(tree.date(&utf8), Some((978_704_037, 90)));
        let TreeInner::Multipart(parts) = &tree.inner else {
            panic!("a multipart");
        };
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0].text(&utf8), "plain");
        let TreeInner::Message(inside) = &parts[1].inner else {
            panic!("a message");
        };
        assert_eq!(inside.addresses("To", &utf8), ["a@x", "B <b@x>"]);
        assert_eq!(inside.text(&utf8), "inside");
        let page = &parts[2];
        assert!(page.is("text", "html") && page.is_attachment());
        assert_eq!(page.file_name.as_deref(), Some("p.html"));
        assert_eq!(page.content_id.as_deref(), Some("1@x"));
        assert_eq!(page.text(&utf8), "ä\n");
    }

    #[test]
    fn nesting_ends() {
        let mut message = Vec::new();
        for _ in 0..1000 {
            message.extend_from_slice(b"Content-Type: message/rfc822\n\n");
        }
        let mut part = &TreePart::read(&message, &utf8);
        let mut depth = 0;
        while let TreeInner::Message(inner) = &part.inner {
            (part, depth) = (inner, depth + 1);
        }
        assert_eq!(depth, MAX_DEPTH);
    }
}
