//! Spreadsheets with binary parts (.xlsb): MS-XLSB, the package of `xlsx` with records instead of
//! XML.
//!
//! Numbers and types of records have one byte or two, lengths up to four (2.1.4). Parts have the
//! same meaning as in `xlsx`; numbers are stored as in `xls`.

use ken_core::Document;

use super::drawing::{self, Context};
use super::xlsx::add_comment;
use super::{links, read_part, related, relations, targets};
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::formats::office::spreadsheet::value::{boolean, error, packed, shown};
use crate::formats::office::spreadsheet::workbook::{MAX_STYLES, Workbook, without_codes};
use crate::output::body::Body;
use crate::output::metadata::set_pages;
use crate::structure::cursor::Cursor;
use crate::structure::package::Package;
use crate::text::code_page;
use crate::{Format, Limits};

pub(in crate::formats) const FORMAT: Format = Format::new(
    "Excel, binary",
    &["application/vnd.ms-excel.sheet.binary.macroenabled.12"],
    |input, output| super::extract(input, output, "xl/workbook.bin", read),
)
.fields(super::xlsx::FORMAT.fields)
.sections("sheets")
.members("embedded files")
.in_worker()
.version(8);

/// More sheets than memory ever holds.
const MAX_SHEETS: usize = 10_000;

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let parts = relations(package, main);
    let mut workbook = Workbook::default();
    let mut sheets = Vec::new();
    each_record(package, main, |kind, data| match kind {
        153 => {
            workbook.from_1904 = data.le_u32()? & 1 == 1;
            Some(())
        }
        156 if sheets.len() < MAX_SHEETS => {
            let (id, name) = sheet_name(data.0)?;
            sheets.push((name, id));
            Some(())
        }
        _ => None,
    });
    if let Some(part) = related(&parts, "styles").next() {
        read_formats(package, part, &mut workbook);
    }
    if let Some(part) = related(&parts, "sharedStrings").next() {
        each_record(package, part, |kind, data| {
            let text = (kind == 19).then(|| rich_string(data))??;
            workbook.strings.push(&text);
            Some(())
        });
    }
    let mut targets = targets(&parts);
    for (position, (name, id)) in sheets.iter().enumerate() {
        if position > 0 {
            body.end_page();
        }
        body.line(name);
        // Each part is read once, even if it is referenced several times.
        if let Some(part) = targets.remove(id.as_str()) {
            read_sheet(package, part, &workbook, &mut body);
        }
    }
    document.body = body.finish();
    set_pages(document, sheets.len());
}

/// Calls back with the records of a part; the callback may read as much of their data as it needs.
fn each_record(
    package: &mut Package<'_>,
    part: &str,
    mut take: impl FnMut(u32, &mut Cursor<'_>) -> Option<()>,
) {
    let bytes = match package.bytes(part) {
        Ok(bytes) => bytes,
        Err(error) => return package.tolerate(Err(error)),
    };
    let mut rest = Cursor(&bytes);
    while let Some((kind, data)) = record(&mut rest) {
        // A record that is too short for its kind is ignored.
        let _ = take(kind, &mut Cursor(data));
    }
}

fn record<'a>(rest: &mut Cursor<'a>) -> Option<(u32, &'a [u8])> {
    let kind = number(rest, 2)?;
    let length = number(rest, 4)? as usize;
    Some((kind, rest.take(length)?))
}

/// Reads a little-endian number with seven bits in each byte.
fn number(rest: &mut Cursor<'_>, max_bytes: u32) -> Option<u32> {
    let mut number = 0;
    for position in 0..max_bytes {
        let byte = rest.byte()?;
        number |= u32::from(byte & 0x7f) << (7 * position);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

/// Reads a string after its length; a missing string has the length -1.
fn string(data: &mut Cursor<'_>) -> Option<String> {
    let n_units = match data.le_u32()? {
        u32::MAX => 0,
        n => n as usize,
    };
    let bytes = data.take(n_units.checked_mul(2)?)?;
    Some(code_page::utf16(bytes).into_owned())
}

/// Reads the relation and the name of a sheet, which two numbers precede; in Excel 2007 before its release three.
fn sheet_name(record: &[u8]) -> Option<(String, String)> {
    let names = |n_before: usize| {
        let mut data = Cursor(record.get(n_before..)?);
        let names = (string(&mut data)?, string(&mut data)?);
        Some((names, data.0.is_empty()))
    };
    let (final_form, is_whole) = names(8).unzip();
    match names(12) {
        Some((names, true)) if is_whole != Some(true) => Some(names),
        _ => final_form,
    }
}

/// Reads a string between its flags and its formatting.
fn rich_string(data: &mut Cursor<'_>) -> Option<String> {
    let _flags = data.byte()?;
    string(data)
}

fn read_formats(package: &mut Package<'_>, part: &str, workbook: &mut Workbook) {
    let mut own = std::collections::HashMap::new();
    let mut in_cell_styles = false;
    each_record(package, part, |kind, data| {
        match kind {
            44 => {
                let number = data.le_u16()?;
                own.insert(number, string(data)?);
            }
            617 => in_cell_styles = true,
            618 => in_cell_styles = false,
            47 if in_cell_styles && workbook.formats.len() < MAX_STYLES => {
                data.take(2)?;
                let number = data.le_u16()?;
                workbook.formats.push(match own.get(&number) {
                    Some(code) => NumberFormat::parse(code),
                    None => NumberFormat::built_in(usize::from(number)),
                });
            }
            _ => {}
        }
        Some(())
    });
}

fn read_sheet(package: &mut Package<'_>, part: &str, workbook: &Workbook, body: &mut Body) {
    let parts = relations(package, part);
    let mut headers = Vec::new();
    body.begin_row();
    each_record(package, part, |kind, data| {
        match kind {
            0 => {
                body.end_row();
                body.begin_row();
            }
            1..=11 | 62 if !body.is_full() => {
                let column = data.le_u32()? as usize;
                let style = data.le_u32()? & 0xff_ffff;
                let text = cell(kind, style as usize, data, workbook)?;
                body.begin_cell_at(column);
                body.push(&text);
                body.end_cell();
            }
            479 => {
                data.take(2)?;
                while let Some(text) = string(data) {
                    headers.push(without_codes(&text));
                }
            }
            _ => {}
        }
        Some(())
    });
    body.end_row();
    headers.iter().for_each(|text| body.once(text));
    links(&parts)
        .into_values()
        .for_each(|target| body.link(target));
    body.end_paragraph();
    for comments in related(&parts, "comments") {
        let mut authors = Vec::new();
        let mut author = 0;
        each_record(package, comments, |kind, data| {
            match kind {
                632 => authors.push(string(data)?),
                635 => author = data.le_u32()? as usize,
                637 => {
                    let author = authors.get(author).map_or("", |author| author.trim());
                    add_comment(author, &rich_string(data)?, body);
                }
                _ => {}
            }
            Some(())
        });
    }
    for shapes in related(&parts, "drawing") {
        let own = relations(package, shapes);
        read_part(package, shapes, |text| {
            drawing::read(text, Context::new(&own), body)
        });
        drawing::read_related(package, &own, body);
    }
}

/// Returns the text of a cell; for a formula, its last result.
fn cell(kind: u32, style: usize, data: &mut Cursor<'_>, workbook: &Workbook) -> Option<String> {
    let format = workbook.formats.get(style);
    let format = format.unwrap_or(&NumberFormat::General);
    let number = |value: f64| format.show(&shown(value), workbook.from_1904);
    let text = |text: &str| format.show_text(text).into_owned();
    Some(match kind {
        2 => number(packed(data.le_u32()?)),
        3 | 11 => error(data.byte()?).to_owned(),
        4 | 10 => boolean(data.byte()?).to_owned(),
        5 | 9 => number(f64::from_bits(data.le_u64()?)),
        6 | 8 => text(&string(data)?),
        7 => text(workbook.strings.get(data.le_u32()? as usize)),
        62 => text(&rich_string(data)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_hostile, run};
    use super::*;
    use crate::structure::package::tests::zip_of;
    use ken_core::Field;

    const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.xlsb");

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let mut record = match kind {
            0..0x80 => vec![kind as u8],
            _ => vec![kind as u8 | 0x80, (kind >> 7) as u8],
        };
        record.push(data.len() as u8);
        record.extend(data);
        record
    }

    fn text(text: &str) -> Vec<u8> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut bytes = (units.len() as u32).to_le_bytes().to_vec();
        bytes.extend(units.into_iter().flat_map(u16::to_le_bytes));
        bytes
    }

    fn cell(kind: u16, value: &[u8]) -> Vec<u8> {
        record(kind, &[&[0; 8], value].concat())
    }

    /// Returns the workbook in `sample.xlsb`: no program on Linux writes such files.
    fn sample() -> Vec<u8> {
        let sheet =
            |name: &str, id: &str| record(156, &[vec![0; 8], text(id), text(name)].concat());
        let workbook = [sheet("Catch", "r1"), sheet("Empty", "r2")].concat();
        let styles = [
            record(44, &[vec![164, 0], text("0.00 \"kg\"")].concat()),
            record(47, &[0, 0, 9, 0]),
            record(617, &[2, 0, 0, 0]),
            record(47, &[0, 0, 164, 0]),
            record(618, b""),
        ];
        let strings = record(19, &[vec![0], text("herringvoe")].concat());
        let cells = [
            record(0, &[0; 16]),
            cell(7, &[0; 4]),
            cell(5, &1.5_f64.to_le_bytes()),
            cell(2, &((1234_u32 << 2) | 3).to_le_bytes()),
            cell(1, b""),
            record(0, &[0; 16]),
            cell(6, &text("Größe")),
            cell(10, &[1]),
            cell(3, &[7]),
            record(
                479,
                &[vec![0, 0], text("&CPage &P"), vec![0xff; 4], text("&LDock")].concat(),
            ),
        ];
        zip_of(&[
            ("xl/workbook.bin", &workbook),
            (
                "xl/_rels/workbook.bin.rels",
                b"<r><Relationship Id='r1' Type='x/worksheet' Target='worksheets/a.bin'/>\
                  <Relationship Id='r3' Type='x/styles' Target='styles.bin'/>\
                  <Relationship Id='r4' Type='x/sharedStrings' Target='strings.bin'/></r>",
            ),
            ("xl/styles.bin", &styles.concat()),
            ("xl/strings.bin", &strings),
            ("xl/worksheets/a.bin", &cells.concat()),
        ])
    }

    #[test]
    fn cells_are_shown_as_in_other_workbooks() {
        let expected = "Catch\nherringvoe\t1.50 kg\t12.34 kg\nGröße\tTRUE\t#DIV/0!\nDock\u{c}Empty";
        for file in [sample(), SAMPLE.to_vec()] {
            let found = run(&FORMAT, &file);
            assert_eq!(found.own().failure, None);
            assert_eq!(found.own().body, expected);
            assert_eq!(found.own().number(Field::Pages), Some(2));
        }
    }

    #[test]
    fn names_of_sheets_follow_two_numbers_or_three() {
        let names = [text("r1"), text("Catch")].concat();
        let expected = Some(("r1".to_owned(), "Catch".to_owned()));
        for n_numbers in [2, 3] {
            let mut record = vec![0; 4 * n_numbers];
            record[4 * (n_numbers - 1)] = 1;
            record.extend(&names);
            assert_eq!(sheet_name(&record), expected);
        }
        assert_eq!(sheet_name(&[0; 8]), None);
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        check_hostile(&FORMAT, SAMPLE);
    }
}
