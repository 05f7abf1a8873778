//! Tables of dBase, FoxPro and Clipper (`dbf`), also those of maps: the names of columns, then the rows that are not deleted, as they
//! are stored. Long texts are in a file beside the table, which is not read.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::output::Output;
use crate::output::body::Body;
use crate::structure::cursor::Cursor;
use crate::text::code_page;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("dBase", &["application/x-dbf"], extract).version(3);

const FIELD_BYTES: usize = 32;
/// More columns than any program allows.
const MAX_FIELDS: usize = 2048;
/// The Julian day on which Unix time begins.
const DAY_1970: i64 = 2_440_588;
/// Bytes of texts that tell their charset.
const SAMPLE_BYTES: usize = 16 << 10;

/// A column.
struct Column {
    name: Vec<u8>,
    kind: u8,
    length: usize,
}

/// How texts are stored.
enum Charset {
    Page(u16),
    Utf8,
    /// As the texts themselves suggest.
    Guessed(Option<u16>),
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let table = Table::open(bytes)
        .ok_or_else(|| Error::Malformed("the header of the table is damaged".into()))?;
    let mut body = Body::new(limits.max_text_bytes);
    table.add_names(&mut body);
    let is_whole = table.add_rows(&mut body);
    output.own().body = body.finish();
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("the table is cut off".into())),
    }
}

struct Table<'a> {
    columns: Vec<Column>,
    n_rows: usize,
    row_bytes: usize,
    rows: &'a [u8],
    charset: Charset,
    is_visual: bool,
}

impl<'a> Table<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut header = Cursor(bytes);
        let version = header.byte()?;
        header.take(3)?;
        let n_rows = header.le_u32()? as usize;
        let header_bytes = usize::from(header.le_u16()?);
        let row_bytes = usize::from(header.le_u16()?);
        // Visual FoxPro has versions of its own; the versions of other programs are in the low bits.
        let is_visual = matches!(version, 0x30..=0x32);
        let is_known = is_visual || version & 0x07 >= 2;
        if !is_known || row_bytes < 2 || header_bytes < FIELD_BYTES + 1 {
            return None;
        }
        // The columns of dBase 7 are longer.
        let is_seven = version & 0x07 == 4;
        let (start, step) = if is_seven {
            (68, 48)
        } else {
            (FIELD_BYTES, FIELD_BYTES)
        };
        let fields = bytes.get(start..header_bytes.min(bytes.len()))?;
        let columns: Vec<Column> = fields
            .chunks_exact(step)
            .take(MAX_FIELDS)
            .take_while(|field| field[0] != b'\r')
            .map(|field| Column::read(field, is_seven))
            .filter(|column| column.length > 0)
            .collect();
        let n_bytes: usize = columns.iter().map(|column| column.length).sum();
        if columns.is_empty() || n_bytes >= row_bytes + columns.len() {
            return None;
        }
        let rows = bytes.get(header_bytes..).unwrap_or_default();
        let mut table = Self {
            columns,
            n_rows,
            row_bytes,
            rows,
            charset: Charset::Utf8,
            is_visual,
        };
        table.charset = table.charset_of(*bytes.get(29)?);
        Some(table)
    }

    /// Returns the charset that the mark of the table names, or that its texts suggest. Programs write UTF-8 under any mark.
    fn charset_of(&self, mark: u8) -> Charset {
        let mut sample = Vec::new();
        for row in self.rows.chunks_exact(self.row_bytes) {
            for (column, cell) in self.cells(row) {
                if matches!(column.kind, b'C' | b'V') && !cell.is_ascii() {
                    sample.extend_from_slice(cell.trim_ascii());
                    sample.push(b' ');
                }
            }
            if sample.len() > SAMPLE_BYTES {
                break;
            }
        }
        if std::str::from_utf8(&sample).is_ok() {
            return Charset::Utf8;
        }
        match page_of(mark) {
            Some(page) => Charset::Page(page),
            None => Charset::Guessed(text::names::page_of(&sample)),
        }
    }

    /// Returns the cells of a row, no more than it has bytes: a small file may claim thousands of columns.
    fn cells<'r>(&self, row: &'r [u8]) -> impl Iterator<Item = (&Column, &'r [u8])> {
        let mut rest = row.get(1..).unwrap_or_default();
        self.columns.iter().map_while(move |column| {
            let (cell, after) = rest.split_at(column.length.min(rest.len()));
            rest = after;
            (!cell.is_empty()).then_some((column, cell))
        })
    }

    fn add_names(&self, body: &mut Body) {
        body.begin_row();
        let shown = (self.columns.iter()).filter(|column| column.is_shown(self.is_visual));
        for (at, column) in shown.enumerate() {
            body.begin_cell_at(at);
            body.push(&self.decode(&column.name));
            body.end_cell();
        }
        body.end_row();
    }

    /// Adds the rows; returns whether all of them are there.
    fn add_rows(&self, body: &mut Body) -> bool {
        let mut n_rows = 0;
        for row in self.rows.chunks_exact(self.row_bytes).take(self.n_rows) {
            if row[0] == 0x1a || body.is_full() {
                break;
            }
            n_rows += 1;
            if row[0] != b'*' {
                self.add_row(row, body);
            }
        }
        n_rows == self.n_rows || body.is_full()
    }

    fn add_row(&self, row: &[u8], body: &mut Body) {
        body.begin_row();
        let mut at = 0;
        for (column, cell) in self.cells(row) {
            if !column.is_shown(self.is_visual) {
                continue;
            }
            let shown = match column.kind {
                b'I' | b'+' => integer(cell, column.kind),
                b'D' => date(cell),
                b'B' | b'T' | b'Y' => visual_number(cell, column.kind).unwrap_or_default(),
                b'V' if self.is_visual => self
                    .decode(of_length(cell))
                    .trim_matches([' ', '\0'])
                    .to_owned(),
                _ => self.decode(cell).trim_matches([' ', '\0']).to_owned(),
            };
            body.begin_cell_at(at);
            body.push(&shown);
            body.end_cell();
            at += 1;
        }
        body.end_row();
    }

    fn decode(&self, bytes: &[u8]) -> String {
        match self.charset {
            Charset::Page(page) | Charset::Guessed(Some(page)) => {
                code_page::decode(bytes, page).into_owned()
            }
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Charset::Guessed(None) => text::decode(bytes, None).into_owned(),
        }
    }
}

impl Column {
    fn read(field: &[u8], is_seven: bool) -> Self {
        let name_bytes = if is_seven { 32 } else { 11 };
        let name = &field[..name_bytes];
        let end = memchr::memchr(0, name).unwrap_or(name.len());
        let kind = field[name_bytes];
        let length = usize::from(field[if is_seven { 33 } else { 16 }]);
        let decimals = field[if is_seven { 34 } else { 17 }];
        // FoxPro and Clipper have texts of more than 255 bytes.
        let length = match kind {
            b'C' => length | usize::from(decimals) << 8,
            _ => length,
        };
        Self {
            name: name[..end].to_vec(),
            kind,
            length,
        }
    }

    /// Returns whether the cells are text, numbers or dates, and not the numbers of texts in another file, or other binary data.
    fn is_shown(&self, is_visual: bool) -> bool {
        match self.kind {
            b'C' | b'N' | b'F' | b'D' | b'L' | b'I' | b'+' | b'V' => true,
            b'B' | b'T' | b'Y' => is_visual,
            _ => false,
        }
    }
}

/// Returns a text of Visual FoxPro without what fills its column: the last byte of a text that is shorter than the
/// column is its length.
fn of_length(cell: &[u8]) -> &[u8] {
    let Some((&length, text)) = cell.split_last() else {
        return cell;
    };
    match text.get(usize::from(length)..) {
        Some(rest) if rest.iter().all(|byte| matches!(byte, 0 | b' ')) => &text[..length.into()],
        _ => cell,
    }
}

/// Shows a number with its exponent if it has more digits than are exact.
fn float(number: f64) -> String {
    match number.abs() < 1e16 {
        true => number.to_string(),
        false => format!("{number:e}"),
    }
}

/// Shows a number of eight bytes of Visual FoxPro: a floating point number (`B`), an amount in ten thousandths (`Y`), or a time
/// (`T`), which is a Julian day and the milliseconds of the day. An empty time is none.
fn visual_number(cell: &[u8], kind: u8) -> Option<String> {
    let bytes = <[u8; 8]>::try_from(cell).ok()?;
    match kind {
        b'B' => Some(float(f64::from_le_bytes(bytes))),
        b'Y' => {
            let amount = i64::from_le_bytes(bytes);
            let (whole, rest) = (
                amount.unsigned_abs() / 10_000,
                amount.unsigned_abs() % 10_000,
            );
            let sign = if amount < 0 { "-" } else { "" };
            Some(format!("{sign}{whole}.{rest:04}"))
        }
        _ => {
            let (day, milliseconds) = bytes.split_at(4);
            let day = i64::from(i32::from_le_bytes(day.try_into().ok()?));
            let milliseconds = i64::from(i32::from_le_bytes(milliseconds.try_into().ok()?));
            if day <= 0 {
                return None;
            }
            // Programs round down: a time ends in 999 milliseconds for a full second.
            let seconds = (day - DAY_1970) * 86_400 + (milliseconds + 500) / 1000;
            let time = Timestamp::from_second(seconds)
                .ok()?
                .to_zoned(TimeZone::UTC);
            Some(time.strftime("%Y-%m-%d %H:%M:%S").to_string())
        }
    }
}

fn integer(cell: &[u8], kind: u8) -> String {
    let Ok(bytes) = <[u8; 4]>::try_from(cell) else {
        return String::from_utf8_lossy(cell).trim().to_owned();
    };
    match kind {
        // In dBase 7, with the sign turned.
        b'+' => (i32::from_be_bytes(bytes) ^ i32::MIN).to_string(),
        _ => i32::from_le_bytes(bytes).to_string(),
    }
}

/// Shows `20240301` as `2024-03-01`.
fn date(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..])
        }
        _ => String::new(),
    }
}

/// Returns the code page of a mark, which is the number of a driver for a language.
fn page_of(mark: u8) -> Option<u16> {
    Some(match mark {
        0x01 | 0x09 | 0x0b | 0x0d | 0x0f | 0x11 | 0x15 | 0x18 | 0x19 | 0x1b => 437,
        0x02 | 0x0a | 0x0e | 0x10 | 0x12 | 0x14 | 0x16 | 0x1a | 0x1d | 0x25 | 0x37 => 850,
        0x03 | 0x57 | 0x58 | 0x59 => 1252,
        0x04 => 10000,
        0x08 | 0x17 | 0x66 => 865,
        0x13 | 0x7b => 932,
        0x1c | 0x6c => 863,
        0x1f | 0x22 | 0x23 | 0x40 | 0x64 | 0x87 => 852,
        0x24 => 860,
        0x26 | 0x65 => 866,
        0x4d | 0x7a => 936,
        0x4e | 0x79 => 949,
        0x4f | 0x78 => 950,
        0x50 | 0x7c => 874,
        0x67 => 861,
        0x6a | 0x86 => 737,
        0x6b | 0x88 => 857,
        0x7d => 1255,
        0x7e => 1256,
        0x96 => 10007,
        0x97 => 10029,
        0x98 => 10006,
        0xc8 => 1250,
        0xc9 => 1251,
        0xca => 1254,
        0xcb => 1253,
        0xcc => 1257,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const DBF: Detected = Detected {
        media_type: "application/x-dbf",
        kind: Kind::Data,
    };

    fn table(mark: u8, rows: &[&[u8]]) -> Vec<u8> {
        let columns = [
            ("TOWN", b'C', 8),
            ("N", b'N', 4),
            ("DAY", b'D', 8),
            ("MEMO", b'M', 4),
        ];
        table_of(3, &columns, mark, rows)
    }

    fn table_of(version: u8, columns: &[(&str, u8, u8)], mark: u8, rows: &[&[u8]]) -> Vec<u8> {
        let row_bytes: u8 = 1 + columns.iter().map(|&(_, _, length)| length).sum::<u8>();
        let mut bytes = vec![version, 124, 3, 1];
        bytes.extend((rows.len() as u32).to_le_bytes());
        bytes.extend((32 + 32 * columns.len() as u16 + 1).to_le_bytes());
        bytes.extend(u16::from(row_bytes).to_le_bytes());
        bytes.resize(29, 0);
        bytes.extend([mark, 0, 0]);
        for &(name, kind, length) in columns {
            let mut field = name.as_bytes().to_vec();
            field.resize(11, 0);
            field.extend([kind, 0, 0, 0, 0, length]);
            field.resize(32, 0);
            bytes.extend(field);
        }
        bytes.push(b'\r');
        bytes.extend(rows.concat());
        bytes.push(0x1a);
        bytes
    }

    #[test]
    fn rows_are_read_but_not_deleted_ones() {
        let rows: [&[u8]; 3] = [
            b" Oslo      1220240301   1",
            b"*Gone        120240301    ",
            b" K\xf8ln      5            ",
        ];
        let bytes = table(0x03, &rows);
        let found = run(extract, DBF, "a.dbf", &bytes);
        assert_eq!(found.own().failure, None);
        assert_eq!(
            found.own().body,
            "TOWN\tN\tDAY\nOslo\t12\t2024-03-01\nKøln\t5"
        );
        survives(extract, DBF, "a.dbf", &bytes);
    }

    #[test]
    fn tables_of_visual_foxpro_have_numbers_amounts_and_times() {
        let columns = [
            ("NAME", b'V', 8),
            ("SHARE", b'B', 8),
            ("PRICE", b'Y', 8),
            ("AT", b'T', 8),
            ("NOTE", b'M', 4),
        ];
        let mut row = b" Oslo\0\0\0\x04".to_vec();
        row.extend(0.25_f64.to_le_bytes());
        row.extend((-12_500_i64).to_le_bytes());
        // 2024-03-01, a quarter past one in the afternoon.
        row.extend(2_460_371_u32.to_le_bytes());
        row.extend(47_699_999_u32.to_le_bytes());
        row.extend([0; 4]);
        let empty = [b" Rom\0\0\0\0\x03".as_slice(), &[0; 28]].concat();
        let long = "Johann".repeat(8);
        let mut cell = long.clone().into_bytes();
        cell.resize(99, 0);
        cell.push(48);
        let bytes = table_of(
            0x32,
            &[("NAME", b'V', 100)],
            3,
            &[&[b" ", &cell[..]].concat()],
        );
        assert_eq!(
            run(extract, DBF, "a.dbf", &bytes).own().body,
            format!("NAME\n{long}")
        );
        let bytes = table_of(0x32, &[("NAME", b'V', 4)], 3, &[b" \xd6l\0\x02"]);
        assert_eq!(run(extract, DBF, "a.dbf", &bytes).own().body, "NAME\nÖl");
        for version in [0x30, 0x32] {
            let bytes = table_of(version, &columns, 3, &[&row, &empty]);
            let found = run(extract, DBF, "a.dbf", &bytes);
            assert_eq!(
                found.own().body,
                "NAME\tSHARE\tPRICE\tAT\nOslo\t0.25\t-1.2500\t2024-03-01 13:15:00\nRom\t0\t0.0000"
            );
            survives(extract, DBF, "a.dbf", &bytes);
        }
    }

    #[test]
    fn a_row_has_no_more_cells_than_bytes() {
        let mut bytes = table(0x03, &[]);
        // Rows of two bytes.
        bytes[10..12].copy_from_slice(&2_u16.to_le_bytes());
        for column in 0..4 {
            bytes[32 + 32 * column + 16] = 1;
        }
        bytes.extend(b" a b");
        let table = Table::open(&bytes).unwrap();
        let cells: Vec<_> = table.cells(b" a").collect();
        assert_eq!((cells.len(), cells[0].1), (1, &b"a"[..]));
    }

    #[test]
    fn charsets_by_mark_by_bytes_and_by_guess() {
        let row = |town: &[u8]| [b" ", town, b"   1            "].concat();
        let body = |mark, town: &[u8]| {
            run(extract, DBF, "a.dbf", &table(mark, &[&row(town)]))
                .own()
                .body
                .clone()
        };
        assert!(body(0x65, b"\x8c\xae\xe1\xaa\xa2\xa0  ").contains("Москва"));
        assert!(body(0x57, "Zürich ".as_bytes()).contains("Zürich"));
        assert!(body(0, b"\x8c\xae\xe1\xaa\xa2\xa0  ").contains("Москва"));
    }

    #[test]
    fn a_table_that_is_cut_off_says_so() {
        let bytes = table(
            3,
            &[b" Oslo      1220240301   1", b" Rom         1            "],
        );
        let found = run(extract, DBF, "a.dbf", &bytes[..bytes.len() - 10]);
        let failure = found.own().failure.as_ref();
        assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
        assert!(found.own().body.contains("Oslo"));
    }
}
