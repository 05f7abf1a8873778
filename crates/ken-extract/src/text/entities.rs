//! Decodes character references (HTML 13.2.5.72 to 13.2.5.80): `&eacute;`, `&amp` without
//! semicolon, `&#233;`, `&#xE9;`.

use std::borrow::Cow;

use super::entity_table::{NAMED, WITHOUT_SEMICOLON};

/// The longest name has 31 letters.
const MAX_NAME_BYTES: usize = 32;

/// The meaning of a reference: one character, or the string of a named one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Char(char),
    Text(&'static str),
}

/// Reads the reference after an ampersand; returns it with its length without the ampersand. In
/// attribute values, a name without semicolon before `=` or a letter is not a reference.
pub(crate) fn read(after: &[u8], in_attribute: bool) -> Option<(Reference, usize)> {
    match after.first()? {
        b'#' => numeric(after),
        byte if byte.is_ascii_alphanumeric() => named(after, in_attribute),
        _ => None,
    }
}

/// Returns the string for a named reference.
pub(crate) fn by_name(name: &str) -> Option<&'static str> {
    let at = NAMED
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    Some(NAMED[at].1)
}

/// Replaces the references in a text or an attribute value.
pub(crate) fn decode(value: &str, in_attribute: bool) -> Cow<'_, str> {
    if memchr::memchr(b'&', value.as_bytes()).is_none() {
        return Cow::Borrowed(value);
    }
    let mut decoded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match read(rest.as_bytes(), in_attribute) {
            Some((Reference::Char(character), length)) => {
                decoded.push(character);
                rest = &rest[length..];
            }
            Some((Reference::Text(text), length)) => {
                decoded.push_str(text);
                rest = &rest[length..];
            }
            None => decoded.push('&'),
        }
    }
    decoded.push_str(rest);
    Cow::Owned(decoded)
}

fn numeric(after: &[u8]) -> Option<(Reference, usize)> {
    let (start, radix) = match after.get(1)? {
        b'x' | b'X' => (2, 16),
        _ => (1, 10),
    };
    let mut code: u32 = 0;
    let mut end = start;
    while let Some(digit) = after
        .get(end)
        .and_then(|&byte| char::from(byte).to_digit(radix))
    {
        // Above the last code point, the exact value does not matter.
        code = code.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    let length = end + usize::from(after.get(end) == Some(&b';'));
    Some((Reference::Char(from_code(code)), length))
}

/// Numbers of C1 controls mean windows-1252, as old editors wrote them.
fn from_code(code: u32) -> char {
    #[rustfmt::skip]
    const WINDOWS_1252: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match code {
        0 => '\u{fffd}',
        0x80..=0x9f => WINDOWS_1252[(code - 0x80) as usize],
        _ => char::from_u32(code).unwrap_or('\u{fffd}'),
    }
}

fn named(after: &[u8], in_attribute: bool) -> Option<(Reference, usize)> {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric();
    let length = after
        .iter()
        .take(MAX_NAME_BYTES)
        .take_while(is_name)
        .count();
    let name = std::str::from_utf8(&after[..length]).ok()?;
    if after.get(length) == Some(&b';')
        && let Some(text) = look_up(name)
    {
        return Some((Reference::Text(text), length + 1));
    }
    let shorter = |length: &usize| WITHOUT_SEMICOLON.binary_search(&&name[..*length]).is_ok();
    let prefix = (2..=length.min(6)).rev().find(shorter)?;
    let next = after.get(prefix);
    if in_attribute && next.is_some_and(|byte| *byte == b'=' || byte.is_ascii_alphanumeric()) {
        return None;
    }
    let length = prefix + usize::from(next == Some(&b';'));
    Some((Reference::Text(look_up(&name[..prefix])?), length))
}

fn look_up(name: &str) -> Option<&'static str> {
    // Nearly all references in real web pages.
    match name {
        "lt" => return Some("<"),
        "gt" => return Some(">"),
        "amp" => return Some("&"),
        "quot" => return Some("\""),
        "nbsp" => return Some("\u{a0}"),
        _ => {}
    }
    let found = NAMED
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .ok()?;
    Some(NAMED[found].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(value: &str) -> String {
        decode(value, true).into_owned()
    }

    #[test]
    fn tables_are_sorted_and_agree() {
        assert!(NAMED.is_sorted_by(|a, b| a.0 < b.0));
        assert!(WITHOUT_SEMICOLON.is_sorted_by(|a, b| a < b));
        assert_eq!(NAMED.len() + WITHOUT_SEMICOLON.len(), 2231);
        for name in WITHOUT_SEMICOLON {
            assert!(look_up(name).is_some() && (2..=6).contains(&name.len()));
        }
        for (name, text) in NAMED {
            assert_eq!(look_up(name), Some(*text));
            assert!(name.len() < MAX_NAME_BYTES);
        }
    }

    #[test]
    fn named_references() {
        assert_eq!(
            decoded("&eacute;&Eacute;&NotEqualTilde;"),
            "éÉ\u{2242}\u{338}"
        );
        assert_eq!(decoded("&CounterClockwiseContourIntegral;"), "\u{2233}");
        assert_eq!(decoded("AT&T &unknown; & &;"), "AT&T &unknown; & &;");
        assert_eq!(decoded("a&lt b&eacute"), "a< bé");
        assert_eq!(decoded("?a=1&copy=2&notit;"), "?a=1&copy=2&notit;");
        let (reference, length) = read(b"notit;", false).unwrap();
        assert_eq!((reference, length), (Reference::Text("¬"), 3));
    }

    #[test]
    fn numeric_references() {
        assert_eq!(decoded("&#233;&#xE9;&#Xe9&#233"), "éééé");
        assert_eq!(decoded("&#128;&#x93;"), "€“");
        assert_eq!(
            decoded("&#0;&#xD800;&#99999999999;"),
            "\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(decoded("&#;&#x;&#"), "&#;&#x;&#");
    }
}
