//! The text beside the list: which of its rows are on the screen.

use crate::row::{Piece, Text, wrap};

/// A text, broken into rows of the width that it has on the screen.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) text: Text,
    rows: Vec<ViewRow>,
    /// The width for which the rows are made.
    width: usize,
    /// The rows that fit.
    height: usize,
    top: usize,
}

/// A row of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewRow {
    /// The number of the line, in its first row.
    pub(crate) number: Option<usize>,
    /// Whether this is the rule between two pages.
    pub(crate) is_rule: bool,
    pub(crate) pieces: Vec<Piece>,
}

impl View {
    pub(crate) fn new(text: Text) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Fits the text into a part of the screen, and returns the rows that are seen.
    pub(crate) fn fit(&mut self, width: usize, height: usize) -> &[ViewRow] {
        self.height = height;
        if self.width != width {
            let seen = self.rows.get(self.top).and_then(|row| row.number);
            self.width = width;
            self.break_lines();
            let wanted = seen.or(self.text.first);
            let at =
                wanted.and_then(|line| self.rows.iter().position(|row| row.number == Some(line)));
            // A match is seen with what stands before it.
            let before = if seen.is_none() { height / 3 } else { 0 };
            self.top = at.unwrap_or(0).saturating_sub(before);
        }
        self.top = self.top.min(self.last_top());
        let end = self.rows.len().min(self.top + height);
        &self.rows[self.top..end]
    }

    fn break_lines(&mut self) {
        self.rows.clear();
        for line in &self.text.lines {
            let is_rule = line.number.is_none();
            let rows = match is_rule {
                true => vec![line.pieces.clone()],
                false => wrap(&line.pieces, self.width),
            };
            for (at, pieces) in rows.into_iter().enumerate() {
                self.rows.push(ViewRow {
                    number: line.number.filter(|_| at == 0),
                    is_rule,
                    pieces,
                });
            }
        }
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height.max(1))
    }

    pub(crate) fn scroll(&mut self, n_rows: isize) {
        self.top = self.top.saturating_add_signed(n_rows).min(self.last_top());
    }

    pub(crate) fn scroll_page(&mut self, n_pages: isize) {
        let page = self.height.saturating_sub(1).max(1).cast_signed();
        self.scroll(n_pages.saturating_mul(page));
    }

    /// Goes to the next row with a match, or to the one before.
    pub(crate) fn next_match(&mut self, step: isize) {
        let offset = self.height / 3;
        let here = self.top + offset;
        let is_match = |(_, row): &(usize, &ViewRow)| row.pieces.iter().any(|piece| piece.mark);
        let mut matches = self
            .rows
            .iter()
            .enumerate()
            .filter(is_match)
            .map(|(at, _)| at);
        let next = match step > 0 {
            true => matches.find(|at| *at > here),
            false => matches.take_while(|at| *at < here).last(),
        };
        if let Some(at) = next {
            self.top = at.saturating_sub(offset).min(self.last_top());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::TextLine;

    fn view(first: Option<usize>) -> View {
        let line = |number: usize| TextLine {
            number: Some(number),
            pieces: vec![Piece {
                text: format!("line {number}"),
                mark: number.is_multiple_of(20),
            }],
        };
        View::new(Text {
            lines: (1..=100).map(line).collect(),
            first,
            ..Text::default()
        })
    }

    fn top(view: &mut View) -> usize {
        view.fit(20, 9)[0].number.unwrap()
    }

    #[test]
    fn it_begins_at_the_match_and_ends_at_the_end() {
        let mut view = view(Some(50));
        assert_eq!(top(&mut view), 47);
        view.scroll_page(1);
        assert_eq!(top(&mut view), 55);
        view.scroll_page(100);
        assert_eq!(top(&mut view), 92);
        view.scroll(-1000);
        assert_eq!(top(&mut view), 1);
    }

    #[test]
    fn keys_go_from_match_to_match() {
        let mut view = view(None);
        assert_eq!(top(&mut view), 1);
        view.next_match(1);
        assert_eq!(top(&mut view), 17);
        view.next_match(1);
        assert_eq!(top(&mut view), 37);
        view.next_match(-1);
        assert_eq!(top(&mut view), 17);
        view.next_match(-1);
        assert_eq!(top(&mut view), 17);
    }

    #[test]
    fn another_width_shows_the_same_line() {
        let mut view = view(Some(50));
        view.fit(20, 9);
        let narrow = view.fit(4, 9);
        assert_eq!(narrow[0].number, Some(47));
        assert_eq!(narrow[1].number, None);
    }
}
