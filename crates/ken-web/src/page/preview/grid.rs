//! Spreadsheets as tables: a page of their text is a sheet, whose first line is its name, and whose other lines are rows
//! of cells with tabs between them. Files of comma-separated values are one sheet without a name.

use std::ops::Range;

use ken_core::{Document, Kind};

use super::block::{Block, Cell, Grid, GridRow};
use super::text::{Row, Text};
use crate::page::look::Looker;
use crate::page::state::Link;
use crate::page::text::Piece;

/// The most rows that are shown at once.
pub(super) const ROWS: usize = 500;
/// The most cells of a row that are shown.
const COLUMNS: usize = 100;
/// The most names of sheets that are listed.
const SHEETS: usize = 100;
/// The most bytes of a head that are shown: a sheet may be one line.
const HEAD: usize = 16 << 10;
/// The most bytes of a row with line breaks in quotes. A quote that nothing closes divides no row.
const RECORD: usize = 16 << 10;
/// The characters of the name of a sheet.
const NAME: usize = 60;

/// What divides the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cells {
    /// Tabs in ken's text of a spreadsheet.
    Sheets,
    /// Tabs in a file without sheets.
    Tabs,
    /// This character, outside of quotes (RFC 4180).
    Quoted(char),
}

impl Cells {
    /// Returns what divides the cells of a document; none if it is not shown as a table.
    pub(super) fn of(document: &Document) -> Option<Self> {
        match document.media_type.as_str() {
            "text/tab-separated-values" => Some(Self::Tabs),
            "text/csv" => {
                let first = document.body.lines().next().unwrap_or_default();
                let n = |divider| first.matches(divider).count();
                let divider = [',', ';', '\t'].into_iter().max_by_key(|one| n(*one));
                divider.filter(|one| n(*one) > 0).map(Self::Quoted)
            }
            _ if document.kind == Kind::Spreadsheet => Some(Self::Sheets),
            _ => None,
        }
    }

    /// Returns where the row ends that begins with a line: a line break in quotes ends no row.
    fn end_of_row(self, body: &str, line: &Range<usize>) -> usize {
        let ends_at = |at: usize| body[at..].chars().next().is_none_or(|c| c == '\n');
        // A part of a long line is a row of its own.
        if !matches!(self, Self::Quoted(_)) || !ends_at(line.end) {
            return line.end;
        }
        let last = body.floor_char_boundary(line.start.saturating_add(RECORD));
        let mut signs = Signs::new(self);
        for (at, character) in body[line.start..last.max(line.end)].char_indices() {
            if character == '\n' && !signs.is_inside {
                return line.start + at;
            }
            signs.next(character);
        }
        match last == body.len() && !signs.is_inside {
            true => last,
            false => line.end,
        }
    }

    /// Divides a row.
    fn divide(self, row: Vec<Piece>) -> Vec<Cell> {
        let mut signs = Signs::new(self);
        let mut cells = vec![Cell::default()];
        for piece in row {
            let mut text = String::new();
            for character in piece.text.chars() {
                match signs.next(character) {
                    Sign::Divider => {
                        push(&mut cells, &mut text, piece.mark);
                        cells.push(Cell::default());
                    }
                    Sign::Value => text.push(character),
                    Sign::Quote => {}
                }
            }
            push(&mut cells, &mut text, piece.mark);
        }
        cells.truncate(COLUMNS);
        for cell in &mut cells {
            let text: String = cell.text.iter().map(|piece| piece.text.as_str()).collect();
            cell.is_number = is_number(&text);
        }
        cells
    }
}

fn push(cells: &mut [Cell], text: &mut String, mark: bool) {
    if let Some(cell) = cells.last_mut()
        && !text.is_empty()
    {
        cell.text.push(Piece::new(&std::mem::take(text), mark));
    }
}

/// What a character of a row is.
enum Sign {
    /// It divides two cells.
    Divider,
    /// It stands around a value, or before another quote.
    Quote,
    /// It is a part of a value.
    Value,
}

/// Reads the characters of a row. A quote counts at the beginning of a cell: in `5" pipe` it is a part of the value.
struct Signs {
    divider: char,
    are_quotes_read: bool,
    is_inside: bool,
    /// Whether a cell begins here.
    begins: bool,
    /// Whether the last character may have been the end of a quoted value, or the first of two quotes.
    was_end: bool,
}

impl Signs {
    fn new(cells: Cells) -> Self {
        let divider = match cells {
            Cells::Sheets | Cells::Tabs => '\t',
            Cells::Quoted(divider) => divider,
        };
        Self {
            divider,
            are_quotes_read: matches!(cells, Cells::Quoted(_)),
            is_inside: false,
            begins: true,
            was_end: false,
        }
    }

    fn next(&mut self, character: char) -> Sign {
        let begins = std::mem::replace(&mut self.begins, false);
        let was_end = std::mem::replace(&mut self.was_end, false);
        if character == self.divider && !self.is_inside {
            self.begins = true;
            return Sign::Divider;
        }
        if character != '"' || !self.are_quotes_read {
            return Sign::Value;
        }
        match (self.is_inside, begins, was_end) {
            (true, ..) => {
                self.is_inside = false;
                self.was_end = true;
                Sign::Quote
            }
            (false, true, _) => {
                self.is_inside = true;
                Sign::Quote
            }
            // Two quotes inside of quotes are one.
            (false, false, true) => {
                self.is_inside = true;
                Sign::Value
            }
            (false, false, false) => Sign::Value,
        }
    }
}

/// Returns whether a value is a number as people write it, with a sign, a currency or a unit.
fn is_number(text: &str) -> bool {
    let n_digits = text.chars().filter(char::is_ascii_digit).count();
    let is_part = |c: char| c.is_ascii_digit() || " \u{a0}.,'+-−()%€$£¥".contains(c);
    n_digits > 0 && text.chars().all(is_part)
}

/// Returns the sheets of a window, each with its name and its head.
pub(super) fn grids(text: &Text<'_>, window: Range<usize>, cells: Cells) -> Vec<Block> {
    let stretches = text.stretches(window);
    let sheets = stretches.chunk_by(|a, b| a.page == b.page);
    let sheets = sheets.map(|sheet| {
        let top = Top::of(text, sheet[0].bytes.start, cells);
        let mut end = top.end;
        let rows = sheet.iter().filter_map(|row| {
            // Lines inside of quotes belong to the row that began before.
            let is_begin = row.bytes.start >= end;
            is_begin.then(|| {
                end = cells.end_of_row(text.body, &row.bytes);
                GridRow {
                    anchor: text.anchor(row),
                    cells: cells.divide(text.pieces(row.bytes.start..end)),
                }
            })
        });
        let rows = rows.collect::<Vec<_>>();
        let (mut head, mut rows) = (top.head, rows);
        complete(&mut head, &mut rows);
        Block {
            n: sheet[0].page,
            grid: Some(Grid {
                plain_name: text.body[top.name.clone()].to_owned(),
                name: text.pieces(top.name),
                head,
                rows,
            }),
            ..Block::new("grid")
        }
    });
    sheets.collect()
}

/// Makes rows equally long. The head of a column of numbers stands over them.
fn complete(head: &mut Vec<Cell>, rows: &mut [GridRow]) {
    let lengths = rows.iter().map(|row| row.cells.len());
    let length = lengths.chain([head.len()]).max().unwrap_or(0);
    for row in rows.iter_mut() {
        row.cells.resize_with(length, Cell::default);
    }
    if head.is_empty() {
        return;
    }
    head.resize_with(length, Cell::default);
    for (column, cell) in head.iter_mut().enumerate() {
        let first = rows.first().and_then(|row| row.cells.get(column));
        cell.is_number = first.is_some_and(|first| first.is_number);
    }
}

/// The name and the head of a sheet.
struct Top {
    name: Range<usize>,
    head: Vec<Cell>,
    /// Where the other rows begin.
    end: usize,
}

impl Top {
    /// Returns the top of the sheet at a place.
    fn of(text: &Text<'_>, at: usize, cells: Cells) -> Self {
        let start = text.body[..at].rfind('\u{c}').map_or(0, |end| end + 1);
        let line = |start: usize| {
            let rest = &text.body[start..];
            start..start + rest.find(['\n', '\u{c}']).unwrap_or(rest.len())
        };
        let mut first = line(start);
        if let Cells::Quoted(_) = cells {
            first.end = cells.end_of_row(text.body, &first);
        }
        let mut name = start..start;
        if cells == Cells::Sheets && !text.body[first.clone()].contains('\t') {
            name = first.clone();
            first = line((first.end + 1).min(text.body.len()));
        }
        let head = match text.body[name.end..first.start].contains('\u{c}') {
            true => Vec::new(),
            false => cells.divide(text.pieces(first_bytes(text.body, &first, HEAD))),
        };
        // The corner over the names of rows may be empty.
        let named = head.iter().skip_while(|cell| cell.text.is_empty());
        let is_head = named.clone().count() > 1
            && named
                .into_iter()
                .all(|cell| !cell.is_number && !cell.text.is_empty());
        Self {
            end: if is_head { first.end } else { first.start },
            head: if is_head { head } else { Vec::new() },
            name: first_bytes(text.body, &name, 4 * NAME),
        }
    }
}

/// Returns the first bytes of a range, to the end of a character.
fn first_bytes(body: &str, range: &Range<usize>, limit: usize) -> Range<usize> {
    let end = range.end.min(range.start.saturating_add(limit));
    range.start..body.floor_char_boundary(end)
}

/// Returns links to the sheets of a document, if there are several.
pub(super) fn sheets(looker: &Looker<'_>, text: &Text<'_>, shown: &[Block]) -> Vec<Link> {
    let first = shown.first().map_or(0, |block| block.n);
    let (mut links, mut at) = (Vec::new(), 0);
    for (number, page) in text.body.split('\u{c}').take(SHEETS).enumerate() {
        let name: String = page
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(NAME)
            .collect();
        let row = text.rows.partition_point(|row| row.bytes.end < at);
        let row = text.rows.get(row).map(Row::at);
        at += page.len() + 1;
        let state = looker.state;
        links.push(Link {
            is_chosen: first == number + 1,
            ..Link::new(name, state.showing(&state.doc, row))
        });
    }
    if links.len() > 1 { links } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[Cell]) -> Vec<String> {
        let text = |cell: &Cell| cell.text.iter().map(|piece| piece.text.as_str()).collect();
        cells.iter().map(text).collect()
    }

    fn shown(text: &Text<'_>, window: Range<usize>, cells: Cells) -> Vec<String> {
        let mut lines = Vec::new();
        for block in grids(text, window, cells) {
            let grid = block.grid.unwrap();
            let head = words(&grid.head).join("|");
            lines.push(format!("{} {}: {head}", block.n, grid.plain_name));
            let rows = grid.rows.iter();
            lines.extend(rows.map(|row| format!("{} {}", row.anchor, words(&row.cells).join("|"))));
        }
        lines
    }

    #[test]
    fn sheets_have_a_name_a_head_and_rows() {
        let body = "Fares\nFrom\tTo\tFare\nA\tB\t1.50 €\nC\tD\t2\u{c}Crew\nNemo\n2024\t1";
        let text = Text::new(body, &[]);
        let expected = [
            "1 Fares: From|To|Fare",
            "L3 A|B|1.50 €",
            "L4 C|D|2",
            "2 Crew: ",
            "L5 Nemo|",
            "L6 2024|1",
        ];
        assert_eq!(shown(&text, 0..6, Cells::Sheets), expected);
        let body = "Fares\n\tSpring\tFall\nA\t\t2\n\tB";
        let expected = ["1 Fares: |Spring|Fall", "L3 A||2", "L4 |B|"];
        assert_eq!(shown(&Text::new(body, &[]), 0..4, Cells::Sheets), expected);
        let body = "Fares\n\t\tIn the year 2024\nA\tB";
        let expected = ["1 Fares: ", "L2 ||In the year 2024", "L3 A|B|"];
        assert_eq!(shown(&Text::new(body, &[]), 0..3, Cells::Sheets), expected);
        // A part of a sheet has its name and head, too.
        let expected = ["1 Fares: From|To|Fare", "L4 C|D|2", "2 Crew: "];
        assert_eq!(shown(&text, 3..4, Cells::Sheets), expected);
        assert_eq!(shown(&Text::new("", &[]), 0..0, Cells::Sheets), [""; 0]);
        assert_eq!(
            shown(&Text::new("Only", &[]), 0..1, Cells::Sheets),
            ["1 Only: "]
        );
    }

    #[test]
    fn commas_in_quotes_divide_nothing() {
        let line = r#"a,"b, ""c""",,"d"#;
        let pieces = vec![Piece::new(&line[..5], false), Piece::new(&line[5..], true)];
        let cells = Cells::Quoted(',').divide(pieces);
        assert_eq!(words(&cells), ["a", r#"b, "c""#, "", "d"]);
        assert!(cells[3].text[0].mark && !cells[0].text[0].mark);
        let divided = Cells::Quoted(',').divide(vec![Piece::new("5\" pipe,\"\",\"a\"b", false)]);
        assert_eq!(words(&divided), ["5\" pipe", "", "ab"]);
        let divided = Cells::Tabs.divide(vec![Piece::new("a\"\tb", false)]);
        assert_eq!(words(&divided), ["a\"", "b"]);
    }

    #[test]
    fn line_breaks_in_quotes_divide_no_row() {
        let body = "name,\"price\n(EUR)\"\na,\"two\nlines\"\nb,c\nd,\"open\ne,f\n";
        let text = Text::new(body, &[]);
        let expected = [
            "1 : name|price\n(EUR)",
            "L3 a|two\nlines",
            "L5 b|c",
            "L6 d|open",
            "L7 e|f",
        ];
        assert_eq!(shown(&text, 0..7, Cells::Quoted(',')), expected);
        // A part of a long text begins anywhere.
        assert_eq!(
            shown(&text, 4..5, Cells::Quoted(',')),
            [expected[0], expected[2]]
        );
    }

    #[test]
    fn a_quote_within_a_value_joins_no_rows() {
        let text = Text::new("name,price\n5\" nail,\"2\n3\"\n6\" nail,3\n", &[]);
        let expected = ["1 : name|price", "L2 5\" nail|2\n3", "L4 6\" nail|3"];
        assert_eq!(shown(&text, 0..4, Cells::Quoted(',')), expected);
        // A line that is shown in parts has its parts as rows.
        let long = format!("name,price\n\"{}\",1\n", "pipe ".repeat(2000));
        let text = Text::new(&long, &[]);
        assert!(text.rows.len() > 3);
        let n_rows = text.rows.len();
        assert_eq!(shown(&text, 0..n_rows, Cells::Quoted(',')).len(), n_rows);
    }

    #[test]
    fn numbers_are_told_from_words() {
        for text in ["1", "-1,234.50 €", "12.5%", "(7)"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "2024-01-01 18:30", "1 apple"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
