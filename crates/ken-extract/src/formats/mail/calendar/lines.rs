//! Parses content lines: `NAME;PARAMETER=value:value` (RFC 5545 3.1, RFC 6350 3.3), and those of
//! vCard 2.1 with quoted-printable values.

use std::borrow::Cow;

use crate::text;

/// Joins folded lines: a line that begins with a space continues the previous one. Works on bytes,
/// since a fold may split a character.
pub(super) fn unfold(bytes: &[u8]) -> Vec<u8> {
    let mut unfolded = Vec::with_capacity(bytes.len());
    let mut is_quoted_printable = false;
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let [b' ' | b'\t', rest @ ..] = line
            && !unfolded.is_empty()
        {
            unfolded.pop();
            unfolded.extend_from_slice(rest);
        } else if is_quoted_printable && unfolded.ends_with(b"=\n") {
            // A soft line break of quoted-printable.
            unfolded.truncate(unfolded.len() - 2);
            unfolded.extend_from_slice(line);
        } else {
            is_quoted_printable = contains(line, b"QUOTED-PRINTABLE");
            unfolded.extend_from_slice(line);
        }
        unfolded.push(b'\n');
    }
    unfolded
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    let start = &line[..line.len().min(200)];
    start
        .windows(word.len())
        .any(|window| window.eq_ignore_ascii_case(word))
}

/// A line.
pub(super) struct Line<'t> {
    /// In upper case, without its group.
    pub(super) name: String,
    parameters: &'t str,
    /// The raw value.
    pub(super) value: Cow<'t, str>,
}

impl<'t> Line<'t> {
    pub(super) fn parse(line: &'t str) -> Option<Self> {
        let colon = outside_quotes(line, ':')?;
        let (head, value) = (&line[..colon], &line[colon + 1..]);
        let (name, parameters) = match outside_quotes(head, ';') {
            Some(at) => (&head[..at], &head[at + 1..]),
            None => (head, ""),
        };
        let name = name.rsplit('.').next().unwrap_or(name);
        let mut parsed = Self {
            name: name.trim().to_ascii_uppercase(),
            parameters,
            value: Cow::Borrowed(value),
        };
        if contains(parameters.as_bytes(), b"QUOTED-PRINTABLE") {
            let bytes = quoted_printable(value);
            let charset = parsed.parameter("CHARSET");
            parsed.value = Cow::Owned(text::decode(&bytes, charset).into_owned());
        }
        Some(parsed)
    }

    /// Returns a parameter's value without its quotes.
    pub(super) fn parameter(&self, name: &str) -> Option<&'t str> {
        let mut rest = self.parameters;
        loop {
            let end = outside_quotes(rest, ';').unwrap_or(rest.len());
            if let Some((known, value)) = rest[..end].split_once('=')
                && known.trim().eq_ignore_ascii_case(name)
            {
                return Some(value.trim().trim_matches('"'));
            }
            rest = rest.get(end + 1..)?;
        }
    }

    /// Returns the value with its escapes resolved.
    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.value.len());
        let mut is_escaped = false;
        for character in self.value.chars() {
            match character {
                'n' | 'N' if is_escaped => text.push('\n'),
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                other => text.push(other),
            }
            is_escaped = false;
        }
        text
    }

    /// Returns the parts of a structured value, such as a name or an address.
    pub(super) fn words(&self) -> String {
        let text = self.text();
        let parts = text.split([';', ',']).map(str::trim);
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Finds a character outside quotes.
fn outside_quotes(line: &str, sign: char) -> Option<usize> {
    let mut is_quoted = false;
    line.char_indices()
        .find(|(_, character)| {
            is_quoted ^= *character == '"';
            *character == sign && !is_quoted
        })
        .map(|(at, _)| at)
}

/// Decodes `=C3=BC` (RFC 2045 6.7).
fn quoted_printable(value: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len());
    let mut bytes = value.as_bytes();
    while let [first, rest @ ..] = bytes {
        let hex = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
        match rest {
            [high, low, after @ ..] if *first == b'=' => {
                if let (Some(high), Some(low)) = (hex(high), hex(low)) {
                    decoded.push(high << 4 | low);
                    bytes = after;
                    continue;
                }
                decoded.push(*first);
            }
            _ => decoded.push(*first),
        }
        bytes = rest;
    }
    decoded
}
