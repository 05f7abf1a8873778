//! Header fields (RFC 5322 section 2.2) and the text of their values.
//!
//! This module splits the header section without copying. Only the values of needed fields are read, as there may be
//! megabytes of others; `mail-parser` reads addresses.

use std::borrow::Cow;

use mail_parser::{Addr, Address, HeaderValue, parsers::MessageStream};
use memchr::{memchr, memmem};

use crate::charset::Charset;
use crate::decode::text;
use crate::lines::line_end;
use crate::{Detect, words};

/// The most bytes of a value that are read. A thousand addresses fit, and parsers that look ahead are bounded.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// The most characters of an identifier, which is the longest line of a header (RFC 5322 section 2.1.1).
const MAX_ID_CHARS: usize = 998;

/// The most addresses of one field.
const MAX_ADDRESSES: usize = 10_000;

/// The most bytes that are searched for the ends of encoded words; values are cut there.
const MAX_LOOKED_AT_BYTES: usize = 4 * MAX_VALUE_BYTES;

/// Splits the header section from a message or part.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns what follows the section; call it after the last field.
    pub(crate) fn body(self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Fields<'a> {
    /// A name and a value, which may continue over several lines.
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line_end = line_end(self.rest);
            let line = &self.rest[..line_end];
            if line.trim_ascii_end().is_empty() {
                self.rest = &self.rest[line_end..];
                return None;
            }
            if let Some(colon) = colon(line) {
                let end = value_end(self.rest, line_end);
                let (field, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some((field[..colon].trim_ascii_end(), &field[colon + 1..]));
            }
            // A line that is not a field, such as `From ` of an mbox, is left out if fields follow. Otherwise the
            // empty line is missing and the body starts here.
            let after = &self.rest[line_end..];
            colon(&after[..crate::lines::line_end(after)])?;
            self.rest = after;
        }
    }
}

/// Returns the end of a value that starts in the line before `end`. Lines that start with a space or tab belong to it.
fn value_end(bytes: &[u8], mut end: usize) -> usize {
    while let Some(b' ' | b'\t') = bytes.get(end) {
        end += line_end(&bytes[end..]);
    }
    end
}

/// Returns 2 for the name of a field that only messages have, 1 for one that other texts may also start with, else 0.
pub fn field_weight(name: &[u8]) -> usize {
    const PROOFS: [&str; 14] = [
        "received",
        "message-id",
        "return-path",
        "delivered-to",
        "mime-version",
        "envelope-to",
        "x-original-to",
        "dkim-signature",
        "authentication-results",
        "arc-seal",
        "newsgroups",
        "in-reply-to",
        "references",
        "list-id",
    ];
    const KNOWN: [&str; 11] = [
        "from", "to", "cc", "bcc", "subject", "date", "sender", "reply-to", "status", "path",
        "xref",
    ];
    // The first letter rules out most names.
    let first = name.first().map_or(0, u8::to_ascii_lowercase);
    let is =
        |known: &&str| known.as_bytes()[0] == first && name.eq_ignore_ascii_case(known.as_bytes());
    if PROOFS.iter().any(is) {
        2
    } else {
        usize::from(KNOWN.iter().any(is))
    }
}

/// Returns the position of the colon if the line starts a field.
pub(crate) fn colon(line: &[u8]) -> Option<usize> {
    let colon = memchr(b':', line)?;
    let name = line[..colon].trim_ascii_end();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name.then_some(colon)
}

/// Returns a value as UTF-8 with a line end, as `mail-parser` requires.
pub(crate) fn clean<'a>(value: &'a [u8], detect: Detect<'_>) -> Cow<'a, str> {
    let value = &value[..value.len().min(MAX_VALUE_BYTES)];
    let value = &value[..before_endless_words(value)];
    let mut text = text(Cow::Borrowed(value), Charset::Unknown, detect);
    if !text.ends_with('\n') {
        text.to_mut().push('\n');
    }
    text
}

/// Returns where to cut a value so that reading it takes linear time. Each `=?` starts a search for the next `?=`,
/// which in a hostile value comes late or never.
fn before_endless_words(value: &[u8]) -> usize {
    let mut n_looked_at = 0;
    let mut end = 0;
    for start in memmem::find_iter(value, b"=?") {
        if end < start + 2 {
            let found = memmem::find(&value[start + 2..], b"?=");
            end = found.map_or(value.len(), |at| start + 2 + at);
        }
        n_looked_at += end - start;
        if n_looked_at > MAX_LOOKED_AT_BYTES {
            return start;
        }
    }
    value.len()
}

/// Returns the words of a value on one line, with encoded words decoded.
pub(crate) fn words(value: &str, detect: Detect<'_>) -> String {
    unfold(&words::decoded(value, detect))
}

fn unfold(value: &str) -> String {
    let mut unfolded = String::with_capacity(value.len());
    for line in value.lines() {
        let line = line.trim();
        if !unfolded.is_empty() && !line.is_empty() {
            unfolded.push(' ');
        }
        unfolded.push_str(line);
    }
    unfolded
}

/// Adds the addresses of a value to `list`, each as `Name <user@host>`, and the names of groups.
pub(crate) fn add_addresses(value: &str, detect: Detect<'_>, list: &mut Vec<String>) {
    let value = words::joined(value, detect);
    match MessageStream::new(value.as_bytes()).parse_address() {
        HeaderValue::Address(Address::List(addresses)) => {
            addresses.iter().for_each(|one| add(address(one), list));
        }
        HeaderValue::Address(Address::Group(groups)) => {
            for group in &groups {
                add(group.name.as_deref().unwrap_or_default().to_owned(), list);
                group
                    .addresses
                    .iter()
                    .for_each(|one| add(address(one), list));
            }
        }
        _ => add(words(&value, detect), list),
    }
}

fn address(address: &Addr<'_>) -> String {
    // Some programs encode a name with its quotes.
    let name = address.name.as_deref().map(unquoted);
    match (name, address.address.as_deref()) {
        (Some(name), Some(address)) if name != address => format!("{name} <{address}>"),
        (_, Some(only)) | (Some(only), None) => only.to_owned(),
        (None, None) => String::new(),
    }
}

/// Returns a name without the quotes around it.
fn unquoted(name: &str) -> &str {
    let name = name.trim();
    let inside = name
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) if !inside.trim().is_empty() && !inside.contains('"') => inside.trim(),
        _ => name,
    }
}

fn add(address: String, list: &mut Vec<String>) {
    if !address.is_empty() && list.len() < MAX_ADDRESSES {
        list.push(address);
    }
}

/// Adds the identifiers of a value to `ids`, without their angle brackets. The second bracket may be missing. A value
/// without brackets must consist of words with `@`.
pub(crate) fn add_ids(value: &str, ids: &mut Vec<String>) {
    let mut inside = value.split('<');
    let before = inside.next().unwrap_or_default();
    if before.len() == value.len() {
        let is_between = |c: char| c.is_ascii_whitespace() || c == ',';
        let words = || value.split(is_between).filter(|word| !word.is_empty());
        if words().all(|word| word.contains('@')) {
            ids.extend(words().map(identifier));
        }
        return;
    }
    let found = inside.filter_map(|start| match start.split_once('>') {
        Some((id, _)) => Some(id),
        None => start.contains('@').then_some(start),
    });
    ids.extend(found.map(identifier));
}

/// Returns the first identifier of a value, or the whole value if none is in angle brackets.
pub(crate) fn id(value: &str) -> String {
    let inside = value
        .split_once('<')
        .and_then(|(_, start)| start.split_once('>'));
    match inside {
        Some((id, _)) => identifier(id),
        None => {
            let all = value.trim().trim_start_matches('<').chars();
            all.filter(|c| !c.is_control()).take(MAX_ID_CHARS).collect()
        }
    }
}

/// Returns an identifier without characters that it cannot have: spaces from folding, control characters.
fn identifier(id: &str) -> String {
    let is_part = |c: &char| !c.is_whitespace() && !c.is_control();
    id.chars().filter(is_part).take(MAX_ID_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn sections_are_split_whatever_stands_in_them() {
        for (bytes, names, body) in [
            ("A: 1\nB: 2\n\nbody", "A B", "body"),
            ("A: 1\r\n  more\r\nB: 2\r\n\r\nbody", "A B", "body"),
            ("From x Mon\nA: 1\n\nbody", "A", "body"),
            (
                ">From x Mon\nA: 1\nnot a field\nB: 2\n\nbody",
                "A B",
                "body",
            ),
            (
                "A: 1\nNo empty line.\nBut text\n\nmore",
                "A",
                "No empty line.\nBut text\n\nmore",
            ),
            ("A : 1\n \t \n\nbody", "A", "body"),
            ("A: 1", "A", ""),
            ("\nbody: x", "", "body: x"),
            ("", "", ""),
            (": no name\nA: 1\n\n", "A", ""),
        ] {
            let mut fields = Fields::new(bytes.as_bytes());
            let found: Vec<_> = fields
                .by_ref()
                .map(|(name, _)| std::str::from_utf8(name).unwrap())
                .collect();
            assert_eq!(found.join(" "), names, "{bytes:?}");
            assert_eq!(fields.body(), body.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn words_are_unfolded_and_decoded() {
        for (value, expected) in [
            (&b" Hello world\r\n"[..], "Hello world"),
            (b" Hello\r\n  world\r\n", "Hello world"),
            (b" =?utf-8?Q?caf=C3=A9?= ole\n", "café ole"),
            (b" =?iso-8859-1?q?a?=\n =?iso-8859-1?q?b?=\n", "ab"),
            (b" =?KOI8-R?B?8NLJ?=", "При"),
            (b" caf\xe9\n", "café"),
            (b" =?broken", "=?broken"),
            (b" =?utf-8?X?what?=\n", "=?utf-8?X?what?="),
            (b"", ""),
        ] {
            assert_eq!(words(&clean(value, &latin1), &latin1), expected);
        }
    }

    #[test]
    fn words_without_end_are_cut() {
        let endless = "=?aa?q?x ".repeat(5_000);
        let cut = clean(endless.as_bytes(), &latin1);
        assert!(cut.len() < 100, "{}", cut.len());
        let many = "=?utf-8?q?caf=C3=A9?= <a@example.org>,\n ".repeat(1_000);
        assert!(clean(many.as_bytes(), &latin1).len() >= many.len());
    }

    #[test]
    fn addresses_keep_names_and_addresses() {
        for (value, expected) in [
            ("a@example.org", &["a@example.org"][..]),
            (
                "Ann <a@example.org>, b@example.org",
                &["Ann <a@example.org>", "b@example.org"],
            ),
            (
                "\"Doe, Ann\" <a@example.org>",
                &["Doe, Ann <a@example.org>"],
            ),
            ("a@example.org (Ann)", &["Ann <a@example.org>"]),
            (
                "=?utf-8?Q?=22Ann_B=22?= <a@example.org>",
                &["Ann B <a@example.org>"],
            ),
            (
                "\"Ann \\\"Bo\\\" C\" <a@example.org>",
                &["Ann \"Bo\" C <a@example.org>"],
            ),
            (
                "=?utf-8?Q?J=C3=BCrgen?= <j@example.org>",
                &["Jürgen <j@example.org>"],
            ),
            (
                "\"=?utf-8?Q?J=C3?= =?utf-8?Q?=BCrgen=2C?= X\" <j@example.org>",
                &["Jürgen, X <j@example.org>"],
            ),
            (
                "=?iso-2022-jp?B?GyRCRnwbKEI=?=\n =?iso-2022-jp?B?GyRCS1wbKEI=?= <j@example.org>",
                &["日本 <j@example.org>"],
            ),
            ("a@example.org (=?cp-850?Q?=81?=)", &["ü <a@example.org>"]),
            ("undisclosed-recipients:;", &["undisclosed-recipients"]),
            (
                "Team: a@example.org, Bob <b@example.org>;",
                &["Team", "a@example.org", "Bob <b@example.org>"],
            ),
            ("Ann", &["Ann"]),
            ("", &[]),
        ] {
            let mut list = Vec::new();
            add_addresses(&clean(value.as_bytes(), &latin1), &latin1, &mut list);
            assert_eq!(list, expected, "{value}");
        }
    }

    #[test]
    fn identifiers_lose_their_brackets() {
        assert_eq!(id(" <a@b>\n"), "a@b");
        assert_eq!(id(" a@b \n"), "a@b");
        assert_eq!(id("The list <list.example.org>"), "list.example.org");
        assert_eq!(id("<a\u{1}b\u{7f}@c>"), "ab@c");
        assert_eq!(id(&format!("<{}>", "x".repeat(70_000))).len(), MAX_ID_CHARS);
        assert_eq!(id("<a@b"), "a@b");
        for (value, expected) in [
            ("<a@b> (x) <c\n @d> <open", &["a@b", "c@d"][..]),
            ("<a@b><c@d", &["a@b", "c@d"]),
            ("<a@b <c@d>", &["a@b", "c@d"]),
            (" a@b,c@d\n", &["a@b", "c@d"]),
            ("Your message to a@b", &[]),
            ("", &[]),
        ] {
            let mut ids = Vec::new();
            add_ids(value, &mut ids);
            assert_eq!(ids, expected, "{value}");
        }
    }
}
