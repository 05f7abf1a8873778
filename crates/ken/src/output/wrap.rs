//! Lines that fit a terminal: broken between words, never inside a word or a wide character.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::{Style, clean};

/// The least columns of text; a narrower terminal breaks lines itself.
const MIN_WIDTH: usize = 20;

/// How wide lines may be, with what stands before each of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The columns of the terminal; none if the output is no terminal, and lines are not broken.
    pub(crate) columns: Option<usize>,
    /// The columns before each line.
    pub(crate) indent: usize,
}

/// Returns a text with marks, broken into lines that fit. The first line is not indented.
pub(crate) fn wrapped(text: &str, marks: &[Range<usize>], room: Room, style: Style) -> String {
    let rows = match room.columns {
        Some(columns) if columns >= room.indent + MIN_WIDTH => rows(text, columns - room.indent),
        _ => std::iter::once(0..text.len()).collect(),
    };
    let rows = rows.into_iter().map(|row| marked(text, row, marks, style));
    rows.collect::<Vec<_>>()
        .join(&format!("\n{}", " ".repeat(room.indent)))
}

/// Returns a piece of a text, with the marks that are in it.
fn marked(text: &str, piece: Range<usize>, marks: &[Range<usize>], style: Style) -> String {
    let mut shown = String::with_capacity(piece.len());
    let mut at = piece.start;
    for mark in marks {
        let (start, end) = (mark.start.max(at), mark.end.min(piece.end));
        if start < end {
            shown.push_str(&style.plain(&clean_line(&text[at..start])));
            shown.push_str(&style.highlight(&clean_line(&text[start..end])));
            at = end;
        }
    }
    shown.push_str(&style.plain(&clean_line(&text[at..piece.end])));
    shown
}

/// Returns text of one line without what steers a terminal; tabs stay.
fn clean_line(text: &str) -> String {
    let cells = text.split('\t').map(clean);
    cells.collect::<Vec<_>>().join("\t")
}

/// Returns the bytes of the lines into which a text is broken. Spaces at their ends are left out. A word that is too long
/// for a line stays whole.
fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Where the line may end and the next one begin, and the columns up to there.
    let mut space: Option<(usize, usize, usize)> = None;
    for (at, character) in text.char_indices() {
        let after = at + character.len_utf8();
        let columns = match character {
            '\t' => 8 - used % 8,
            other => other.width().unwrap_or(0),
        };
        let is_behind_space = space.is_some_and(|(_, next, _)| next == at);
        if columns > 1 && used > 0 && character != '\t' && !is_behind_space {
            // Scripts with wide characters have no spaces between words.
            space = Some((at, at, used));
        }
        if character.is_whitespace() {
            space = Some((at, after, used + columns));
        } else if used + columns > width
            && let Some((end, next, columns_before)) = space.take()
        {
            rows.push(start..end);
            (start, used) = (next, used - columns_before);
        }
        used += columns;
    }
    rows.push(start..text.len());
    rows
}

/// Returns the columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str, width: usize) -> Vec<&str> {
        rows(text, width)
            .into_iter()
            .map(|row| &text[row])
            .collect()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("one two three", 8), ["one two", "three"]);
        assert_eq!(broken("one two three", 3), ["one", "two", "three"]);
        assert_eq!(broken("a longer-word b", 4), ["a", "longer-word", "b"]);
        assert_eq!(broken("", 4), [""]);
        assert_eq!(broken("one", 4), ["one"]);
    }

    #[test]
    fn wide_characters_are_not_cut() {
        assert_eq!(broken("日本語の本", 4), ["日本", "語の", "本"]);
        assert_eq!(broken("ab日本", 5), ["ab日", "本"]);
        assert_eq!(
            broken("e\u{301}e\u{301} e\u{301}", 2),
            ["e\u{301}e\u{301}", "e\u{301}"]
        );
        assert_eq!(width("日本é"), 5);
    }

    #[test]
    fn no_line_is_too_wide_if_its_words_are_not() {
        let text = "the quick brown fox jumps over the lazy dog and 日本語の本 too";
        for columns in 10..30 {
            for row in broken(text, columns) {
                assert!(width(row) <= columns, "{row} in {columns}");
            }
        }
    }
}
