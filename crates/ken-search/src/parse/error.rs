//! Mistakes in a query and their positions, shown with a caret below.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A query that cannot be understood. It prints as the message alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The query as given.
    pub query: String,
    /// The bytes with the mistake; empty at the end of the query.
    pub at: Range<usize>,
    /// The message: lower case, no final stop.
    pub message: String,
    /// What the user could write instead.
    pub hint: Option<String>,
}

impl QueryError {
    /// Returns the message, the query with the mistake marked below it, and the hint, as lines.
    pub fn report(&self) -> String {
        let hint = self.hint.iter().map(|hint| format!("\nhint: {hint}"));
        self.message.clone() + &self.marked() + &hint.collect::<String>()
    }

    /// Returns the query and a line that marks the mistake, each after a line break.
    pub fn marked(&self) -> String {
        if self.query.is_empty() {
            return String::new();
        }
        let (start, end) = self.window();
        let shown: String = self.query[start..end].chars().map(printable).collect();
        // Characters that do not print are replaced, so widths are counted in the original query.
        let before = width(&self.query[start..self.at.start]) + width(cut(start > 0));
        let carets = width(&self.query[self.at.start..self.at.end.min(end)]).max(1);
        format!(
            "\n  {}{shown}{}\n  {}{}",
            cut(start > 0),
            cut(end < self.query.len()),
            " ".repeat(before),
            "^".repeat(carets)
        )
    }

    /// Returns the part of a long query that is shown: some characters before and after the mistake.
    fn window(&self) -> (usize, usize) {
        let mut before = self.query[..self.at.start].char_indices().rev();
        let mut after = self.query[self.at.start..].char_indices();
        let start = before
            .nth(SHOWN_BEFORE)
            .map_or(0, |(at, c)| at + c.len_utf8());
        let end = after
            .nth(SHOWN_AFTER)
            .map_or(self.query.len(), |(at, _)| self.at.start + at);
        (start, end)
    }
}

/// Characters of a long query that are shown before and after the beginning of the mistake.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 100;

fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}

fn width(text: &str) -> usize {
    text.chars().map(printable).collect::<String>().width()
}

/// Returns the character, or a space for one that would move the cursor.
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
    fn long_queries_show_the_position_of_a_mistake() {
        let error = QueryError {
            query: format!("{}autor:{}", "é ".repeat(40_000), "b ".repeat(40_000)),
            at: 120_000..120_005,
            message: "there is no field \"autor\"".into(),
            hint: None,
        };
        let report = error.report();
        let lines: Vec<&str> = report.lines().collect();
        let shown = format!("  …{}autor:{}…", "é ".repeat(30), "b ".repeat(47));
        assert_eq!(lines[1], shown);
        assert_eq!(lines[2], format!("  {}^^^^^", " ".repeat(61)));
    }

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
