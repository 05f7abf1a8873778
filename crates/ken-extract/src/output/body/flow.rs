//! A text that grows: separators are written only between its pieces.

use super::super::grid::{self, Grid};

/// How many slashes and spaces behind a label are passed over.
const MAX_LABEL_END: usize = 4;

/// A text, and what is to be written before its next piece.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) text: String,
    /// Separator to write before the next text.
    pub(super) pending: Option<char>,
    /// Where the current table row begins.
    pub(super) row_start: usize,
    /// The cells of grids.
    pub(super) grid: Grid,
}

impl Flow {
    pub(super) fn push(&mut self, text: &str) {
        self.separate();
        self.text.push_str(text);
    }

    pub(super) fn separate(&mut self) {
        let is_row_start = self.text.len() == self.row_start;
        if let Some(separator) = self.pending.take()
            && !self.at_page_start()
        {
            self.trim_space();
            self.text.push(separator);
        }
        let n_empty = self.grid.enter(is_row_start);
        self.text.extend(std::iter::repeat_n('\t', n_empty));
    }

    /// Adds the text of a cell of a grid, whose rows are lines.
    pub(super) fn push_cell(&mut self, text: &str) {
        let mut words = text
            .split(grid::breaks_rows)
            .filter(|line| !line.is_empty());
        if text.starts_with(grid::breaks_rows) {
            self.end_line_of_cell();
        }
        if let Some(first) = words.next() {
            self.push(first);
        }
        for line in words {
            self.end_line_of_cell();
            self.push(line);
        }
        if text.ends_with(grid::breaks_rows) {
            self.end_line_of_cell();
        }
    }

    pub(super) fn end_line_of_cell(&mut self) {
        if !self.grid.is_cell_empty() {
            self.pending = Some(' ');
        }
    }

    pub(super) fn trim_space(&mut self) {
        if self.text.ends_with(' ') {
            self.text.pop();
        }
    }

    pub(super) fn at_page_start(&self) -> bool {
        self.text.is_empty() || self.text.ends_with('\u{c}')
    }

    pub(super) fn push_folded(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace();
        let space_before = text.starts_with(|c: char| c.is_ascii_whitespace());
        if space_before && self.pending.is_none() && !self.ends_with_space() {
            self.text.push(' ');
        }
        let Some(first) = words.next() else { return };
        self.push(first);
        for word in words {
            self.text.push(' ');
            self.text.push_str(word);
        }
        if text.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.text.push(' ');
        }
    }

    /// Returns whether the text ends with the target of a link, as its label.
    pub(super) fn ends_with_link(&self, target: &str) -> bool {
        // A label ends with one or two of these, and a text may end with a million of them.
        let mut label = self.text.as_str();
        for _ in 0..MAX_LABEL_END {
            label = label.strip_suffix(['/', ' ']).unwrap_or(label);
        }
        label.ends_with(target.trim_end_matches(['/', ' ']))
    }

    pub(super) fn ends_with_space(&self) -> bool {
        self.text.is_empty() || self.text.ends_with(|c: char| c.is_ascii_whitespace())
    }
}
