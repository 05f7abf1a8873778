//! A line about a message or a thread in a list. Where it does not fit the terminal, it is broken between its parts and
//! between words, and what follows is indented.

use std::borrow::Cow;

use crate::output::{self, Room, Style, width, wrapped};

/// The columns that people and subjects have at least beside the start of a line.
const MIN_COLUMNS: usize = 30;
/// The columns before lines that have no room beside the start.
const INDENT: usize = 4;

pub(super) struct Line {
    /// What stands first, such as the date, with the spaces behind it.
    pub(super) start: String,
    /// The columns of the start.
    pub(super) start_width: usize,
    pub(super) people: String,
    pub(super) subject: Option<String>,
    /// States and tags.
    pub(super) marks: Vec<String>,
}

impl Line {
    /// Returns the line, broken if it does not fit so many columns. The subject has a style of its own.
    pub(super) fn text(&self, columns: Option<usize>, style: Style, of_subject: Style) -> String {
        let parts = Parts {
            people: output::clean(&self.people),
            subject: self.subject.as_deref().map(output::clean),
            marks: self.marks(),
        };
        let behind = [parts.subject.as_deref(), parts.marks.as_deref()];
        let behind = behind.into_iter().flatten().map(|part| width(part) + 2);
        let needs = self.start_width + width(&parts.people) + behind.sum::<usize>();
        let mut text = match columns.filter(|columns| needs > *columns) {
            Some(columns) => self.broken(&parts, columns, style, of_subject),
            None => self.whole(&parts, style, of_subject),
        };
        text.push('\n');
        text
    }

    fn marks(&self) -> Option<String> {
        let marks = self.marks.join(" ");
        (!marks.is_empty()).then(|| format!("({})", output::clean(&marks)))
    }

    fn whole(&self, parts: &Parts<'_>, style: Style, of_subject: Style) -> String {
        let mut text = format!("{}{}", self.start, parts.people);
        if let Some(subject) = &parts.subject {
            text.push_str(&format!("  {}", of_subject.plain(subject)));
        }
        if let Some(marks) = &parts.marks {
            text.push_str(&format!("  {}", style.dim(marks)));
        }
        text
    }

    fn broken(&self, parts: &Parts<'_>, columns: usize, style: Style, of_subject: Style) -> String {
        let is_beside = self.start_width + MIN_COLUMNS <= columns;
        let room = Room {
            columns: Some(columns),
            indent: if is_beside { self.start_width } else { INDENT },
        };
        let next_line = format!("\n{}", " ".repeat(room.indent));
        let mut text = match is_beside {
            true => self.start.clone(),
            false => format!("{}{next_line}", self.start.trim_end()),
        };
        text.push_str(&wrapped(&parts.people, &[], room, style));
        if let Some(subject) = &parts.subject {
            text.push_str(&next_line);
            text.push_str(&wrapped(subject, &[], room, of_subject));
        }
        if let Some(marks) = &parts.marks {
            // A pager ends colours with the line.
            for row in wrapped(marks, &[], room, style).lines() {
                text.push_str(&next_line);
                text.push_str(&style.dim(row.trim_start()));
            }
        }
        text
    }
}

/// What stands behind the start, without what steers a terminal.
struct Parts<'a> {
    people: Cow<'a, str>,
    subject: Option<Cow<'a, str>>,
    marks: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn lines_are_broken_between_words_and_indented() {
        let cli = Cli::parse_from(["ken", "status", "--color", "never"]);
        let style = Style::of(&cli.global);
        let line = Line {
            start: "2026-01-05  ".to_owned(),
            start_width: 12,
            people: "Ann Vole".to_owned(),
            subject: Some("the survey of all the okapis".to_owned()),
            marks: vec!["unread".to_owned()],
        };
        let text = |columns| line.text(columns, style, style);
        let whole = "2026-01-05  Ann Vole  the survey of all the okapis  (unread)\n";
        assert_eq!(text(None), whole);
        assert_eq!(text(Some(60)), whole);
        let at = " ".repeat(12);
        let broken =
            format!("2026-01-05  Ann Vole\n{at}the survey of all the okapis\n{at}(unread)\n");
        assert_eq!(text(Some(59)), broken);
        let narrow =
            "2026-01-05\n    Ann Vole\n    the survey of all the\n    okapis\n    (unread)\n";
        assert_eq!(text(Some(26)), narrow);
    }
}
