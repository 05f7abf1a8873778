//! Every part of a message, in order (RFC 2045, RFC 2046): what a program lists, numbers and saves.
//!
//! [`crate::Message`] has the text that is read and the files that are attached; here are also the alternatives that it
//! leaves out, and the envelopes of signed and encrypted content.

use std::borrow::Cow;

use crate::Detect;
use crate::charset::Charset;
use crate::decode::{Content, Transfer, text};
use crate::header::Fields;
use crate::parse::without_empty_lines;
use crate::part::{PartInfo, split};

/// The deepest multiparts that are searched.
const MAX_DEPTH: usize = 20;
/// The most parts of a message.
const MAX_PARTS: usize = 10_000;

/// Media types of parts that are text to be read, or belong to the envelope of other parts.
const NO_FILES: [&str; 10] = [
    "",
    "text/plain",
    "text/html",
    "text/enriched",
    "text/richtext",
    "text/x-amp-html",
    "application/pgp-encrypted",
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
];

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MimePart<'a> {
    /// The media type in lower case.
    pub media_type: String,
    /// The file name without folders; may be empty.
    pub name: String,
    /// Whether the header of the part declares an attachment.
    pub is_declared: bool,
    /// Whether the part is a file: declared as one, named, or of a type that no text of a message has.
    pub is_file: bool,
    /// The content; empty for the envelope of signed or encrypted parts.
    pub content: Content<'a>,
    charset: Charset,
}

impl MimePart<'_> {
    /// Returns the content as text.
    pub fn text(&self, detect: Detect<'_>) -> Cow<'_, str> {
        text(self.content.decode(), self.charset, detect)
    }

    /// Returns the number of bytes that the content takes in the message.
    pub fn n_encoded_bytes(&self) -> usize {
        self.content.raw.len()
    }
}

/// Returns the parts of a message. Multiparts are left out, except those that sign or encrypt their parts.
pub fn mime_parts<'a>(message: &'a [u8], detect: Detect<'_>) -> Vec<MimePart<'a>> {
    let mut parts = Vec::new();
    let message = without_empty_lines(message);
    add(message, "text/plain", 0, detect, &mut parts);
    parts
}

fn add<'a>(
    bytes: &'a [u8],
    default_type: &str,
    depth: usize,
    detect: Detect<'_>,
    parts: &mut Vec<MimePart<'a>>,
) {
    let mut info = PartInfo::default();
    let mut fields = Fields::new(bytes);
    for (name, value) in fields.by_ref() {
        info.take(name, value, detect);
    }
    if info.media_type.is_empty() {
        default_type.clone_into(&mut info.media_type);
    }
    let body = fields.body();
    let inner = match info.media_type.starts_with("multipart/") && depth < MAX_DEPTH {
        true => {
            let boundary = info.boundary.as_deref().unwrap_or_default();
            split(body, boundary, MAX_PARTS.saturating_sub(parts.len()))
        }
        false => Vec::new(),
    };
    let is_envelope = matches!(
        &*info.media_type,
        "multipart/signed" | "multipart/encrypted"
    );
    let default_type = match &*info.media_type {
        "multipart/digest" => "message/rfc822",
        _ => "text/plain",
    };
    if inner.is_empty() || is_envelope {
        let raw = if inner.is_empty() { body } else { b"" };
        parts.push(part(info, raw, depth));
    }
    for bytes in inner {
        add(bytes, default_type, depth + 1, detect, parts);
    }
}

fn part(info: PartInfo, raw: &[u8], depth: usize) -> MimePart<'_> {
    let is_container = info.media_type.starts_with("multipart/");
    let is_named = depth > 0 && !info.name.is_empty();
    let is_of_file = !is_container && !NO_FILES.contains(&&*info.media_type);
    MimePart {
        is_declared: info.is_attachment,
        is_file: info.is_attachment || is_named || is_of_file,
        media_type: info.media_type,
        name: info.name,
        content: Content {
            raw,
            transfer: if is_container {
                Transfer::default()
            } else {
                info.transfer
            },
        },
        charset: info.charset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn every_part_is_there_in_order() {
        let message = b"Content-Type: multipart/mixed; boundary=m\n\n--m\n\
            Content-Type: multipart/alternative; boundary=a\n\n\
            --a\n\nplain\n--a\nContent-Type: text/html; charset=iso-8859-1\n\n<b>gr\xfcn\n--a--\n\
            --m\nContent-Type: multipart/signed; boundary=s\n\n\
            --s\n\nsigned\n--s\nContent-Type: application/pgp-signature\n\nx\n--s--\n\
            --m\nContent-Type: image/png; name=p.png\nContent-Transfer-Encoding: base64\n\niVBO\n\
            --m\nContent-Disposition: attachment\n\nnote\n\
            --m\nContent-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: x\n\ny\n--d--\n--m--\n";
        let parts = mime_parts(message, &latin1);
        let found: Vec<_> = parts
            .iter()
            .map(|part| (&*part.media_type, part.is_file, part.n_encoded_bytes()))
            .collect();
        let expected = [
            ("text/plain", false, 5),
            ("text/html", false, 7),
            ("multipart/signed", false, 0),
            ("text/plain", false, 6),
            ("application/pgp-signature", false, 1),
            ("image/png", true, 4),
            ("text/plain", true, 4),
            ("message/rfc822", true, 13),
        ];
        assert_eq!(found, expected);
        assert_eq!(parts[1].text(&latin1), "<b>gr\u{fc}n");
        assert!(!parts[5].is_declared && parts[6].is_declared);
        assert_eq!(parts[5].content.decode().len(), 3);
    }

    #[test]
    fn a_message_without_parts_is_one() {
        let parts = mime_parts(b"\nSubject: x\n\ntext\n", &latin1);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].text(&latin1), "text\n");
        assert_eq!(mime_parts(b"", &latin1).len(), 1);
    }
}
