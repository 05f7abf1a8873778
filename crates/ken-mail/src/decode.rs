//! Content-Transfer-Encoding (RFC 2045 section 6) and character sets, tolerant of mistakes.
//!
//! Bytes that need no decoding are borrowed: most text is plain ASCII or UTF-8.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use memchr::memchr;

use crate::cms;

/// Decodes bytes without a declared character set.
pub type Detect<'d> = &'d dyn Fn(&[u8]) -> String;

/// The most bytes of text that are decoded: nobody reads more, and a decoder needs four times the space.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// How the bytes of a part are written in the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Transfer {
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
    /// The content of CMS data, which is binary or base64.
    Signed {
        is_base64: bool,
    },
}

impl Transfer {
    /// Returns the encoding in the value of a Content-Transfer-Encoding header.
    pub(crate) fn from_name(name: &str) -> Self {
        if name.eq_ignore_ascii_case("base64") {
            Self::Base64
        } else if name.eq_ignore_ascii_case("quoted-printable") {
            Self::QuotedPrintable
        } else {
            Self::Identity
        }
    }
}

/// The content of a part, decoded on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) transfer: Transfer,
}

impl<'a> Content<'a> {
    /// Returns the original bytes, borrowed if the message has them unencoded.
    pub fn decode(&self) -> Cow<'a, [u8]> {
        match self.transfer {
            Transfer::Identity => Cow::Borrowed(self.raw),
            Transfer::Base64 => Cow::Owned(base64(self.raw)),
            Transfer::QuotedPrintable => quoted_printable(self.raw),
            Transfer::Signed { is_base64: false } => {
                Cow::Owned(cms::content(self.raw).unwrap_or_default())
            }
            Transfer::Signed { is_base64: true } => {
                Cow::Owned(cms::content(&base64(self.raw)).unwrap_or_default())
            }
        }
    }

    /// Returns this content as that of CMS data, if it is signed data that contains its content.
    pub(crate) fn as_signed(&self) -> Option<Self> {
        let is_base64 = self.transfer == Transfer::Base64;
        let raw = self.raw.trim_ascii_start();
        // As much as can be decoded without knowing what follows.
        let start = Self {
            raw: &raw[..raw.len().min(cms::START_BYTES.div_ceil(3) * 4)],
            ..*self
        };
        let signed = Self {
            raw: if is_base64 { raw } else { self.raw },
            transfer: Transfer::Signed { is_base64 },
        };
        (cms::is_signed_data(&start.decode()) && !signed.decode().is_empty()).then_some(signed)
    }

    /// Returns an upper bound, close to the size, for the bytes of [`Content::decode`].
    pub fn max_bytes(&self) -> usize {
        match self.transfer {
            Transfer::Base64 | Transfer::Signed { is_base64: true } => self.raw.len() / 4 * 3 + 3,
            Transfer::Identity | Transfer::QuotedPrintable | Transfer::Signed { .. } => {
                self.raw.len()
            }
        }
    }
}

/// Decodes base64; lines with other characters, such as a mailing list's footer, are left out.
fn base64(raw: &[u8]) -> Vec<u8> {
    base64_decode(raw).unwrap_or_else(|| {
        let mut lines = Vec::with_capacity(raw.len());
        for line in raw.split(|byte| *byte == b'\n') {
            if line.trim_ascii().iter().all(|byte| is_base64(*byte)) {
                lines.extend_from_slice(line);
            }
        }
        base64_decode(&lines).unwrap_or_default()
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Decodes quoted-printable; an `=` that starts no escape is a plain `=`.
fn quoted_printable(raw: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'=', raw) else {
        return Cow::Borrowed(raw);
    };
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        decoded.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        rest = &rest[escape(rest, &mut decoded)..];
        next = memchr(b'=', rest);
    }
    decoded.extend_from_slice(rest);
    Cow::Owned(decoded)
}

/// Decodes what follows an `=`, two digits or the end of the line, and returns its length.
fn escape(rest: &[u8], decoded: &mut Vec<u8>) -> usize {
    if let [high, low, ..] = rest
        && let (Some(high), Some(low)) = (hex(*high), hex(*low))
    {
        decoded.push(high << 4 | low);
        return 2;
    }
    let blanks = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        .count();
    match rest.get(blanks) {
        Some(b'\n') => blanks + 1,
        None => blanks,
        Some(_) => {
            decoded.push(b'=');
            0
        }
    }
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Returns bytes as text in their declared character set. If none is declared, or it is unknown or impossible,
/// `detect` decides.
pub(crate) fn text<'a>(
    bytes: Cow<'a, [u8]>,
    charset: Option<&str>,
    detect: Detect<'_>,
) -> Cow<'a, str> {
    let bytes = cut(bytes);
    let charset = charset.unwrap_or_default();
    if is_superset_of_ascii(charset) && bytes.is_ascii() || may_be_utf8(charset) {
        match utf8(bytes) {
            Ok(text) => text,
            Err(bytes) => legacy(&bytes, charset, detect),
        }
    } else {
        legacy(&bytes, charset, detect)
    }
}

fn cut(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(MAX_TEXT_BYTES)]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(MAX_TEXT_BYTES);
            Cow::Owned(bytes)
        }
    }
}

fn utf8(bytes: Cow<'_, [u8]>) -> Result<Cow<'_, str>, Cow<'_, [u8]>> {
    match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes)
            .map(Cow::Borrowed)
            .map_err(|_| Cow::Borrowed(bytes)),
        Cow::Owned(bytes) => String::from_utf8(bytes)
            .map(Cow::Owned)
            .map_err(|error| Cow::Owned(error.into_bytes())),
    }
}

fn legacy<'a>(bytes: &[u8], charset: &str, detect: Detect<'_>) -> Cow<'a, str> {
    let decoder = if is_ascii_or_utf8(charset) {
        None
    } else {
        charset_decoder(charset.as_bytes())
    };
    Cow::Owned(match decoder {
        Some(decoder) => decoder(bytes),
        None => detect(bytes),
    })
}

/// Returns whether ASCII bytes in this charset mean ASCII characters.
fn is_superset_of_ascii(charset: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "utf-7",
        "utf7",
        "utf-16",
        "utf16",
        "ucs",
        "unicode",
        "iso-2022",
        "iso-10646",
        "hz",
        "csiso2022",
        "csutf",
        "csunicode",
    ];
    let starts = |prefix: &str| {
        let start = charset.get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    !OTHERS.into_iter().any(starts)
}

/// Returns whether text declared in this charset may be UTF-8. Valid UTF-8 outside ASCII is hardly ever meaningful
/// Latin-1.
fn may_be_utf8(charset: &str) -> bool {
    is_ascii_or_utf8(charset)
        || ["iso-8859-1", "windows-1252", "latin1", "cp1252"]
            .iter()
            .any(|name| name.eq_ignore_ascii_case(charset))
}

fn is_ascii_or_utf8(charset: &str) -> bool {
    ["", "us-ascii", "ascii", "utf-8", "utf8", "ansi_x3.4-1968"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(charset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(bytes: &[u8]) -> String {
        format!("detected {}", bytes.len())
    }

    #[test]
    fn quoted_printable_is_decoded_and_mistakes_stand() {
        for (raw, decoded) in [
            ("plain", "plain"),
            ("caf=C3=A9 =3d", "café ="),
            ("soft=\nbreak=  \r\nhere", "softbreakhere"),
            ("a=b==C3=A9", "a=b=é"),
            ("x=", "x"),
            ("x=4", "x=4"),
            ("100 = 10 * 10", "100 = 10 * 10"),
        ] {
            assert_eq!(
                quoted_printable(raw.as_bytes()),
                decoded.as_bytes(),
                "{raw}"
            );
        }
    }

    #[test]
    fn base64_leaves_out_what_is_not_base64() {
        for (raw, decoded) in [
            ("Y2Fmw6k=", "café"),
            ("Y2Fm\r\nw6k=\r\n", "café"),
            ("Y2Fmw6k=\n____\nlist footer: help\n", "café"),
            ("Y2Fmw6k", "café"),
            ("!", ""),
        ] {
            assert_eq!(base64(raw.as_bytes()), decoded.as_bytes(), "{raw}");
        }
    }

    #[test]
    fn charsets_are_believed_when_they_can_be_true() {
        for (bytes, charset, expected) in [
            (&b"plain"[..], Some("koi8-r"), "plain"),
            (b"caf\xe9", Some("iso-8859-1"), "café"),
            ("café".as_bytes(), Some("iso-8859-1"), "café"),
            ("café".as_bytes(), None, "café"),
            (b"caf\xe9", None, "detected 4"),
            (b"caf\xe9", Some("utf-8"), "detected 4"),
            (b"caf\xe9", Some("us-ascii"), "detected 4"),
            (b"caf\xe9", Some("x-unknown"), "detected 4"),
            (b"\xf0\xd2\xc9", Some("KOI8-R"), "При"),
            (b"\xc4\xa3", Some("gbk"), "模"),
            (b"\x1b$B%O%m!<\x1b(B", Some("ISO-2022-JP"), "ハロー"),
            (b"\x1b$B%O%m!<\x1b(B", Some("csISO2022JP"), "ハロー"),
            (b"+ZYeB9A-", Some("UTF-7"), "文致"),
            (b"\xe9\x00", Some("utf-16le"), "é"),
        ] {
            let text = text(Cow::Borrowed(bytes), charset, &detect);
            assert_eq!(text, expected, "{charset:?}");
        }
    }
}
