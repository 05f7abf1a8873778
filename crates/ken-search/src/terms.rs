//! Reads the pattern of `ken terms`: the start of a word, a pattern, a regular expression or a word that may be
//! misspelt. Patterns apply to the terms of the index, which are folded.

use std::fmt;

use ken_core::expression::{self, ExpressionError};
use ken_core::{Field, FieldKind, Pattern};

use crate::parse::word_pattern;
use crate::plan::Analyze;

/// The most letters by which a fuzzy word may differ.
const MAX_DISTANCE: u8 = 2;

/// The error of text that is not a pattern of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermsError {
    text: String,
    why: Option<ExpressionError>,
}

impl fmt::Display for TermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no pattern of terms", self.text)?;
        self.why.iter().try_for_each(|why| write!(f, ": {why}"))
    }
}

impl std::error::Error for TermsError {}

/// Reads `start`, `pat*ern`, `/regex/`, `~word` or `~word~2`.
///
/// # Errors
/// Fails if the number after the second `~` is neither 1 nor 2, if there is no word before it, or if a regular
/// expression is invalid or too large.
pub fn pattern(text: &str, field: Field, analyze: Analyze) -> Result<Pattern, TermsError> {
    let wrong = || TermsError {
        text: text.to_owned(),
        why: None,
    };
    let compiled = |regex: &str| {
        let why = |error| TermsError {
            why: Some(error),
            ..wrong()
        };
        expression::compile(regex).map(|_| ()).map_err(why)
    };
    let fold = |text: &str| folded(text, field, analyze);
    if let Some(regex) = text
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'))
        .filter(|_| field.info().kind != FieldKind::Path)
    {
        let regex = format!("(?i){regex}");
        compiled(&regex)?;
        return Ok(Pattern::Regex(regex));
    }
    if let Some(word) = text.strip_prefix('~') {
        let (word, distance) = match word.split_once('~') {
            Some((word, number)) => (word, number.parse().map_err(|_| wrong())?),
            None => (word, 1),
        };
        if word.is_empty() || !(1..=MAX_DISTANCE).contains(&distance) {
            return Err(wrong());
        }
        return Ok(Pattern::Fuzzy(fold(word), distance));
    }
    let mut glob = word_pattern(text);
    for part in &mut glob.0 {
        if let ken_core::GlobPart::Literal(literal) = part {
            *literal = fold(literal);
        }
    }
    Ok(match (glob.literal(), glob.prefix()) {
        (Some(start), _) | (_, Some(start)) => Pattern::Prefix(start.to_owned()),
        _ => {
            compiled(&glob.to_regex())?;
            Pattern::Glob(glob)
        }
    })
}

/// Returns a piece of a term as the index spells it.
fn folded(text: &str, field: Field, analyze: Analyze) -> String {
    if field.info().kind == FieldKind::Path {
        return text.to_owned();
    }
    // The term of the whole text, if there is one; terms of its parts do not count.
    let mut term = None;
    analyze(field, text, &mut |found, _, bytes| {
        if bytes == (0..text.len()) && term.is_none() {
            term = Some(found.to_owned());
        }
    });
    term.unwrap_or_else(|| text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let analyze: Analyze = |_, text, each| {
            let word = !text.contains(' ');
            if word {
                each(&text.to_lowercase(), 0, 0..text.len());
            }
        };
        pattern(text, Field::Body, analyze).map_or_else(|e| e.to_string(), |p| p.to_string())
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            ("", "(prefix \"\")"),
            ("Bud", "(prefix \"bud\")"),
            ("bud*", "(prefix \"bud\")"),
            ("b*D", "(glob b*d)"),
            ("w?rd", "(glob w?rd)"),
            ("/^Bu/", "(regex \"(?i)^Bu\")"),
            ("/", "(prefix \"/\")"),
            ("~Budget", "(fuzzy \"budget\" 1)"),
            ("~budget~2", "(fuzzy \"budget\" 2)"),
            ("~budget~3", "\"~budget~3\" is no pattern of terms"),
            (
                "/a[/",
                "\"/a[/\" is no pattern of terms: unclosed character class",
            ),
            ("~", "\"~\" is no pattern of terms"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
