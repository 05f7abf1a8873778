//! Content-Transfer-Encoding (RFC 2045 section 6) and character sets, tolerant of mistakes.
//!
//! Bytes that need no decoding are borrowed: most text is plain ASCII or UTF-8.

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use memchr::memchr;

use crate::charset::Charset;
use crate::cms;
use crate::uuencode;

/// Decodes bytes without a declared character set.
pub type Detect<'d> = &'d dyn Fn(&[u8]) -> String;

/// The most bytes of text that are decoded: more is of no use, and a decoder needs four times the space.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// How the bytes of a part are written in the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Transfer {
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
    /// Uuencode, with or without its lines `begin` and `end`.
    Uuencode,
    /// The content of CMS data, which is binary or base64.
    Signed {
        is_base64: bool,
    },
}

impl Transfer {
    /// Returns the encoding in the value of a Content-Transfer-Encoding header. The first word counts, without
    /// punctuation; content in an unknown encoding is taken as it is.
    pub(crate) fn from_name(value: &str) -> Self {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let mut words = value.split(|c| !is_part(c));
        let word = words.find(|word| !word.is_empty()).unwrap_or_default();
        let is = |name: &str| {
            let letters = word.bytes().filter(u8::is_ascii_alphanumeric);
            letters
                .map(|letter| letter.to_ascii_lowercase())
                .eq(name.bytes())
        };
        if is("base64") {
            Self::Base64
        } else if is("quotedprintable") || is("quoted") {
            Self::QuotedPrintable
        } else if ["uuencode", "xuuencode", "xuue", "uue"].into_iter().any(is) {
            Self::Uuencode
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
            Transfer::Uuencode => Cow::Owned(uuencode::decoded(self.raw)),
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
            Transfer::Identity
            | Transfer::QuotedPrintable
            | Transfer::Uuencode
            | Transfer::Signed { .. } => self.raw.len(),
        }
    }
}

/// Decodes base64. Lines of other text, such as the footer of a mailing list, are left out, and so are single foreign
/// characters in lines of base64.
fn base64(raw: &[u8]) -> Vec<u8> {
    base64_decode(raw).unwrap_or_else(|| {
        let mut kept = Vec::with_capacity(raw.len());
        for line in raw.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            let n_others = line.iter().filter(|byte| !is_base64(**byte)).count();
            // Padding ends the content.
            let is_over = kept.last() == Some(&b'=');
            let may_have = if is_over { 0 } else { (line.len() / 8).max(1) };
            if n_others <= may_have && n_others < line.len() && !line.contains(&b' ') {
                kept.extend(line.iter().filter(|byte| is_base64(**byte)));
            }
        }
        base64_decode(&kept).unwrap_or_default()
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
    let n_spaces = rest
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        .count();
    match rest.get(n_spaces) {
        Some(b'\n') => n_spaces + 1,
        None => n_spaces,
        Some(_) => {
            decoded.push(b'=');
            0
        }
    }
}

/// Returns the value of a hexadecimal digit.
pub(crate) fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Returns bytes as text in their declared character set. If none is declared, or it is unknown or impossible,
/// `detect` decides.
pub(crate) fn text<'a>(bytes: Cow<'a, [u8]>, charset: Charset, detect: Detect<'_>) -> Cow<'a, str> {
    let bytes = cut(bytes);
    let is_ascii = || charset.is_superset_of_ascii() && bytes.is_ascii();
    if !charset.may_be_utf8() && !is_ascii() {
        return legacy(&bytes, charset, detect);
    }
    match utf8(bytes) {
        Ok(text) => match Charset::by_escapes(text.as_bytes()) {
            Some(charset) => legacy(text.as_bytes(), charset, detect),
            None => text,
        },
        Err(bytes) => legacy(&bytes, charset, detect),
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

fn legacy<'a>(bytes: &[u8], charset: Charset, detect: Detect<'_>) -> Cow<'a, str> {
    let decoded = charset.decode(bytes).map(Cow::into_owned);
    Cow::Owned(decoded.unwrap_or_else(|| detect(bytes)))
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
            ("Y2F*mw6k=", "café"),
            ("Y2Fmw6k=\nunsubscribe:\n", "café"),
            ("Y2Fm!\n w6k=\n", "café"),
            ("Y2Fm\u{7f}w6k=\n", "café"),
            ("!", ""),
        ] {
            assert_eq!(base64(raw.as_bytes()), decoded.as_bytes(), "{raw}");
        }
    }

    #[test]
    fn encodings_are_known_whatever_stands_around_them() {
        for (value, transfer) in [
            ("base64", Transfer::Base64),
            (" BASE64 ", Transfer::Base64),
            ("\"base64\";", Transfer::Base64),
            ("base64 (comment)", Transfer::Base64),
            ("base64, 8bit", Transfer::Base64),
            ("base-64", Transfer::Base64),
            ("quoted_printable", Transfer::QuotedPrintable),
            ("<Quoted-Printable>", Transfer::QuotedPrintable),
            ("quotedprintable\n", Transfer::QuotedPrintable),
            ("x-uuencode", Transfer::Uuencode),
            ("7-bit", Transfer::Identity),
            ("8bits", Transfer::Identity),
            ("7bit (not base64)", Transfer::Identity),
            ("", Transfer::Identity),
        ] {
            assert_eq!(Transfer::from_name(value), transfer, "{value}");
        }
    }

    #[test]
    fn charsets_are_believed_when_they_can_be_true() {
        for (bytes, charset, expected) in [
            (&b"plain"[..], "koi8-r", "plain"),
            (b"caf\xe9", "iso-8859-1", "café"),
            ("café".as_bytes(), "iso-8859-1", "café"),
            ("café".as_bytes(), "", "café"),
            (b"caf\xe9", "", "detected 4"),
            (b"caf\xe9", "utf-8", "detected 4"),
            (b"caf\xe9", "us-ascii", "detected 4"),
            (b"caf\xe9", "x-unknown", "detected 4"),
            (b"\xf0\xd2\xc9", "KOI8-R", "При"),
            (b"\x1b$B%O%m!<\x1b(B", "ISO-2022-JP", "ハロー"),
            (b"\x1b$B%O%m!<\x1b(B", "", "ハロー"),
            (b"\x1b$B%O%m!<\x1b(B", "utf-8", "ハロー"),
            (b"\x1b$B%O%m!<\x1b(B", "windows-1251", "ハロー"),
        ] {
            let text = text(Cow::Borrowed(bytes), Charset::named(charset), &detect);
            assert_eq!(text, expected, "{charset}");
        }
    }
}
