//! The cells of tables, packed row by row. Apple has published no specification; the layout is that of the fifth
//! version as `numbers-parser` by Jon Connell reads it.

use super::iwa::Message;
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::structure::cursor::Cursor;

const VERSION: u8 = 5;
/// The exponent of decimal numbers is stored with this added.
const BIAS: i32 = 0x1820;
/// More than Numbers allows.
const MAX_COLUMNS: u16 = 4096;
/// Further digits of a result are noise.
const EXACT_DIGITS: usize = 15;
/// Longer numbers are written with an exponent.
const MAX_ZEROS: u32 = 40;
/// 2001-01-01 as a day of Excel, from which dates count.
const FIRST_DAY: f64 = 36_892.0;
/// Excel's formats of a date, without and with the time.
const DATE: usize = 14;
const DATE_AND_TIME: usize = 22;

/// The value of a cell.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Number([u8; 16]),
    /// Seconds since the first day of 2001.
    Date(f64),
    Truth(bool),
    /// Seconds.
    Duration(f64),
    /// The key of a text in the table's list.
    Text(u32),
    /// The key of a text with styles in the table's other list.
    Styled(u32),
}

impl Value {
    /// Returns what a value is that stands in the cell itself.
    pub(super) fn show(self) -> String {
        match self {
            Self::Number(bytes) => number(bytes),
            Self::Date(seconds) => date(seconds),
            Self::Truth(true) => "TRUE".to_owned(),
            Self::Truth(false) => "FALSE".to_owned(),
            Self::Duration(seconds) => duration(seconds),
            Self::Text(_) | Self::Styled(_) => String::new(),
        }
    }
}

/// A row of a table.
pub(super) struct Row {
    pub(super) number: u64,
    /// The cells that are not empty, with their columns.
    pub(super) cells: Vec<(u16, Value)>,
}

/// Reads the rows of a part of a table (`TST.Tile`), until there are more than so many cells; returns `None` if they are packed
/// in another way.
pub(super) fn rows(tile: Message<'_>, max_cells: usize) -> Option<Vec<Row>> {
    let mut n_cells = 0;
    let mut rows = Vec::new();
    for message in tile.messages(5) {
        let row = row(message)?;
        n_cells += row.cells.len();
        rows.push(row);
        if n_cells > max_cells {
            break;
        }
    }
    Some(rows)
}

fn row(row: Message<'_>) -> Option<Row> {
    let buffer = row.messages(6).next()?.0;
    let offsets = row.messages(7).next()?.0;
    let unit = if row.number(8) == Some(1) { 4 } else { 1 };
    let mut cells = Vec::new();
    for (column, offset) in (0..MAX_COLUMNS).zip(offsets.chunks_exact(2)) {
        // Empty cells are at -1.
        let Ok(offset) = usize::try_from(i16::from_le_bytes([offset[0], offset[1]])) else {
            continue;
        };
        let cell = buffer.get(offset * unit..)?;
        if *cell.first()? != VERSION {
            return None;
        }
        cells.extend(value(cell).map(|value| (column, value)));
    }
    Some(Row {
        number: row.number(1)?,
        cells,
    })
}

fn value(cell: &[u8]) -> Option<Value> {
    let kind = *cell.get(1)?;
    let mut rest = Cursor(cell.get(8..)?);
    let flags = rest.le_u32()?;
    let mut field = |flag: u32, n_bytes| match flags & flag {
        0 => None,
        _ => rest.take(n_bytes),
    };
    let decimal = field(0x1, 16);
    let double = field(0x2, 8);
    let seconds = field(0x4, 8);
    let text = field(0x8, 4);
    let styled = field(0x10, 4);
    let float = |bytes: &[u8]| Some(f64::from_le_bytes(bytes.try_into().ok()?));
    let key = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
    Some(match kind {
        2 | 10 => Value::Number(decimal?.try_into().ok()?),
        3 => Value::Text(key(text?)?),
        5 => Value::Date(float(seconds?)?),
        6 => Value::Truth(float(double?)? > 0.0),
        7 => Value::Duration(float(double?)?),
        9 => Value::Styled(key(styled?)?),
        _ => return None,
    })
}

/// Shows a decimal number (decimal128 of IEEE 754-2008, with its digits in binary).
fn number(bytes: [u8; 16]) -> String {
    let bits = u128::from_le_bytes(bytes);
    let sign = if bits >> 127 == 1 { "-" } else { "" };
    let exponent = ((bits >> 113) & 0x3fff) as i32 - BIAS;
    let digits = (bits & ((1 << 113) - 1)).to_string();
    let n_zeros = exponent.unsigned_abs();
    if digits.len() > EXACT_DIGITS && exponent < 0 {
        return rounded(&format!("{sign}{digits}E{exponent}"));
    }
    if n_zeros > MAX_ZEROS && digits != "0" {
        return format!("{sign}{digits}E{exponent}");
    }
    let n_zeros = n_zeros.min(MAX_ZEROS) as usize;
    if exponent >= 0 {
        let zeros = if digits == "0" { 0 } else { n_zeros };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let digits = format!("{digits:0>width$}", width = n_zeros + 1);
    let (whole, decimals) = digits.split_at(digits.len() - n_zeros);
    match decimals.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        decimals => format!("{sign}{whole}.{decimals}"),
    }
}

/// Returns a fraction without the noise of a result in binary.
fn rounded(number: &str) -> String {
    let number: f64 = number.parse().unwrap_or_default();
    let shown = format!("{number:.*e}", EXACT_DIGITS - 1);
    let number: f64 = shown.parse().unwrap_or(number);
    match (1e-9..1e15).contains(&number.abs()) {
        true => number.to_string(),
        false => format!("{number:E}"),
    }
}

fn date(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    let format = match seconds % DAY == 0.0 {
        true => DATE,
        false => DATE_AND_TIME,
    };
    let day = FIRST_DAY + seconds / DAY;
    NumberFormat::built_in(format).show(&day.to_string(), false)
}

fn duration(seconds: f64) -> String {
    let whole = seconds.abs().round() as u64;
    let parts = [
        (whole / 3600, 'h'),
        (whole / 60 % 60, 'm'),
        (whole % 60, 's'),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<_> = parts.map(|(n, unit)| format!("{n}{unit}")).collect();
    let sign = if seconds < 0.0 { "-" } else { "" };
    match parts.is_empty() {
        true => "0s".to_owned(),
        false => format!("{sign}{}", parts.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown() {
        let decimal = |digits: u128, exponent: i32, sign: u128| {
            let exponent = u128::from((exponent + BIAS) as u32);
            number((sign << 127 | exponent << 113 | digits).to_le_bytes())
        };
        assert_eq!(decimal(125, -1, 0), "12.5");
        assert_eq!(decimal(129_950, -2, 1), "-1299.5");
        assert_eq!(decimal(5, -3, 0), "0.005");
        assert_eq!(decimal(1, 15, 0), "1000000000000000");
        assert_eq!(decimal(0, 300, 0), "0");
        assert_eq!(decimal(0, -300, 0), "0");
        assert_eq!(decimal(7, 300, 0), "7E300");
        assert_eq!(decimal(51_999_999_999_999_992, -15, 1), "-52");
        assert_eq!(
            decimal(12_345_678_901_234_567, -30, 0),
            "1.23456789012346E-14"
        );
        assert_eq!(
            number([0xff; 16]).len(),
            "-10384593717069655257060992658440191E10207".len()
        );
        assert_eq!(date(0.0), "2001-01-01");
        assert_eq!(date(86_400.0 * 365.0 + 3_600.0), "2002-01-01 1:00");
        for seconds in [f64::NAN, f64::INFINITY, -1e300] {
            let _ = (date(seconds), duration(seconds));
        }
        assert_eq!(duration(9_000.0), "2h 30m");
        assert_eq!(duration(-1.0), "-1s");
    }
}
