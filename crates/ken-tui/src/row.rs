//! What a search found, in the form in which it is shown.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A piece of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Whether the query found it.
    pub(crate) mark: bool,
}

/// Returns a text, divided where the query found something; `visible` is applied to each piece.
pub(crate) fn pieces(
    text: &str,
    found: impl IntoIterator<Item = Range<usize>>,
    visible: &dyn Fn(&str) -> String,
) -> Vec<Piece> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    let mut add = |text: Option<&str>, mark| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let text = visible(text);
            pieces.push(Piece { text, mark });
        }
    };
    for range in found {
        if range.start < at || text.get(range.clone()).is_none() {
            continue;
        }
        add(text.get(at..range.start), false);
        add(text.get(range.clone()), true);
        at = range.end;
    }
    add(text.get(at..), false);
    pieces
}

/// Breaks a line into rows of at most `width` columns, between words where that is possible.
pub(crate) fn wrap(line: &[Piece], width: usize) -> Vec<Vec<Piece>> {
    let width = width.max(2);
    let (mut rows, mut row, mut used) = (Vec::new(), Vec::<Piece>::new(), 0);
    for piece in line {
        for word in piece.text.split_inclusive([' ', '\t']) {
            let n_columns = word.trim_end().width();
            if used > 0 && used + n_columns > width {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            let mut part = String::new();
            for grapheme in word.graphemes(true) {
                let n_columns = grapheme.width();
                if used + n_columns > width {
                    // The space at the end of a row is not shown.
                    if grapheme.trim().is_empty() {
                        continue;
                    }
                    push(&mut row, &mut part, piece.mark);
                    rows.push(std::mem::take(&mut row));
                    used = 0;
                }
                part.push_str(grapheme);
                used += n_columns;
            }
            push(&mut row, &mut part, piece.mark);
        }
    }
    if !row.is_empty() || rows.is_empty() {
        rows.push(row);
    }
    rows
}

/// Returns a line without so much of its beginning that the first match is within `width` columns.
pub(crate) fn from_match(line: &[Piece], width: usize) -> Vec<Piece> {
    let Some(first) = line.iter().position(|piece| piece.mark) else {
        return line.to_vec();
    };
    let before: String = line[..first]
        .iter()
        .map(|piece| piece.text.as_str())
        .collect();
    if before.width() + line[first].text.width() < width {
        return line.to_vec();
    }
    let room = width / 3;
    let mut start = before.len();
    for (at, _) in before.grapheme_indices(true).rev() {
        if before[at..].width() > room {
            break;
        }
        start = at;
    }
    let mut shown = vec![Piece {
        text: format!("…{}", &before[start..]),
        mark: false,
    }];
    shown.extend_from_slice(&line[first..]);
    shown
}

fn push(row: &mut Vec<Piece>, text: &mut String, mark: bool) {
    if text.is_empty() {
        return;
    }
    match row.last_mut() {
        Some(last) if last.mark == mark => last.text.push_str(text),
        _ => row.push(Piece {
            text: text.clone(),
            mark,
        }),
    }
    text.clear();
}

/// Where a row leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A document of the index, by its identifier.
    Document(String),
    /// A file that was searched as it is.
    File(PathBuf),
}

/// One hit.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) target: Target,
    /// What every command of ken takes: a path, or a path with members behind `|`.
    pub(crate) address: OsString,
    /// The folder of the file.
    pub(crate) folder: PathBuf,
    pub(crate) title: Vec<Piece>,
    /// Folder, sender, date and place, in the order in which they are shown.
    pub(crate) about: String,
    pub(crate) passage: Vec<Piece>,
    /// The line of the best match.
    pub(crate) line: Option<usize>,
    /// The page of the best match, in a document with pages.
    pub(crate) page: Option<usize>,
}

impl Row {
    /// Returns where a program opens the document.
    pub(crate) fn place(&self) -> Option<OpenAt> {
        let line = || self.line.map(OpenAt::Line);
        self.page.map(OpenAt::Page).or_else(line)
    }

    /// Returns what is marked and printed.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            address: self.address.clone(),
            line: match self.target {
                Target::Document(_) => None,
                Target::File(_) => self.line,
            },
        }
    }
}

/// What can be marked: a document, or a line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) address: OsString,
    pub(crate) line: Option<usize>,
}

impl Mark {
    /// Returns the address, with the line behind it: `path:12`.
    pub(crate) fn with_line(&self) -> OsString {
        let mut text = self.address.clone();
        if let Some(line) = self.line {
            text.push(format!(":{line}"));
        }
        text
    }
}

/// Where a program opens a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenAt {
    Line(usize),
    Page(usize),
}

/// The answer to a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) rows: Vec<Row>,
    pub(crate) total: usize,
    /// Whether the total is exact.
    pub(crate) is_complete: bool,
    /// Types of documents, most frequent first.
    pub(crate) types: Vec<(String, u64)>,
    /// Why nothing was searched.
    pub(crate) problem: Option<String>,
    /// What the user should know about the answer.
    pub(crate) remark: Option<String>,
    pub(crate) time: Duration,
}

/// The text of a document, or a part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    pub(crate) head: Vec<String>,
    pub(crate) lines: Vec<TextLine>,
    /// The line that is shown first.
    pub(crate) first: Option<usize>,
    pub(crate) problem: Option<String>,
}

/// A line of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextLine {
    /// Its number; none for the rule between pages.
    pub(crate) number: Option<usize>,
    pub(crate) pieces: Vec<Piece>,
}

/// Returns a path with `~` for the user's home.
pub(crate) fn path_text(path: &Path, home: Option<&Path>) -> String {
    let text = |path: &Path| ken_search::service::path_text(path).into_owned();
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", text(below)),
        None => text(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: &[Vec<Piece>]) -> Vec<String> {
        let text = |piece: &Piece| match piece.mark {
            true => format!("[{}]", piece.text),
            false => piece.text.clone(),
        };
        rows.iter()
            .map(|row| row.iter().map(text).collect())
            .collect()
    }

    #[test]
    fn lines_break_between_words_and_never_within_a_wide_character() {
        let same = |text: &str| text.to_owned();
        let line = pieces("the annual report of 日本語", std::iter::once(4..10), &same);
        let rows = shown(&wrap(&line, 10));
        assert_eq!(rows, ["the [annual]", "report of ", "日本語"]);
        let rows = wrap(&pieces("日本語日本語", [], &same), 5);
        assert_eq!(shown(&rows), ["日本", "語日", "本語"]);
        assert_eq!(shown(&wrap(&[], 5)), [""]);
    }

    #[test]
    fn a_match_is_within_the_line() {
        let same = |text: &str| text.to_owned();
        let line = pieces(
            "a line of many 日本語 words with a match in it",
            std::iter::once(38..43),
            &same,
        );
        let found = |width| shown(&[from_match(&line, width)]).remove(0);
        assert_eq!(found(30), "…ds with a [match] in it");
        assert_eq!(
            found(80),
            "a line of many 日本語 words with a [match] in it"
        );
        let none = pieces("no match", [], &same);
        assert_eq!(shown(&[from_match(&none, 2)]), ["no match"]);
    }

    #[test]
    fn ranges_that_do_not_fit_are_left_out() {
        let same = |text: &str| text.to_owned();
        let line = pieces("äb", [1..2, 2..3, 3..9], &same);
        assert_eq!(shown(&[line]), ["ä[b]"]);
    }
}
