//! Compounds that are also written as one word: `e-mail`, `H-264`, `I/O` and `O'Brien`, `U.S.A.`
//!
//! Joining all words with hyphens would add one term in forty in mail, most of which nobody writes
//! as one word; those with a short first part are mostly prefixes, and add one in two hundred. A
//! hyphen at the end of a line mostly divides a word. A word and its number (`utf-8`) need no joined
//! term: a query for `utf8` also looks for the phrase.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::{identifier, script};

/// Maximum number of letters of a prefix, and minimum and maximum number of letters after it.
const PREFIX_LETTERS: usize = 3;
const REST_LETTERS: usize = 2;
const MAX_LETTERS: usize = 32;

/// Maximum number of letters and digits on a side of `TCP/IP`.
const SIDE_LETTERS: usize = 4;

/// Maximum number of letters of an acronym.
const ACRONYM_LETTERS: usize = 16;

/// The parts of degrees that have two letters: `Ph.D.`, `M.Sc.`
const DEGREES: [&str; 4] = ["Ph", "Sc", "Ed", "Th"];

const SOFT_HYPHEN: char = '\u{ad}';

/// Returns the end of the word of two parts that begins with this one, if it is also written as one
/// word.
pub(super) fn end(text: &str, first: Range<usize>) -> Option<usize> {
    let sign = text[first.end..].chars().next()?;
    let start = first.end + sign.len_utf8();
    let is_one: fn(&str, &str) -> bool = match sign {
        '-' | '\u{2010}' | '\u{2011}' => {
            |first, second| is_prefixed(first, second) || is_numbered(first, second)
        }
        '.' => is_numbered,
        '/' | '&' => are_sides,
        '\'' | '\u{2019}' | '\u{2bc}' => is_name,
        _ => return None,
    };
    let length = text[start..].find(|c| !is_of_word(c));
    let end = length.map_or(text.len(), |length| start + length);
    let mut after = text[end..].chars();
    // `x-ray-tube` and `a/b/c` have more parts.
    let goes_on =
        after.next() == Some(sign) && (is_hyphen(sign) || after.next().is_some_and(is_of_word));
    let second = &text[start..end];
    let holds = script::holds_a_letter(second) && !goes_on && begins(text, first.start);
    (holds && is_one(&text[first], second)).then_some(end)
}

fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}' | '\u{2011}')
}

/// Returns the letters of a word without the marks on them, which Unicode may write apart.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars()
        .filter(|c| !is_combining_mark(*c) && !script::is_invisible(*c))
}

/// Returns whether two parts are a prefix and its word: `e-mail`, `Wi-Fi`.
fn is_prefixed(first: &str, second: &str) -> bool {
    let all_letters = |word: &str| word.chars().all(script::is_letter);
    letters(first).nth(PREFIX_LETTERS).is_none()
        && (REST_LETTERS..=MAX_LETTERS).contains(&letters(second).count())
        && all_letters(first)
        && all_letters(second)
}

/// Returns whether two parts are a letter and its number: `H.264`, `B-52`, `A-1`.
fn is_numbered(first: &str, second: &str) -> bool {
    let mut letters = letters(first);
    let is_number = second.bytes().all(|byte| byte.is_ascii_digit());
    match letters.next() {
        Some(letter) if is_number && letter.is_alphabetic() && letters.next().is_none() => {
            second.len() > 1 || letter.is_uppercase()
        }
        _ => false,
    }
}

/// Returns whether two parts are abbreviations: `I/O`, `TCP/IP`, `OS/2`, `R&D`, `n/a`.
fn are_sides(first: &str, second: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_side = |side: &str| side.len() <= SIDE_LETTERS && side.bytes().all(is_capital);
    match (first.as_bytes(), second.as_bytes()) {
        ([b'a'..=b'z'], [b'a'..=b'z']) => true,
        ([b'A'..=b'Z', ..], _) => is_side(first) && is_side(second),
        _ => false,
    }
}

/// Returns whether two parts are a name: `O'Brien`, `D'Arcy`.
fn is_name(first: &str, second: &str) -> bool {
    first.len() == 1
        && second.starts_with(char::is_uppercase)
        && (REST_LETTERS..=MAX_LETTERS).contains(&letters(second).count())
        && second.chars().all(script::is_letter)
}

/// Returns the part of a word in the next line, if a hyphen divides the word after this part.
pub(super) fn continued(text: &str, first: Range<usize>) -> Option<Range<usize>> {
    let after = &text[first.end..];
    let part = text[first.clone()].trim_end_matches(SOFT_HYPHEN);
    let after = match after.strip_prefix(['-', '\u{2010}']) {
        Some(after) => after,
        None if part.len() < first.len() => after,
        None => return None,
    };
    let line = after.trim_start_matches([' ', '\t']);
    let line = line.strip_prefix('\r').unwrap_or(line).strip_prefix('\n')?;
    let second = line.trim_start_matches([' ', '\t']);
    let is_part = |c: char| script::is_letter(c) && !script::has_no_spaces(c);
    let length = second.find(|c| !is_part(c)).unwrap_or(second.len());
    let (second, rest) = second.split_at(length);
    let is_lower = |c: Option<char>| c.is_some_and(char::is_lowercase);
    let is_divided = is_lower(script::last_letter(part))
        && is_lower(second.chars().next())
        && !rest.starts_with(is_of_word)
        && !identifier::is_identifier(second);
    let start = text.len() - rest.len() - length;
    is_divided.then_some(start..start + length)
}

/// Calls `each` with the parts of the acronym at `start`, and returns its end: letters with points
/// between them (`U.S.A`, `e.g.`), and degrees (`Ph.D.`). Two letters without a last point are an
/// acronym if both are capitals, since `a.b` is a name in a program.
pub(super) fn acronym(
    text: &str,
    start: usize,
    mut each: impl FnMut(Range<usize>),
) -> Option<usize> {
    let mut end = start;
    let mut n_parts = 0;
    let mut all_capitals = true;
    while let Some(length) = acronym_part(&text[end..]) {
        let part = end..end + length;
        let has_point = text[part.end..].starts_with('.');
        let goes_on = text[part.end..].starts_with(is_of_word);
        if goes_on || part.end - start > 2 * ACRONYM_LETTERS {
            break;
        }
        all_capitals &= text[part.clone()].starts_with(char::is_uppercase);
        n_parts += 1;
        end = part.end + usize::from(has_point);
        if !has_point {
            break;
        }
    }
    let has_last_point = text[..end].ends_with('.');
    let is_acronym = n_parts > 2 || n_parts == 2 && (has_last_point || all_capitals);
    if !is_acronym || !begins(text, start) {
        return None;
    }
    let mut at = start;
    while at < end {
        let length = acronym_part(&text[at..]).unwrap_or(end - at);
        each(at..at + length);
        at += length + 1;
    }
    Some(end)
}

/// Returns the length of the part of an acronym that a text begins with.
fn acronym_part(text: &str) -> Option<usize> {
    let degree = text
        .get(..2)
        .filter(|part| DEGREES.iter().any(|of| of.eq_ignore_ascii_case(part)));
    if degree.is_some() && !text[2..].starts_with(is_of_word) {
        return Some(2);
    }
    let is_letter = |c: char| c.is_alphabetic() && is_of_word(c);
    text.chars().next().filter(|c| is_letter(*c))?;
    let is_mark = |c: char| is_combining_mark(c) || script::is_invisible(c);
    let mut rest = text.char_indices().skip(1);
    let end = rest.find(|(_, c)| !is_mark(*c));
    Some(end.map_or(text.len(), |(at, _)| at))
}

/// Returns whether the characters before a word do not belong to it.
fn begins(text: &str, start: usize) -> bool {
    let before = text[..start].chars().next_back();
    before.is_none_or(|c| match c {
        '(' | '[' | '{' | '"' | '\'' | '*' | ',' | ';' | '!' | '?' => true,
        c => c.is_whitespace() || !c.is_ascii() && !is_of_word(c) && !is_hyphen(c),
    })
}

fn is_of_word(character: char) -> bool {
    match character.is_ascii() {
        true => character.is_ascii_alphanumeric() || character == '_',
        false => script::is_word(character) && !script::has_no_spaces(character),
    }
}
