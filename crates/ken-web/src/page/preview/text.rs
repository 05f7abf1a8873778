//! The text of a document in rows, and the part of it that is shown at once.
//!
//! A row is a line, or a part of a very long line. Only a window of a long text is shown: it begins a little before the
//! wanted row, and is bounded in rows and bytes. Links lead to the text before and after it.

use std::ops::Range;

use ken_core::TEXT_SEPARATOR;
use serde::Serialize;

use crate::page::coloured::Colour;
use crate::page::state::{At, State};
use crate::page::text::{Piece, coloured_pieces};

use super::block::Block;

/// The most rows that are shown at once.
pub(super) const ROWS: usize = 2000;
/// The most bytes that are shown at once.
const BYTES: usize = 300_000;
/// The rows that are shown before the wanted one, where a part of a text is shown.
const BEFORE: usize = 20;
/// Longer lines are shown in parts.
const LONG: usize = 8000;
/// The bytes of a part of a long line.
const PART: usize = 2000;
/// A byte of a long line counts as so many: nobody reads such lines from end to end.
const LONG_WEIGHT: usize = 8;
/// A part of a line ends with a word, unless the word is longer than this.
const WORD: usize = 200;
/// The most places that are listed.
const PLACES: usize = 300;
/// The characters of a place.
const PLACE: usize = 110;
/// The characters of a place before the match, few enough that a narrow window shows the match.
const PLACE_BEFORE: usize = 24;
/// Ends each page but the last.
const PAGE_END: char = '\u{c}';

/// A line that the query found.
#[derive(Serialize)]
pub(super) struct Place {
    pub(super) label: String,
    pub(super) anchor: String,
    text: Vec<Piece>,
    href: String,
}

/// A line, or a part of a long one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The bytes, without the break at the end.
    pub(super) bytes: Range<usize>,
    /// The number of the line, from 0.
    line: u32,
    /// The number of the part of a long line, from 1; 0 for a whole line.
    part: u32,
}

impl Row {
    /// Returns the row as an address names it.
    pub(super) fn at(&self) -> At {
        At {
            line: self.line as usize + 1,
            part: self.part as usize,
        }
    }

    fn weight(&self) -> usize {
        let length = self.bytes.len() + 1;
        if self.part > 0 {
            length * LONG_WEIGHT
        } else {
            length
        }
    }
}

/// A row, or a part of one where a page ends inside it.
pub(super) struct Stretch {
    pub(super) page: usize,
    pub(super) row: usize,
    pub(super) bytes: Range<usize>,
}

/// A text in rows.
pub(super) struct Text<'b> {
    pub(super) body: &'b str,
    found: &'b [Range<usize>],
    /// What has a colour, in order.
    colours: Vec<Colour>,
    pub(super) rows: Vec<Row>,
    has_pages: bool,
}

impl<'b> Text<'b> {
    pub(super) fn new(body: &'b str, found: &'b [Range<usize>]) -> Self {
        let mut text = Self {
            body,
            found,
            colours: Vec::new(),
            rows: Vec::new(),
            has_pages: body.contains(PAGE_END),
        };
        let (mut start, mut line) = (0, 0);
        for (end, _) in body.match_indices('\n') {
            text.add_line(start..end, line);
            (start, line) = (end + 1, line + 1);
        }
        if start < body.len() {
            text.add_line(start..body.len(), line);
        }
        text
    }

    /// Colours these stretches, which are in order.
    pub(super) fn coloured(mut self, colours: Vec<Colour>) -> Self {
        self.colours = colours;
        self
    }

    fn add_line(&mut self, bytes: Range<usize>, line: u32) {
        let (mut start, mut part) = (bytes.start, u32::from(bytes.len() > LONG));
        while part > 0 && bytes.end - start > PART {
            let end = self.end_of_part(start);
            self.rows.push(Row {
                bytes: start..end,
                line,
                part,
            });
            (start, part) = (end, part + 1);
        }
        self.rows.push(Row {
            bytes: start..bytes.end,
            line,
            part,
        });
    }

    /// Returns the end of a part of a long line: between two words, and not inside of what was found.
    fn end_of_part(&self, start: usize) -> usize {
        let end = self.body.floor_char_boundary(start + PART);
        let word = self.body.floor_char_boundary(end - WORD);
        let space = self.body[word..end].rfind([' ', ',', ';', '\t']);
        let end = space.map_or(end, |at| word + at + 1);
        let found = self.found.partition_point(|found| found.end <= end);
        match self.found.get(found) {
            Some(found) if (start + 1..end).contains(&found.start) => found.start,
            _ => end,
        }
    }

    /// Returns the number of the page that is shown as a picture: the wanted one, else that of the wanted line, else that
    /// of the first match.
    pub(super) fn sheet(&self, state: &State) -> usize {
        let of_row = |at: At| {
            let row = self.rows.get(self.row_of(at))?;
            let found = self
                .found
                .partition_point(|found| found.end <= row.bytes.start);
            let found = self.found.get(found).map(|found| found.start);
            let found = found.filter(|at| row.bytes.contains(at));
            Some(found.unwrap_or(row.bytes.end))
        };
        let at = state.at.and_then(of_row);
        let at = at.or_else(|| self.found.first().map(|found| found.start));
        state.sheet.unwrap_or_else(|| self.page_at(at.unwrap_or(0)))
    }

    /// Returns the number of a row. Where an address names a long line and no part of it, the first match is wanted.
    fn row_of(&self, at: At) -> usize {
        let line = u32::try_from(at.line.saturating_sub(1)).unwrap_or(u32::MAX);
        let part = u32::try_from(at.part).unwrap_or(u32::MAX);
        let row = self
            .rows
            .partition_point(|row| (row.line, row.part) < (line, part));
        let row = row.min(self.rows.len().saturating_sub(1));
        let is_long = part == 0 && self.rows.get(row).is_some_and(|row| row.part > 0);
        if is_long { self.first_found(row) } else { row }
    }

    /// Returns the first row of a long line that has a match, or its first row.
    fn first_found(&self, row: usize) -> usize {
        let Row { bytes, line, .. } = &self.rows[row];
        let found = self.found.partition_point(|found| found.end <= bytes.start);
        let found = self.found.get(found).map(|found| found.start);
        let with = found.map(|at| self.rows.partition_point(|row| row.bytes.end <= at));
        with.filter(|with| self.rows.get(*with).is_some_and(|row| row.line == *line))
            .unwrap_or(row)
    }

    /// Returns the numbers of the rows that are shown if this one is wanted: all, unless they are too many.
    pub(super) fn window(&self, at: Option<At>, max_rows: usize) -> Range<usize> {
        let weight: usize = self.rows.iter().map(Row::weight).sum();
        if self.rows.len() <= max_rows && weight <= BYTES {
            return 0..self.rows.len();
        }
        let wanted = self.row_of(at.unwrap_or(At { line: 1, part: 0 }));
        let before = self.rows[..wanted].iter().rev().take(BEFORE);
        let first = wanted - fitting(before, BYTES / 8);
        let n_shown = fitting(self.rows[first..].iter().take(max_rows), BYTES);
        first..first + n_shown.max(1).min(self.rows.len() - first)
    }

    /// Returns the bytes of a window.
    pub(super) fn bytes(&self, window: &Range<usize>) -> Range<usize> {
        let rows = &self.rows[window.clone()];
        let end = rows.last().map_or(0, |row| row.bytes.end);
        rows.first().map_or(0, |row| row.bytes.start)..end
    }

    /// Returns the row to go to for the text before a window, and the number of bytes before it.
    pub(super) fn before(&self, window: &Range<usize>) -> Option<(At, u64)> {
        let first = self.rows.get(window.start)?;
        let earlier = window.start.saturating_sub(1 + window.len() / 2);
        (window.start > 0).then(|| (self.rows[earlier].at(), first.bytes.start as u64))
    }

    /// Returns the row to go to for the text after a window, and the number of bytes after it.
    pub(super) fn after(&self, window: &Range<usize>) -> Option<(At, u64)> {
        let next = self.rows.get(window.end)?;
        Some((next.at(), (self.body.len() - next.bytes.start) as u64))
    }

    /// Returns what was found in a stretch, relative to its start.
    fn found_in(&self, bytes: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.found.partition_point(|found| found.end <= bytes.start);
        let inside = self.found[first..]
            .iter()
            .take_while(|found| found.start < bytes.end);
        inside.map(|found| within(found, bytes)).collect()
    }

    fn colours_in(&self, bytes: &Range<usize>) -> Vec<Colour> {
        let first = self
            .colours
            .partition_point(|(of, _)| of.end <= bytes.start);
        let inside = self.colours[first..]
            .iter()
            .take_while(|(of, _)| of.start < bytes.end);
        inside
            .map(|(of, class)| (within(of, bytes), *class))
            .collect()
    }

    pub(super) fn pieces(&self, bytes: Range<usize>) -> Vec<Piece> {
        let (found, colours) = (self.found_in(&bytes), self.colours_in(&bytes));
        let mut shown = coloured_pieces(&self.body[bytes], &found, &colours);
        for piece in &mut shown {
            if piece.text.contains(TEXT_SEPARATOR) {
                piece.text = piece.text.replace(TEXT_SEPARATOR, "\n\n");
            }
        }
        shown
    }

    pub(super) fn page_at(&self, at: usize) -> usize {
        1 + self.body[..at].matches(PAGE_END).count()
    }

    /// Returns rows, divided where pages end.
    pub(super) fn stretches(&self, window: Range<usize>) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        let start = self.rows.get(window.start).map_or(0, |row| row.bytes.start);
        let mut page = self.page_at(start);
        for row in window {
            let bytes = self.rows[row].bytes.clone();
            let mut at = bytes.start;
            for (end, _) in self.body[bytes.clone()].match_indices(PAGE_END) {
                let end = bytes.start + end;
                stretches.push(Stretch {
                    page,
                    row,
                    bytes: at..end,
                });
                page += 1;
                at = end + 1;
            }
            if at < bytes.end || at == bytes.start {
                stretches.push(Stretch {
                    page,
                    row,
                    bytes: at..bytes.end,
                });
            }
        }
        stretches
    }

    /// Returns rows, with a block at the beginning of each page.
    pub(super) fn blocks(&self, window: Range<usize>) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut page = 0;
        for stretch in self.stretches(window) {
            if self.has_pages && stretch.page != page {
                page = stretch.page;
                blocks.push(Block::page(page));
            }
            blocks.push(self.block(&stretch));
        }
        blocks
    }

    /// Returns the anchor of a stretch: its row, and its page if a page ended before it in the same row.
    pub(super) fn anchor(&self, stretch: &Stretch) -> String {
        let row = &self.rows[stretch.row];
        match stretch.bytes.start == row.bytes.start {
            true => format!("L{}", row.at()),
            false => format!("L{}p{}", row.at(), stretch.page),
        }
    }

    fn block(&self, stretch: &Stretch) -> Block {
        let row = &self.rows[stretch.row];
        Block {
            n: row.line as usize + 1,
            anchor: self.anchor(stretch),
            is_continued: row.part > 1 || stretch.bytes.start > row.bytes.start,
            text: self.pieces(stretch.bytes.clone()),
            ..Block::new("line")
        }
    }

    /// Returns the rows with something that was found.
    pub(super) fn places(&self, go_to: &dyn Fn(At, usize) -> String) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let (mut page, mut counted, mut last) = (1, 0, None);
        for found in self.found {
            let number = self
                .rows
                .partition_point(|row| row.bytes.end <= found.start);
            let Some(row) = self.rows.get(number) else {
                continue;
            };
            page += self.body[counted..found.start].matches(PAGE_END).count();
            counted = found.start;
            if last == Some((number, page)) && row.bytes.len() < 4 * PLACE {
                continue;
            }
            if places.len() == PLACES {
                break;
            }
            last = Some((number, page));
            let page_start = self.body[row.bytes.start..found.start].rfind(PAGE_END);
            let start = page_start.map_or(0, |end| end + 1);
            let stretch = Stretch {
                page,
                row: number,
                bytes: row.bytes.start + start..row.bytes.end,
            };
            let label = match self.has_pages {
                true => format!("p. {page}"),
                false => format!("{}", row.line + 1),
            };
            places.push(Place {
                label,
                anchor: self.anchor(&stretch),
                text: self.pieces(around(self.body, found)),
                href: go_to(row.at(), page),
            });
        }
        places
    }
}

/// Returns the number of rows that weigh at most this together.
fn fitting<'r>(rows: impl Iterator<Item = &'r Row>, mut spare: usize) -> usize {
    let fits = |row: &&Row| {
        let rest = spare.checked_sub(row.weight());
        spare = rest.unwrap_or(0);
        rest.is_some()
    };
    rows.take_while(fits).count()
}

/// Returns the part of a range that is inside another, relative to the start of that.
fn within(range: &Range<usize>, of: &Range<usize>) -> Range<usize> {
    range.start.max(of.start) - of.start..range.end.min(of.end) - of.start
}

/// Returns the part of a line around something that was found.
fn around(body: &str, found: &Range<usize>) -> Range<usize> {
    let spare = PLACE.saturating_sub(found.len());
    let before = spare.min(PLACE_BEFORE);
    let start = body.floor_char_boundary(found.start.saturating_sub(before));
    let end = body.ceil_char_boundary((found.end + spare - before).min(body.len()));
    let breaks = ['\n', PAGE_END];
    let before = body[start..found.start].rfind(breaks);
    // A word that is cut is left out.
    let before = before.or_else(|| (start > 0).then(|| body[start..found.start].find(' '))?);
    let after = body[found.end..end].find(breaks);
    before.map_or(start, |at| start + at + 1)..after.map_or(end, |at| found.end + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(blocks: &[Block]) -> Vec<(&str, usize, String)> {
        let text = |block: &Block| block.text.iter().map(|piece| piece.text.as_str()).collect();
        blocks
            .iter()
            .map(|block| (block.kind, block.n, text(block)))
            .collect()
    }

    fn at(line: usize) -> Option<At> {
        Some(At { line, part: 0 })
    }

    #[test]
    fn lines_and_pages_have_their_numbers() {
        let body = "one\ntwo\u{c}three\n\nfour";
        let found = vec![8..13; 1];
        let text = Text::new(body, &found);
        let blocks = text.blocks(text.window(None, ROWS));
        let expected = [
            ("page", 1, ""),
            ("line", 1, "one"),
            ("line", 2, "two"),
            ("page", 2, ""),
            ("line", 2, "three"),
            ("line", 3, ""),
            ("line", 4, "four"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(a, b, c)| (*a, *b, (*c).to_owned()))
            .collect();
        assert_eq!(shown(&blocks), expected);
        let places = text.places(&|at, _| at.to_string());
        assert_eq!(
            (places[0].label.as_str(), places[0].anchor.as_str()),
            ("p. 2", "L2p2")
        );
        assert!(places[0].text[0].mark);
    }

    #[test]
    fn a_long_text_is_shown_in_part() {
        let body = "a line\n".repeat(10_000);
        let text = Text::new(&body, &[]);
        assert_eq!(text.window(None, ROWS), 0..ROWS);
        assert_eq!(
            text.window(at(5000), ROWS),
            4999 - BEFORE..4999 - BEFORE + ROWS
        );
        assert_eq!(text.window(at(99_999), ROWS), 9999 - BEFORE..10_000);
        assert_eq!(Text::new("", &[]).window(at(7), ROWS), 0..0);
    }

    #[test]
    fn a_long_line_is_shown_in_part_around_what_was_found() {
        let mut body = "first\n".to_owned();
        body.push_str(&"word ".repeat(400_000));
        let needle = 1_000_000;
        body.replace_range(needle..needle + 6, "needle");
        let found = vec![needle..needle + 6; 1];
        let text = Text::new(&body, &found);
        let window = text.window(at(2), ROWS);
        let bytes = text.rows[window.start].bytes.start..text.rows[window.end - 1].bytes.end;
        assert!(bytes.contains(&needle) && bytes.len() < 40_000, "{bytes:?}");
        // All of it can be reached from there, forwards and backwards.
        for step in [Text::before, Text::after] {
            let mut window = window.clone();
            let mut n_steps = 0;
            while let Some((next, _)) = step(&text, &window) {
                let moved = text.window(Some(next), ROWS);
                assert!(
                    moved.start <= window.end && moved.end >= window.start,
                    "no gap"
                );
                assert_ne!(moved, window);
                (window, n_steps) = (moved, n_steps + 1);
                assert!(n_steps < 200);
            }
        }
        let place = &text.places(&|at, _| at.to_string())[0];
        let shown: String = place.text.iter().map(|piece| piece.text.as_str()).collect();
        assert!(
            shown.starts_with("word") && shown[..30].contains("needle"),
            "{shown}"
        );
        let named: At = place.href.parse().unwrap();
        assert!(named.part > 1);
        assert_eq!(text.row_of(named), text.row_of(at(2).unwrap()));
    }
}
