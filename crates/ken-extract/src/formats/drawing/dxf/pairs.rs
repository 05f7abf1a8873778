//! The pairs of a drawing: in lines of text, or in binary form.

use std::borrow::Cow;

use crate::structure::cursor::Cursor;
use crate::text::{self, code_page};

/// What a drawing in binary form begins with.
const BINARY: &[u8] = b"AutoCAD Binary DXF\r\n\x1a\0";

/// The pairs of a drawing.
pub(super) enum Pairs<'a> {
    Lines(Lines<'a>),
    Binary(Binary<'a>),
}

impl<'a> Pairs<'a> {
    /// Opens a drawing; none if the bytes are something else.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let charset = Charset::of(bytes);
        if let Some(binary) = bytes.strip_prefix(BINARY) {
            // Before release 13 a code was one byte. A drawing begins with code 0 and SECTION.
            let has_wide_codes = binary.starts_with(b"\0\0S");
            return Some(Self::Binary(Binary {
                rest: Cursor(binary),
                has_wide_codes,
                charset,
            }));
        }
        let lines = Lines {
            rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
            charset,
        };
        lines.clone().next()?;
        Some(Self::Lines(lines))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (i32, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Lines(lines) => lines.next(),
            Self::Binary(binary) => binary.next(),
        }
    }
}

/// How texts are stored: in UTF-8 since AutoCAD 2007, before in a code page that the header names.
#[derive(Clone, Copy)]
enum Charset {
    Unicode,
    Page(u16),
    Unknown,
}

impl Charset {
    fn of(bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(8 << 10)];
        let is_unicode = ["AC1021", "AC1024", "AC1027", "AC1032"]
            .iter()
            .any(|version| memchr::memmem::find(head, version.as_bytes()).is_some());
        if is_unicode {
            return Self::Unicode;
        }
        let named = memchr::memmem::find(head, b"$DWGCODEPAGE").and_then(|at| {
            let rest = &head[at..];
            let mark = ["ANSI_", "ansi_", "DOS", "dos"].iter().find_map(|mark| {
                memchr::memmem::find(rest, mark.as_bytes()).map(|at| at + mark.len())
            })?;
            let digits: String = rest[mark..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .map(|byte| char::from(*byte))
                .collect();
            digits.parse().ok()
        });
        named.map_or(Self::Unknown, Self::Page)
    }

    fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match (self, std::str::from_utf8(bytes)) {
            (Self::Unicode | Self::Unknown, Ok(text)) => Cow::Borrowed(text),
            (_, Ok(text)) if text.is_ascii() => Cow::Borrowed(text),
            (Self::Page(page), _) => code_page::decode(bytes, page),
            (Self::Unicode, Err(_)) => String::from_utf8_lossy(bytes),
            (Self::Unknown, Err(_)) => text::decode(bytes, None),
        }
    }
}

/// Pairs of two lines each.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    charset: Charset,
}

impl<'a> Lines<'a> {
    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr::memchr2(b'\n', b'\r', self.rest) {
            Some(end) if self.rest[end..].starts_with(b"\r\n") => {
                (&self.rest[..end], &self.rest[end + 2..])
            }
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = rest;
        Some(line)
    }

    fn next(&mut self) -> Option<(i32, Cow<'a, str>)> {
        let code = std::str::from_utf8(self.line()?.trim_ascii()).ok()?;
        let code = code.parse().ok()?;
        Some((code, self.charset.decode(self.line()?)))
    }
}

/// Pairs of a code and a value whose length follows from the code.
pub(super) struct Binary<'a> {
    rest: Cursor<'a>,
    has_wide_codes: bool,
    charset: Charset,
}

impl<'a> Binary<'a> {
    fn next(&mut self) -> Option<(i32, Cow<'a, str>)> {
        let code = self.code()?;
        let length = match code {
            290..=299 => 1,
            60..=79 | 170..=179 | 270..=289 | 370..=389 | 400..=409 | 1060..=1070 => 2,
            90..=99 | 420..=429 | 440..=459 | 1071 => 4,
            10..=59 | 110..=149 | 160..=169 | 210..=239 | 460..=469 | 1010..=1059 => 8,
            310..=319 | 1004 => usize::from(self.rest.byte()?),
            _ => return Some((code, self.text()?)),
        };
        self.rest.take(length)?;
        Some((code, Cow::Borrowed("")))
    }

    fn code(&mut self) -> Option<i32> {
        if self.has_wide_codes {
            return self.rest.le_u16().map(|code| i32::from(code as i16));
        }
        match self.rest.byte()? {
            0xff => self.rest.le_u16().map(i32::from),
            code => Some(i32::from(code)),
        }
    }

    fn text(&mut self) -> Option<Cow<'a, str>> {
        let end = memchr::memchr(0, self.rest.0)?;
        let text = self.rest.take(end)?;
        self.rest.take(1)?;
        Some(self.charset.decode(text))
    }
}
