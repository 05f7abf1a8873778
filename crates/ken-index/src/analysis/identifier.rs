//! Identifiers of source code, cut at `_` and where the case changes.

use std::ops::Range;

/// Returns whether a word holds `_`, or lower-case letters and a capital that is not its first.
pub(super) fn is_identifier(word: &str) -> bool {
    if word.contains('_') {
        return true;
    }
    word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase)
}

/// Writes the parts of an identifier into `parts`: `parseHTTPHeader` gives parse, HTTP, Header.
pub(super) fn split(word: &str, parts: &mut Vec<Range<usize>>) {
    parts.clear();
    if word.is_ascii() {
        return split_ascii(word.as_bytes(), parts);
    }
    let mut start = 0;
    let mut previous: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '_' {
            push(parts, start..at);
            start = at + 1;
            previous = None;
            continue;
        }
        let next_is_lower = characters.peek().is_some_and(|(_, c)| c.is_lowercase());
        let hump = match previous {
            Some(before) if character.is_uppercase() => !before.is_uppercase() || next_is_lower,
            _ => false,
        };
        if hump {
            push(parts, start..at);
            start = at;
        }
        previous = Some(character);
    }
    push(parts, start..word.len());
}

/// As [`split`], for the common case.
fn split_ascii(word: &[u8], parts: &mut Vec<Range<usize>>) {
    let mut start = 0;
    for at in 0..word.len() {
        let byte = word[at];
        if byte == b'_' {
            push(parts, start..at);
            start = at + 1;
        } else if byte.is_ascii_uppercase() && at > start {
            let next_is_lower = word.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if !word[at - 1].is_ascii_uppercase() || next_is_lower {
                push(parts, start..at);
                start = at;
            }
        }
    }
    push(parts, start..word.len());
}

fn push(parts: &mut Vec<Range<usize>>, part: Range<usize>) {
    if !part.is_empty() {
        parts.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_identifiers() {
        let mut parts = Vec::new();
        for (word, expected) in [
            ("parseHTTPHeader", "parse HTTP Header"),
            ("getX", "get X"),
            ("XMLHttpRequest2", "XML Http Request2"),
            ("snake__case", "snake case"),
            ("utf8Decoder", "utf8 Decoder"),
            ("plain", "plain"),
            ("McDonald", "Mc Donald"),
        ] {
            split(word, &mut parts);
            let found: Vec<&str> = parts.iter().map(|part| &word[part.clone()]).collect();
            assert_eq!(found.join(" "), expected);
        }
        assert!(is_identifier("iPhone") && is_identifier("a_b") && !is_identifier("Paris"));
        assert!(!is_identifier("HTTP"));
    }
}
