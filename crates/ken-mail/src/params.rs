//! The value of a MIME field: a word and its parameters (RFC 2045 section 5.1, RFC 2231).

use std::borrow::Cow;

use crate::Detect;
use crate::charset::Charset;
use crate::decode::{hex, text};
use crate::words;

/// A value, parsed on demand.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a> {
    /// The word before the parameters; may be empty.
    pub(crate) word: &'a str,
    rest: &'a str,
}

impl<'a> Params<'a> {
    pub(crate) fn new(value: &'a str) -> Self {
        let value = value.trim_start();
        let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '(');
        let (word, rest) = value.split_at(value.find(is_end).unwrap_or(value.len()));
        match word.contains('=') {
            true => Self {
                word: "",
                rest: value,
            },
            false => Self {
                word: word.trim_matches('"'),
                rest,
            },
        }
    }

    /// Returns whether a parameter has this value.
    pub(crate) fn is(mut self, name: &str, value: &str) -> bool {
        self.any(|param| {
            param.name.eq_ignore_ascii_case(name) && param.value.eq_ignore_ascii_case(value)
        })
    }

    /// Returns a parameter. The extended form takes precedence over the form in pieces, and this over the plain form.
    pub(crate) fn get(self, name: &str, detect: Detect<'_>) -> Option<String> {
        let (mut plain, mut extended) = (None, None);
        let mut pieces = Vec::new();
        let is_name = |param: &Param<'_>| param.name.eq_ignore_ascii_case(name);
        for param in self.filter(is_name) {
            match param.piece {
                Some(_) => pieces.push(param),
                None if param.is_extended => extended = extended.or(Some(param)),
                None => plain = plain.or(Some(param)),
            }
        }
        pieces.sort_by_key(|param| param.piece);
        pieces.dedup_by_key(|param| param.piece);
        let value = extended.map(|param| joined(&[param], detect));
        let value = value.filter(|value| !value.is_empty());
        value
            .or_else(|| (!pieces.is_empty()).then(|| joined(&pieces, detect)))
            .or_else(|| Some(words::decoded(&plain?.unquoted(), detect).into_owned()))
    }
}

/// A parameter, or a piece of one.
pub(crate) struct Param<'a> {
    name: &'a str,
    /// The number of the piece: 0 of `name*0*=`.
    piece: Option<u32>,
    /// Whether the value has escapes: `name*=`.
    is_extended: bool,
    /// The value, without quotes around it.
    value: &'a str,
    is_quoted: bool,
}

impl<'a> Iterator for Params<'a> {
    type Item = Param<'a>;

    fn next(&mut self) -> Option<Param<'a>> {
        loop {
            let is_between = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
            self.rest = self.rest.trim_start_matches(is_between);
            if self.rest.is_empty() {
                return None;
            }
            let at = self.rest.find(['=', ';', '(']);
            let at = at.unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(at);
            if let Some(rest) = rest.strip_prefix('=') {
                return Some(self.param(name.trim(), rest.trim_start()));
            }
            self.rest = match rest.strip_prefix('(') {
                Some(comment) => comment.split_once(')').map_or("", |(_, after)| after),
                None => rest.get(1..).unwrap_or_default(),
            };
        }
    }
}

impl<'a> Params<'a> {
    fn param(&mut self, name: &'a str, rest: &'a str) -> Param<'a> {
        let (name, is_extended) = match name.strip_suffix('*') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (name, piece) = match name.split_once('*') {
            Some((name, piece)) => (name, piece.parse().ok()),
            None => (name, None),
        };
        let (value, rest, is_quoted) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (value, rest) = quoted.split_at(closing_quote(quoted));
                (value, rest.get(1..).unwrap_or_default(), true)
            }
            None => {
                // File names with spaces often lack the quotes that they need.
                let is_file = ["name", "filename"]
                    .iter()
                    .any(|file| name.eq_ignore_ascii_case(file));
                let is_end = |c: char| c == ';' || !is_file && c.is_whitespace();
                let (value, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
                (value.trim_end(), rest, false)
            }
        };
        self.rest = rest;
        Param {
            name,
            piece,
            is_extended,
            value,
            is_quoted,
        }
    }
}

/// Returns the position of the closing quote of a string. It is followed by the end, a semicolon, a comment
/// or another parameter; other quotes are part of the string, although they should be escaped.
fn closing_quote(quoted: &str) -> usize {
    let mut is_escaped = false;
    let mut last = None;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' if ends_there(&quoted[at + 1..]) => return at,
            b'"' => last = Some(at),
            _ => {}
        }
    }
    last.unwrap_or(quoted.trim_end().len())
}

fn ends_there(rest: &str) -> bool {
    let rest = rest.trim_start();
    let name =
        rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '*'));
    rest.is_empty()
        || rest.starts_with([';', '(', ','])
        || name.len() < rest.len() && name.starts_with('=')
}

impl<'a> Param<'a> {
    /// Returns the value without escapes of quotes and without line ends.
    fn unquoted(&self) -> Cow<'a, str> {
        if !self.is_quoted || !self.value.contains(['\\', '\r', '\n', '\t']) {
            return Cow::Borrowed(self.value);
        }
        let mut unquoted = String::with_capacity(self.value.len());
        let mut characters = self.value.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                // Other backslashes separate folders.
                '\\' if matches!(characters.peek(), Some('"' | '\\')) => {
                    unquoted.extend(characters.next());
                }
                '\r' | '\n' => {}
                '\t' => unquoted.push(' '),
                _ => unquoted.push(c),
            }
        }
        Cow::Owned(unquoted)
    }
}

/// Returns the value of a parameter in pieces. The bytes are joined before they are decoded.
fn joined(pieces: &[Param<'_>], detect: Detect<'_>) -> String {
    let mut value = String::new();
    let mut bytes = Vec::new();
    let mut charset = Charset::Unknown;
    for (number, piece) in pieces.iter().enumerate() {
        let unquoted = piece.unquoted();
        let mut rest = &*unquoted;
        if number == 0 && piece.is_extended {
            let mut parts = unquoted.splitn(3, '\'');
            if let (Some(name), Some(_), Some(octets)) = (parts.next(), parts.next(), parts.next())
            {
                charset = Charset::named(name);
                rest = octets;
            }
        }
        if piece.is_extended {
            add_octets(rest, &mut bytes);
        } else if rest.is_ascii() {
            bytes.extend_from_slice(rest.as_bytes());
        } else {
            let octets = std::mem::take(&mut bytes);
            value.push_str(&text(Cow::Owned(octets), charset, detect));
            value.push_str(rest);
        }
    }
    value.push_str(&text(Cow::Owned(bytes), charset, detect));
    // Some mailers split encoded words into pieces.
    words::decoded(&value, detect).into_owned()
}

/// Adds the octets of a text with `%` escapes.
fn add_octets(text: &str, octets: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if let (b'%', [high, low, after @ ..]) = (byte, after)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            octets.push(high << 4 | low);
            rest = after;
        } else {
            octets.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    fn get(value: &str, name: &str) -> String {
        Params::new(value).get(name, &latin1).unwrap_or_default()
    }

    #[test]
    fn the_word_comes_first() {
        for (value, word) in [
            (" text/plain; charset=utf-8", "text/plain"),
            ("text/plain charset=utf-8", "text/plain"),
            ("text/plain(comment)", "text/plain"),
            ("\"inline\"", "inline"),
            ("filename=a.txt", ""),
            ("", ""),
            (";;;", ""),
        ] {
            assert_eq!(Params::new(value).word, word, "{value}");
        }
    }

    #[test]
    fn parameters_are_read_however_they_are_written() {
        for (value, name, expected) in [
            ("a; charset=utf-8", "charset", "utf-8"),
            ("a; CHARSET = \"utf-8\" ; x=y", "charset", "utf-8"),
            ("a charset=utf-8 format=flowed", "format", "flowed"),
            ("a; charset=\"utf-8\" format=flowed", "format", "flowed"),
            ("a; (b; charset=x) charset=utf-8 (c)", "charset", "utf-8"),
            ("a; nothing; charset=utf-8", "charset", "utf-8"),
            ("a; boundary=\"b", "boundary", "b"),
            ("a; boundary=\"b;c\\\"d\"", "boundary", "b;c\"d"),
            (
                "a; name=my report (1).pdf; x=y",
                "name",
                "my report (1).pdf",
            ),
            (
                "a; name=\"my \"best\" one.pdf\"; x=y",
                "name",
                "my \"best\" one.pdf",
            ),
            ("a; name=\"long\r\n\tname.pdf\"", "name", "long name.pdf"),
            ("a; name=\"C:\\dir\\a.pdf\"", "name", "C:\\dir\\a.pdf"),
            ("a; x=\"(\"; y=1", "y", "1"),
            ("a; (", "y", ""),
            ("a; y=", "y", ""),
        ] {
            assert_eq!(get(value, name), expected, "{value}");
        }
    }

    #[test]
    fn pieces_are_joined_before_they_are_decoded() {
        for (value, expected) in [
            ("a; f*=utf-8''caf%C3%A9", "café"),
            ("a; f=cafe; f*=utf-8''caf%C3%A9", "café"),
            ("a; f*=utf-8''caf%C3%A9; f=cafe", "café"),
            ("a; f=plain; f*=utf-8''", "plain"),
            ("a; f*=iso-8859-1'de'caf%E9", "café"),
            ("a; f*=caf%C3%A9", "café"),
            ("a; f*=utf-8''100%.pdf", "100%.pdf"),
            ("a; f*0*=utf-8''caf%C3; f*1*=%A9", "café"),
            ("a; f*1*=%A9; f*0*=utf-8''caf%C3", "café"),
            ("a; f*0*=koi8-r''%F0; f*1*=%D2; f*2=\" 1%20\"", "Пр 1%20"),
            ("a; f*0*=latin1''%E9; f*1=ü; f*2*=%E9", "éüé"),
            ("a; f*0=\"isn't 'it\"; f*1=\".txt\"", "isn't 'it.txt"),
            ("a; f*0=long; f*1=name; f=short", "longname"),
            ("a; f*0=\"=?utf-8?Q?caf=C3\"; f*1=\"=A9?=\"", "café"),
            ("a; f=\"=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=\"", "café"),
            ("a; f*10=k; f*2=c; f*9=j", "cjk"),
            ("a; f*x=odd", "odd"),
        ] {
            assert_eq!(get(value, "f"), expected, "{value}");
        }
    }
}
