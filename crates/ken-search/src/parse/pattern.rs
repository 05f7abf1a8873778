//! Reads the special characters of a word or phrase: `*`, `?`, `[a-z]` and backslashes.
//!
//! People end sentences with `?` and write `a[0]` and `[PATCH]`. So `?` is a wildcard only where the word goes on or
//! has another wildcard. Brackets are a wildcard only next to a letter and around two or more letters or digits. In a
//! URL `?` is an ordinary character.

use ken_core::{Glob, GlobPart};

/// A character, and whether a backslash takes away its meaning.
pub(super) type Mark = (char, bool);

/// Returns the pattern of a word. A backslash takes away the meaning of the next character.
pub fn word_pattern(word: &str) -> Glob {
    let mut marks: Vec<Mark> = Vec::new();
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        marks.push(match character {
            '\\' => (characters.next().unwrap_or('\\'), true),
            character => (character, false),
        });
    }
    glob(&marks)
}

/// Returns the pattern that the characters of one word spell.
pub(super) fn glob(marks: &[Mark]) -> Glob {
    let mut glob = Glob(Vec::new());
    let is_url = marks
        .windows(3)
        .any(|three| three.iter().map(|mark| mark.0).eq("://".chars()));
    let mut at = 0;
    while let Some(&(character, escaped)) = marks.get(at) {
        let class = match character {
            '[' if !escaped => class(marks, at, &glob),
            _ => None,
        };
        if let Some((part, length)) = class {
            glob.push(part);
            at += length;
            continue;
        }
        glob.push(match character {
            '*' if !escaped => GlobPart::Many,
            '?' if !escaped && !is_url && is_wildcard(marks, at, &glob) => GlobPart::One,
            _ => GlobPart::Literal(character.to_string()),
        });
        at += 1;
    }
    glob
}

/// Returns whether a `?` is a wildcard and not the end of a sentence.
fn is_wildcard(marks: &[Mark], at: usize, before: &Glob) -> bool {
    let goes_on = marks
        .get(at + 1)
        .is_some_and(|&(next, escaped)| match next {
            '*' | '?' => !escaped,
            // A bracket that is not a wildcard ends the word.
            '[' => !escaped && class(marks, at + 1, &Glob(vec![GlobPart::One])).is_some(),
            _ => next.is_alphanumeric() || next == '_',
        });
    // In `20??` the second `?` has a wildcard before it.
    goes_on || before.literal().is_none()
}

/// Returns the class that starts at `at` and its number of characters.
fn class(marks: &[Mark], at: usize, before: &Glob) -> Option<(GlobPart, usize)> {
    let length = marks[at..].iter().position(|mark| *mark == (']', false))? + 1;
    let inside = &marks[at + 1..at + length - 1];
    let negated = matches!(inside.first(), Some(('!' | '^', false)));
    let inside = &inside[usize::from(negated)..];
    let plain = |&(c, escaped): &Mark| !escaped && (c.is_alphanumeric() || c == '-');
    if inside.len() < 2 || !inside.iter().all(plain) {
        return None;
    }
    let touches_before = match before.0.last() {
        Some(GlobPart::Literal(text)) => text.ends_with(char::is_alphanumeric),
        other => other.is_some(),
    };
    let touches_after = |&(c, escaped): &Mark| c.is_alphanumeric() || !escaped && c == '*';
    if !touches_before && !marks.get(at + length).is_some_and(touches_after) {
        return None;
    }
    let mut ranges = Vec::new();
    let mut rest = inside;
    while let Some((&(first, _), more)) = rest.split_first() {
        match more {
            _ if first == '-' => return None,
            [('-', _), (last, _), after @ ..] if *last != '-' && first <= *last => {
                ranges.push((first, *last));
                rest = after;
            }
            [('-', _), ..] => return None,
            _ => {
                ranges.push((first, first));
                rest = more;
            }
        }
    }
    Some((GlobPart::Class { negated, ranges }, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Glob {
        let marks: Vec<Mark> = text.chars().map(|c| (c, false)).collect();
        glob(&marks)
    }

    #[test]
    fn what_people_write_is_no_pattern() {
        for text in [
            "what?",
            "?[",
            "a?[0]",
            "http://x/a?b",
            "a[0]",
            "[PATCH]",
            "[ab]",
            "x[]",
            "[",
            "a]",
            "?",
            "x[a-]y",
            "x[z-a]y",
        ] {
            assert_eq!(read(text).literal(), Some(text));
        }
    }

    #[test]
    fn patterns_are_seen() {
        for text in [
            "wom?n",
            "20??",
            "gr[ae]y",
            "file[0-9]",
            "[ab]c",
            "x[!a-c]y",
            "a*b?",
            "*x",
            "a*",
        ] {
            let glob = read(text);
            assert_eq!(glob.literal(), None, "{text}");
            assert_eq!(glob.to_string(), text);
        }
    }
}
