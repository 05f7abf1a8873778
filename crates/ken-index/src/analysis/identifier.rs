//! Splits identifiers of source code at `_` and where the case changes, and numbers from their
//! units.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// Returns whether a word contains `_`, or lower-case letters and a capital that is not its first
/// letter.
pub(super) fn is_identifier(word: &str) -> bool {
    if word.contains('_') {
        return true;
    }
    word.chars().skip(1).any(is_capital) && word.chars().any(char::is_lowercase)
}

/// Maximum number of letters of a unit: `10kByte`, `8bit`.
const UNIT_LETTERS: usize = 5;

/// Returns whether a word is a number with a unit: `10kg`, `5µm`, `8bit`, `3D`. A word that starts
/// with 0 is a number in a program: `0xff`, `0b`.
#[inline(never)] // called for few of the words
pub(super) fn is_measure(word: &str) -> bool {
    let n_digits = number(word);
    let unit = &word[n_digits..];
    let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, 'µ' | 'μ' | 'Ω' | '\u{2126}');
    n_digits > 0
        && !word.starts_with('0')
        && unit.chars().all(is_letter)
        && (1..=UNIT_LETTERS).contains(&unit.chars().count())
}

/// Returns the number of digits at the start of a word.
fn number(word: &str) -> usize {
    word.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns whether a letter is a capital, including one with a small letter after or below it
/// (`ᾈ`).
fn is_capital(character: char) -> bool {
    if matches!(character, 'ß'..='ÿ' | 'а'..='џ') {
        return false;
    }
    character.is_uppercase()
        || matches!(character,
            '\u{1c5}' | '\u{1c8}' | '\u{1cb}' | '\u{1f2}' | '\u{1f88}'..='\u{1f8f}'
            | '\u{1f98}'..='\u{1f9f}' | '\u{1fa8}'..='\u{1faf}' | '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// Returns a run without leading and trailing `_`, and its start in the text.
pub(super) fn without_underscores(text: &str, run: Range<usize>) -> (usize, &str) {
    let word = text[run.start..run.end].trim_start_matches('_');
    (run.end - word.len(), word.trim_end_matches('_'))
}

/// Writes the parts of a non-ASCII identifier into `parts`, if it has several: `größeÄndern`
/// becomes größe, Ändern; `10µm` becomes 10, µm.
pub(super) fn split(word: &str, parts: &mut Vec<Range<usize>>) {
    parts.clear();
    if is_measure(word) {
        let n_digits = number(word);
        parts.extend([0..n_digits, n_digits..word.len()]);
        return;
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
        // A mark belongs to the letter before it.
        if is_combining_mark(character) {
            continue;
        }
        while characters.next_if(|(_, c)| is_combining_mark(*c)).is_some() {}
        let next_is_lower = characters.peek().is_some_and(|(_, c)| c.is_lowercase());
        let hump = match previous {
            Some(before) if is_capital(character) => !is_capital(before) || next_is_lower,
            _ => false,
        };
        if hump {
            push(parts, start..at);
            start = at;
        }
        previous = Some(character);
    }
    if start > 0 {
        push(parts, start..word.len());
    }
}

/// Calls `each` with the parts of an ASCII identifier that neither starts nor ends with `_`, if it
/// has several: `parseHTTPHeader` becomes parse, HTTP, Header; `10kg` becomes 10, kg.
#[inline]
pub(super) fn each_part(word: &str, has_capitals: bool, mut each: impl FnMut(Range<usize>)) {
    let n_digits = number(word);
    if n_digits > 0 && is_measure(word) {
        each(0..n_digits);
        return each(n_digits..word.len());
    }
    let word = word.as_bytes();
    let is_hump = |at: usize| {
        let next_is_lower = word.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        word[at].is_ascii_uppercase() && (!word[at - 1].is_ascii_uppercase() || next_is_lower)
    };
    let mut start = 0;
    for (at, byte) in word.iter().enumerate().skip(1) {
        let is_underscore = *byte == b'_';
        if is_underscore || has_capitals && at > start && is_hump(at) {
            if at > start {
                each(start..at);
            }
            start = at + usize::from(is_underscore);
        }
    }
    if start > 0 {
        each(start..word.len());
    }
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
            ("plain", ""),
            ("McDonald", "Mc Donald"),
        ] {
            parts.clear();
            each_part(word, true, |part| parts.push(&word[part]));
            assert_eq!(parts.join(" "), expected);
        }
        assert!(is_identifier("iPhone") && is_identifier("a_b") && !is_identifier("Paris"));
        assert!(!is_identifier("HTTP"));
    }
}
