//! Characters of scripts that write no blanks, as a reader sees them.
//!
//! One may be several of Unicode's: `ガ` is also written as `カ` with a mark, a Hangul syllable also as
//! its letters (file names on macOS are). Thai and Khmer part words by blanks of no width where their
//! writers think of it, and a line ends anywhere but in Hangul, so neither parts what is searched for.

use std::ops::Range;

use super::script;

/// Returns the place of the character at `start`, or behind what does not part characters there;
/// `None` if the run without blanks ends.
pub(super) fn character(text: &str, start: usize) -> Option<Range<usize>> {
    let start = match text[start..].chars().next() {
        Some(first) if script::has_no_blanks(first) => start,
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

/// Returns where a run goes on behind what is not seen, or behind the end of a line.
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
    (script::has_no_blanks(next) && !is_end).then_some(text.len() - rest.len())
}

/// Returns whether a character is of the one script here that has blanks too, and needs pairs for
/// endings and compounds.
fn is_hangul(character: char) -> bool {
    matches!(character,
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{ffa0}'..='\u{ffdc}')
}
