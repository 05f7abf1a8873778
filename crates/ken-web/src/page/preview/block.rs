//! What a preview shows of a text, one after the other.

use serde::Serialize;

use crate::page::text::Piece;

/// A part of the text: a row, the beginning of a page, quoted rows, or a table.
#[derive(Serialize)]
pub(super) struct Block {
    pub(super) kind: &'static str,
    /// The number of the line or of the page.
    pub(super) n: usize,
    pub(super) anchor: String,
    /// Whether it is a part of a line, and not the first one.
    pub(super) is_continued: bool,
    pub(super) text: Vec<Piece>,
    pub(super) lines: Vec<Self>,
    pub(super) is_open: bool,
    pub(super) grid: Option<Grid>,
}

impl Block {
    pub(super) fn new(kind: &'static str) -> Self {
        Self {
            kind,
            n: 0,
            anchor: String::new(),
            is_continued: false,
            text: Vec::new(),
            lines: Vec::new(),
            is_open: false,
            grid: None,
        }
    }

    pub(super) fn page(n: usize) -> Self {
        Self {
            n,
            ..Self::new("page")
        }
    }

    pub(super) fn has_mark(&self) -> bool {
        self.text.iter().any(|piece| piece.mark)
    }
}

/// A part of a sheet.
#[derive(Serialize)]
pub(super) struct Grid {
    pub(super) name: Vec<Piece>,
    pub(super) plain_name: String,
    pub(super) head: Vec<Cell>,
    pub(super) rows: Vec<GridRow>,
}

/// A row of a sheet.
#[derive(Serialize)]
pub(super) struct GridRow {
    pub(super) anchor: String,
    pub(super) cells: Vec<Cell>,
}

/// A cell of a sheet.
#[derive(Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: Vec<Piece>,
    pub(super) is_number: bool,
}
