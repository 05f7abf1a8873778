//! Compounds that are also written as one word: `e-mail` and `co-operation`, `U.S.A.` and `e.g.`
//!
//! Joining all words with hyphens would add one term in forty in mail, most of which nobody writes
//! as one word; those with a short first part are mostly prefixes, and add one in two hundred. A
//! hyphen at the end of a line mostly divides a word.

use std::ops::Range;

use super::{identifier, script};

/// Maximum number of letters of a prefix, and minimum number of letters after it.
const PREFIX_LETTERS: usize = 3;
const REST_LETTERS: usize = 3;
const MAX_LETTERS: usize = 32;

const SOFT_HYPHEN: char = '\u{ad}';

/// Returns the end of a word whose prefix, before a hyphen, is this one.
pub(super) fn prefixed(bytes: &[u8], prefix: Range<usize>) -> Option<usize> {
    let is_prefix = prefix.len() <= PREFIX_LETTERS
        && begins(bytes, prefix.start)
        && letters(bytes, prefix.start) == prefix.len();
    if !is_prefix {
        return None;
    }
    let rest = prefix.end + 1;
    let n_letters = letters(bytes, rest);
    let end = rest + n_letters;
    let is_rest = (REST_LETTERS..=MAX_LETTERS).contains(&n_letters);
    (is_rest && !goes_on(bytes, end) && bytes.get(end) != Some(&b'-')).then_some(end)
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
    let is_word = |c: char| script::is_word(c) && !script::has_no_spaces(c);
    let is_divided = is_lower(script::last_letter(part))
        && is_lower(second.chars().next())
        && !rest.starts_with(is_word)
        && !identifier::is_identifier(second);
    let start = text.len() - rest.len() - length;
    is_divided.then_some(start..start + length)
}

/// Returns the end of at least two letters that are each followed by a dot, the first at `start`.
pub(super) fn acronym(bytes: &[u8], start: usize) -> Option<usize> {
    if !begins(bytes, start) {
        return None;
    }
    let mut end = start;
    while let [letter, b'.', ..] = bytes[end..]
        && letter.is_ascii_alphabetic()
        && end - start < MAX_LETTERS
    {
        end += 2;
    }
    (end - start > 2).then_some(end)
}

/// Returns whether the characters before a word do not belong to it.
fn begins(bytes: &[u8], start: usize) -> bool {
    let before = start.checked_sub(1).map(|before| bytes[before]);
    before.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'"' | b'\''))
}

/// Returns the number of letters from `start`.
fn letters(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count()
}

fn goes_on(bytes: &[u8], end: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    bytes.get(end).is_some_and(is_word)
}
