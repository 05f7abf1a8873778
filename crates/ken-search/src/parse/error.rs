//! What is wrong with a query, and where: shown to people with a caret under the place.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A query that cannot be understood. Prints as the message alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The query, as it was given.
    pub query: String,
    /// The place in bytes; empty at the end of the query.
    pub at: Range<usize>,
    /// What is wrong: lower case, no final stop.
    pub message: String,
    /// What could be written instead.
    pub hint: Option<String>,
}

impl QueryError {
    /// Returns the message, the query with the place marked below it, and the hint, as lines.
    pub fn report(&self) -> String {
        let hint = self.hint.iter().map(|hint| format!("\nhint: {hint}"));
        self.message.clone() + &self.marked() + &hint.collect::<String>()
    }

    /// Returns the query and a line that marks the place, each after a line break.
    fn marked(&self) -> String {
        if self.query.is_empty() {
            return String::new();
        }
        let shown: String = self.query.chars().map(printable).collect();
        // Characters that do not print are replaced by others, so bytes are counted in the query.
        let column = width(&self.query[..self.at.start]);
        let carets = width(&self.query[self.at.clone()]).max(1);
        let before = " ".repeat(column);
        format!("\n  {shown}\n  {before}{}", "^".repeat(carets))
    }
}

fn width(text: &str) -> usize {
    text.chars().map(printable).collect::<String>().width()
}

/// Returns the character, or a blank for one that would move the cursor.
fn printable(character: char) -> char {
    if character.is_control() || character.width().is_none() {
        ' '
    } else {
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_wide_characters() {
        let error = QueryError {
            query: "東京\tautor:é".into(),
            at: 7..12,
            message: "there is no field \"autor\"".into(),
            hint: Some("did you mean author?".into()),
        };
        assert_eq!(
            error.report(),
            "there is no field \"autor\"\n  東京 autor:é\n       ^^^^^\nhint: did you mean author?"
        );
    }
}
