//! The cells of grids, as of spreadsheets: how many empty ones stand before a value, so that it stays in its column.

/// More empty cells between two values are written as one: a value far from the others would cost more than it says.
const MAX_GAP: usize = 64;

/// Where a row of a grid is.
#[derive(Default)]
pub(super) struct Grid {
    is_in_cell: bool,
    /// The column of the open cell, until it has text.
    cell: Option<usize>,
    /// The column of the last text of the row.
    column: usize,
    /// How many empty cells are written, and the most.
    n_empty: usize,
    max_empty: usize,
}

impl Grid {
    pub(super) fn begin_cell(&mut self, column: usize, max_empty: usize) {
        (self.is_in_cell, self.cell) = (true, Some(column));
        self.max_empty = max_empty;
    }

    pub(super) fn end_cell(&mut self) {
        (self.is_in_cell, self.cell) = (false, None);
    }

    pub(super) fn is_in_cell(&self) -> bool {
        self.is_in_cell
    }

    pub(super) fn is_cell_empty(&self) -> bool {
        self.cell.is_some()
    }

    /// Returns how many empty cells are written.
    pub(super) fn n_empty(&self) -> usize {
        self.n_empty
    }

    /// Notes that the open cell gets text; returns how many empty cells stand before it.
    pub(super) fn enter(&mut self, is_row_start: bool) -> usize {
        let Some(column) = self.cell.take() else {
            return 0;
        };
        let next = if is_row_start {
            0
        } else {
            self.column.saturating_add(1)
        };
        let gap = column.saturating_sub(next);
        self.column = column.max(next);
        let gap = match self.n_empty < self.max_empty {
            true if gap <= MAX_GAP => gap,
            _ => gap.min(1),
        };
        self.n_empty += gap;
        gap
    }
}

/// Returns whether a character in a cell would end the line of its row, or the cell.
pub(super) fn breaks_rows(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns a text with one tab between two cells of a row.
pub(super) fn without_empty_cells(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let characters = text.chars();
    characters.for_each(|character| {
        if character != '\t' || !shown.ends_with('\t') {
            shown.push(character);
        }
    });
    shown
}
