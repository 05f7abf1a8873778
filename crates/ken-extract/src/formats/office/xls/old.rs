//! Workbooks of Excel 2 to 4 (BIFF2 to BIFF4), which are streams without a compound file. Their records are turned into those of Excel 5,
//! so that there is one reader (the Excel file format by Daniel Rentz for OpenOffice.org, 5 and 6).

use super::record::Records;
use crate::structure::cursor::Cursor;

/// What the first record is in each version, and how long.
const BEGINNINGS: [[u8; 4]; 3] = [[0x09, 0, 4, 0], [0x09, 2, 6, 0], [0x09, 4, 6, 0]];
/// The kinds of streams: a workbook, in which the sheets follow.
const WORKBOOK: u16 = 0x100;
/// The kind of the shared data of a workbook, in Excel 5.
const GLOBALS: u16 = 5;
/// Excel 2 writes the number of the format into each cell, in six bits.
const N_FORMATS: u16 = 64;

/// Returns whether a file begins as one of these workbooks.
pub(super) fn is_old(head: &[u8]) -> bool {
    BEGINNINGS.iter().any(|begin| head.starts_with(begin))
}

/// Returns the records of a workbook as those of Excel 5.
pub(super) fn renewed(stream: &[u8]) -> Vec<u8> {
    let mut renewer = Renewer {
        records: Vec::with_capacity(stream.len()),
        n_formats: 0,
        has_styles: false,
        depth: 0,
    };
    let mut records = Records::new(stream);
    while let Some((number, data)) = records.next() {
        // A record that is too short for its kind is left out.
        let _ = renewer.record(number, Cursor(data));
    }
    renewer.records
}

struct Renewer {
    records: Vec<u8>,
    /// Number of formats so far, which give them their numbers.
    n_formats: u16,
    /// Whether the styles that Excel 2 lacks are written.
    has_styles: bool,
    depth: usize,
}

impl Renewer {
    fn write(&mut self, number: u16, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let Ok(length) = u16::try_from(length) else {
            return;
        };
        self.records.extend(number.to_le_bytes());
        self.records.extend(length.to_le_bytes());
        parts
            .iter()
            .for_each(|part| self.records.extend_from_slice(part));
    }

    fn record(&mut self, number: u16, mut data: Cursor<'_>) -> Option<()> {
        match number {
            0x09 | 0x209 | 0x409 => self.begin(&mut data)?,
            // The end of a workbook, whose beginning is left out.
            0x0a if self.depth == 0 => {}
            0x0a => {
                self.depth -= 1;
                self.write(number, &[]);
            }
            // The name of the sheet that follows, in a workbook.
            0x8f => {
                data.take(4)?;
                self.write(0x85, &[&[0; 6], data.0]);
            }
            0x1e | 0x41e => {
                // Excel 4 leaves two bytes before the code unused.
                data.take(if number == 0x41e { 2 } else { 0 })?;
                let format = self.n_formats.to_le_bytes();
                self.n_formats = self.n_formats.saturating_add(1);
                self.write(0x41e, &[&format, data.0]);
            }
            0x243 | 0x443 => {
                let (font, format) = (data.byte()?, data.byte()?);
                self.write(0xe0, &[&[font, 0, format, 0]]);
            }
            0x01..=0x07 => self.narrow_cell(number, data)?,
            0x206 | 0x406 => self.write(0x06, &[data.0]),
            // Cells, texts of formulas, notes, the code page, dates, headers.
            0x203..=0x205 | 0x207 | 0x27e | 0x1c | 0x42 | 0x22 | 0x14 | 0x15 => {
                self.write(number, &[data.0]);
            }
            _ => {}
        }
        Some(())
    }

    fn begin(&mut self, data: &mut Cursor<'_>) -> Option<()> {
        let _version = data.le_u16()?;
        let kind = data.le_u16()?;
        let is_workbook = kind == WORKBOOK;
        let kind = if is_workbook { GLOBALS } else { kind }.to_le_bytes();
        self.write(0x809, &[&0x500_u16.to_le_bytes(), &kind, &[0; 4]]);
        match is_workbook {
            // In Excel 5 the sheets follow the data that they share.
            true => self.write(0x0a, &[]),
            false => self.depth += 1,
        }
        Some(())
    }

    /// Renews a cell of Excel 2, whose style is three bytes, and texts with a length of one byte.
    fn narrow_cell(&mut self, number: u16, mut data: Cursor<'_>) -> Option<()> {
        if number == 0x07 {
            let length = u16::from(data.byte()?).to_le_bytes();
            self.write(0x207, &[&length, data.0]);
            return Some(());
        }
        if !std::mem::replace(&mut self.has_styles, true) {
            for format in 0..N_FORMATS {
                self.write(0xe0, &[&[0, 0], &format.to_le_bytes()]);
            }
        }
        let place = data.take(4)?;
        let style = u16::from(data.take(3)?[1]) % N_FORMATS;
        let style = style.to_le_bytes();
        match number {
            0x02 => {
                let value = f64::from(data.le_u16()?).to_le_bytes();
                self.write(0x203, &[place, &style, &value]);
            }
            0x03 => self.write(0x203, &[place, &style, data.0]),
            0x04 => {
                let length = u16::from(data.byte()?).to_le_bytes();
                self.write(0x204, &[place, &style, &length, data.0]);
            }
            0x05 => self.write(0x205, &[place, &style, data.0]),
            0x06 => self.write(0x06, &[place, &style, data.0]),
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::super::FORMAT;
    use crate::detect::{self, Detected};
    use crate::testing::{run, survives};
    use crate::{Input, formats::Extract};

    const XLS: Detected = Detected {
        media_type: "application/vnd.ms-excel",
        kind: Kind::Spreadsheet,
    };
    const EXTRACT: Extract = FORMAT.extract;

    fn record(number: u16, data: &[u8]) -> Vec<u8> {
        [
            &number.to_le_bytes()[..],
            &(data.len() as u16).to_le_bytes(),
            data,
        ]
        .concat()
    }

    fn body(bytes: &[u8]) -> String {
        assert_eq!(detect::detect(&Input::bytes_of("", bytes)).unwrap(), XLS);
        let found = run(EXTRACT, XLS, "a.xls", bytes);
        assert_eq!(found.own().failure, None);
        survives(EXTRACT, XLS, "a.xls", bytes);
        found.own().body.clone()
    }

    #[test]
    fn sheets_of_excel_2_are_read() {
        let cell = |row: u8, column: u8, format: u8| [row, 0, column, 0, 0, format, 0];
        let bytes = [
            record(0x09, &[2, 0, 0x10, 0]),
            record(0x42, &[0xb5, 1]),
            record(0x1e, b"\x07General"),
            record(0x1e, b"\x080.00 \"m\""),
            record(0x04, &[&cell(0, 0, 0)[..], b"\x05Stra\xe1"].concat()),
            record(0x02, &[&cell(0, 1, 0)[..], &[7, 0]].concat()),
            record(0x03, &[&cell(1, 0, 1)[..], &2.5_f64.to_le_bytes()].concat()),
            record(
                0x06,
                &[&cell(1, 1, 0)[..], &[0, 0, 0, 0, 0, 0, 0xff, 0xff], &[0; 3]].concat(),
            ),
            record(0x07, b"\x03sum"),
            record(0x0a, &[]),
        ]
        .concat();
        assert_eq!(body(&bytes), "Straß\t7\n2.50 m\tsum");
    }

    #[test]
    fn formats_of_excel_4_have_numbers_by_their_order() {
        let number = |style: u8, value: f64| {
            let place = [0, 0, style, 0, style, 0];
            record(0x203, &[&place[..], &value.to_le_bytes()].concat())
        };
        let style = |format: u8| record(0x443, &[0, format, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let mut bytes = record(0x409, &[0, 4, 0x10, 0, 0, 0]);
        for code in ["General", "0.00%", "0.00 \"m\""] {
            let length = code.len() as u8;
            bytes.extend(record(0x41e, &[&[0, 0, length], code.as_bytes()].concat()));
        }
        bytes.extend((0..3).flat_map(style));
        bytes.extend([number(0, 7.0), number(1, 0.25), number(2, 2.5)].concat());
        bytes.extend(record(0x0a, &[]));
        assert_eq!(body(&bytes), "7\t25.00%\t2.50 m");
    }

    #[test]
    fn workbooks_of_excel_4_have_names_of_sheets() {
        let sheet = |name: &[u8], text: &[u8]| {
            let length = (text.len() as u16).to_le_bytes();
            [
                record(0x8f, &[&[0; 4], name].concat()),
                record(0x409, &[0, 4, 0x10, 0, 0, 0]),
                record(0x204, &[&[0, 0, 0, 0, 0, 0], &length[..], text].concat()),
                record(0x0a, &[]),
            ]
            .concat()
        };
        let bytes = [
            record(0x409, &[0, 4, 0, 1, 0, 0]),
            sheet(b"\x04Boat", b"oar"),
            sheet(b"\x04Crew", b"Ina"),
            record(0x0a, &[]),
        ]
        .concat();
        assert_eq!(body(&bytes), "Boat\noar\u{c}Crew\nIna");
    }
}
