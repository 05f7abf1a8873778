//! Reads plain words as Recoll's simple searches for any and for all of them do: quotes make phrases, `*`, `?` and
//! `[…]` make patterns, `^` and `$` are the ends of the text.
//!
//! Nothing is a mistake there. A quote within a word belongs to it. Empty quotes are left out, and so is an unclosed
//! quote with all that follows it, as in recollq 1.34.

use super::super::super::error::QueryError;
use super::super::super::parser::{MAX_BYTES, MAX_CLAUSES};
use super::super::super::tree::{Phrase, Tree, Value};
use super::super::words::{clause, pieces};
use super::super::{end_of_run, fault, skip_spaces};
use super::{anchored, each_clause, word};

/// Reads words as Recoll's searches for any or all of them do; `None` if there are too many for a query.
///
/// # Errors
/// Fails if there are no words.
pub fn recoll_words(text: &str) -> Result<Option<Vec<Tree>>, QueryError> {
    if text.len() > MAX_BYTES {
        return Ok(None);
    }
    let mut parts = Vec::new();
    let mut at = skip_spaces(text, 0);
    while at < text.len() {
        if parts.len() == MAX_CLAUSES {
            return Ok(None);
        }
        if text[at..].starts_with('"') {
            let Some((inside, end)) = between_quotes(text, at) else {
                break;
            };
            parts.extend(quoted(&inside));
            at = end;
        } else {
            let end = end_of_run(text, at, &[]);
            parts.push(word(&[], &text[at..end]));
            at = end;
        }
        at = skip_spaces(text, at);
    }
    if parts.is_empty() {
        let hint = "write one, and close the quote if there is one";
        return Err(fault(text, 0..text.len(), "the text has no words", hint));
    }
    Ok(Some(parts))
}

/// Returns the tree of quoted text. A single word matches its other forms; a phrase does not.
fn quoted(text: &str) -> Option<Tree> {
    let text = text.trim();
    if !text.contains(char::is_whitespace) {
        return (!text.is_empty()).then(|| word(&[], text));
    }
    let (inside, anchors) = anchored(text);
    let phrase = Phrase {
        pieces: pieces(inside),
        prefix_last: false,
        near: None,
    };
    let mut tree = clause(None, Value::Phrase(phrase));
    each_clause(&mut tree, &|clause| {
        clause.modifiers.at_start = anchors.start;
        clause.modifiers.at_end = anchors.end;
    });
    Some(tree)
}

/// Reads from a quote to the next and returns where it ends. A backslash takes away the meaning of the next character.
fn between_quotes(text: &str, start: usize) -> Option<(String, usize)> {
    let mut inside = String::new();
    let mut characters = text[start + 1..].char_indices();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => return Some((inside, start + 1 + offset + 1)),
            '\\' => inside.push(characters.next()?.1),
            character => inside.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match recoll_words(text) {
            Ok(parts) => parts.map_or_else(String::new, |parts| Tree::or(parts).to_string()),
            Err(error) => error.message,
        }
    }

    #[test]
    fn quotes_are_never_a_mistake() {
        for (text, tree) in [
            ("moss stop", r#"(or "moss" "stop")"#),
            ("\"moss now\" stop", r#"(or (phrase "moss now") "stop")"#),
            ("\"moss\" stop", r#"(or "moss" "stop")"#),
            ("\"moss now\"stop", r#"(or (phrase "moss now") "stop")"#),
            ("don\"t stop", r#"(or "don\"t" "stop")"#),
            ("a\"moss now\"", r#"(or "a\"moss" "now\"")"#),
            ("stop \"\" \" \"", r#""stop""#),
            ("stop \"moss now", r#""stop""#),
            ("st* \"", r#"(prefix "st")"#),
            ("\"a \\\" é\" b", r#"(or (phrase "a \" é") "b")"#),
            ("stop \"a\\", r#""stop""#),
            ("\"\"", "the text has no words"),
            ("\"moss", "the text has no words"),
            ("  ", "the text has no words"),
        ] {
            assert_eq!(read(text), tree, "{text}");
        }
        assert_eq!(read(&"moss ".repeat(MAX_CLAUSES + 1)), "");
        assert_eq!(read(&"é".repeat(MAX_BYTES)), "");
    }

    #[test]
    fn anchors_and_capitals_mean_the_same_in_each_form() {
        for (text, tree) in [
            ("moss$", r#"(end unstemmed "moss")"#),
            ("\"moss$\"", r#"(end unstemmed "moss")"#),
            ("moss$ st*", r#"(or (end unstemmed "moss") (prefix "st"))"#),
            ("\"^moss now\"", r#"(start (phrase "moss now"))"#),
            ("Stop", r#"(unstemmed "Stop")"#),
            ("$ ^", r#"(or "$" "^")"#),
        ] {
            assert_eq!(read(text), tree, "{text}");
        }
    }
}
