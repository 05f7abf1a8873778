//! Characters of scripts without spaces, as a reader sees them.
//!
//! One may consist of several Unicode characters: `ガ` is also written as `カ` with a mark, and a
//! Hangul syllable also as its letters (as in file names on macOS). Thai and Khmer texts have
//! zero-width spaces between words where their writers add them, and a line may end anywhere except
//! in Hangul, so neither separates what is searched for.

use std::ops::Range;

use super::script;

/// Returns the range of the character at `start`, or after invisible characters and line ends
/// there; `None` if the run without spaces ends.
pub(super) fn character(text: &str, start: usize) -> Option<Range<usize>> {
    let start = match text[start..].chars().next() {
        Some(first) if script::has_no_spaces(first) => start,
        _ => behind_nothing(text, start)?,
    };
    let mut characters = text[start..].chars();
    let mut before = characters.next()?;
    let mut end = start + before.len_utf8();
    for next in characters {
        if !script::joins(before, next) {
            break;
        }
        end += next.len_utf8();
        before = next;
    }
    Some(start..end)
}

/// Returns where a run continues after an invisible character or the end of a line.
fn behind_nothing(text: &str, start: usize) -> Option<usize> {
    let rest = text[start..].trim_start_matches(script::is_invisible);
    let line = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n');
    let rest = match line {
        Some(line) => line.trim_start_matches([' ', '\t', '\u{3000}']),
        None => rest,
    };
    let next = rest.chars().next()?;
    let before = text[..start].chars().next_back();
    let is_end = line.is_some() && (is_hangul(next) || before.is_none_or(is_hangul));
    (script::has_no_spaces(next) && !is_end).then_some(text.len() - rest.len())
}

/// Returns whether a character belongs to the one script here that also has spaces, and needs pairs
/// for endings and compounds.
fn is_hangul(character: char) -> bool {
    matches!(character,
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{ffa0}'..='\u{ffdc}')
}
