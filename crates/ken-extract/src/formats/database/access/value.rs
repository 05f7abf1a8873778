//! The values of columns as text.

use std::collections::HashSet;

use jiff::civil::DateTime;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use super::pages::Pages;
use crate::structure::cursor::Cursor;

/// Types of columns. Truths, binary values, objects, identifiers and attachments have no text.
pub(super) const TRUTH: u8 = 1;
const BYTE: u8 = 2;
const SHORT: u8 = 3;
const LONG: u8 = 4;
const MONEY: u8 = 5;
const SINGLE: u8 = 6;
const DOUBLE: u8 = 7;
const TIME: u8 = 8;
const TEXT: u8 = 10;
const MEMO: u8 = 12;
const DECIMAL: u8 = 16;
const BIG: u8 = 19;

/// Digits of an amount of money behind the point.
const MONEY_SCALE: u8 = 4;

/// Returns a value as text; none if it is damaged or has no text.
pub(super) fn text(pages: &Pages<'_>, kind: u8, scale: u8, bytes: &[u8]) -> Option<String> {
    let mut cursor = Cursor(bytes);
    Some(match kind {
        BYTE => cursor.byte()?.to_string(),
        SHORT => cursor.le_u16()?.cast_signed().to_string(),
        LONG => cursor.le_u32()?.cast_signed().to_string(),
        BIG => cursor.le_u64()?.cast_signed().to_string(),
        MONEY => decimal(cursor.le_u64()?.cast_signed().into(), MONEY_SCALE),
        SINGLE => f32::from_bits(cursor.le_u32()?).to_string(),
        DOUBLE => f64::from_bits(cursor.le_u64()?).to_string(),
        TIME => time(f64::from_bits(cursor.le_u64()?))?,
        DECIMAL => decimal(number(&mut cursor)?, scale),
        TEXT => decoded(pages, bytes),
        MEMO => decoded(pages, &memo(pages, bytes)?),
        _ => return None,
    })
}

/// Returns the result of a formula as text. Of decimal numbers the scale is unknown.
pub(super) fn calculated(pages: &Pages<'_>, kind: u8, bytes: &[u8]) -> Option<String> {
    match kind {
        DECIMAL => None,
        MEMO => Some(decoded(pages, unwrapped(&memo(pages, bytes)?))),
        kind => text(pages, kind, 0, unwrapped(bytes)),
    }
}

/// Returns a value without the header of a result: 16 bytes, and the length of the value.
fn unwrapped(bytes: &[u8]) -> &[u8] {
    const LENGTH_OFFSET: usize = 16;
    let value = bytes.get(LENGTH_OFFSET..).and_then(|rest| {
        let mut rest = Cursor(rest);
        let n_bytes = rest.le_u32()? as usize;
        Some(rest.0.get(..n_bytes).unwrap_or(rest.0))
    });
    value.unwrap_or(bytes)
}

/// Reads a number of 16 bytes behind its sign: four groups, the high one first.
fn number(cursor: &mut Cursor<'_>) -> Option<i128> {
    let is_negative = cursor.byte()? != 0;
    let mut number = 0_u128;
    for _ in 0..4 {
        number = number << 32 | u128::from(cursor.le_u32()?);
    }
    let number = i128::try_from(number).ok()?;
    Some(if is_negative { -number } else { number })
}

/// Writes a number with `scale` digits behind the point, without zeros at its end.
fn decimal(number: i128, scale: u8) -> String {
    let scale = usize::from(scale.min(38));
    let digits = format!("{:0>1$}", number.unsigned_abs(), scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let fraction = fraction.trim_end_matches('0');
    let sign = if number < 0 { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// Writes a time, in days since 1899-12-30; before that, the part of a day counts forward. On that day it is a time without a day.
fn time(days: f64) -> Option<String> {
    /// The beginning in seconds since 1970.
    const BEGINNING: i64 = -2_209_161_600;
    const DAY: f64 = 86_400.0;
    if !(-700_000.0..3_000_000.0).contains(&days) {
        return None;
    }
    let seconds = (days.trunc() + days.fract().abs()) * DAY;
    let time = Timestamp::from_second(BEGINNING).ok()?;
    let time = time.checked_add(SignedDuration::from_secs(seconds.round() as i64));
    let time: DateTime = time.ok()?.to_zoned(TimeZone::UTC).datetime();
    let is_day = time.time() == jiff::civil::Time::midnight();
    let form = if is_day {
        "%Y-%m-%d"
    } else if (0.0..1.0).contains(&days) {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    Some(time.strftime(form).to_string())
}

fn decoded(pages: &Pages<'_>, bytes: &[u8]) -> String {
    match pages.is_97 {
        true => pages.decode(bytes),
        false => unpacked(bytes),
    }
}

pub(super) fn utf16(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    let decoded = char::decode_utf16(units);
    decoded
        .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Decodes UTF-16, or its short form behind a mark: a zero byte begins and ends characters of two bytes among those of one.
fn unpacked(bytes: &[u8]) -> String {
    const MARK: &[u8] = &[0xff, 0xfe];
    let Some(packed) = bytes.strip_prefix(MARK) else {
        return utf16(bytes);
    };
    let mut wide = Vec::with_capacity(packed.len() * 2);
    let mut is_short = true;
    let mut rest = packed;
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (0, after) => {
                is_short = !is_short;
                after
            }
            (first, after) if is_short => {
                wide.extend([*first, 0]);
                after
            }
            (first, [second, after @ ..]) => {
                wide.extend([*first, *second]);
                after
            }
            _ => break,
        };
    }
    utf16(&wide)
}

/// Returns a long text: behind its header, in a row of another page, or in a chain of such rows.
fn memo(pages: &Pages<'_>, bytes: &[u8]) -> Option<Vec<u8>> {
    const LENGTH: u32 = 0x3fff_ffff;
    const IS_HERE: u32 = 0x8000_0000;
    const IS_ONE_ROW: u32 = 0x4000_0000;
    let mut cursor = Cursor(bytes);
    let header = cursor.le_u32()?;
    let mut reference = cursor.le_u32()?;
    cursor.le_u32()?;
    let n_bytes = (header & LENGTH) as usize;
    if header & IS_HERE != 0 {
        return Some(cursor.0.get(..n_bytes).unwrap_or(cursor.0).to_vec());
    }
    if header & IS_ONE_ROW != 0 {
        let mut row = pages.row(reference)?;
        row.truncate(n_bytes);
        return Some(row);
    }
    let n_bytes = n_bytes.min(pages.n_bytes());
    let mut content = Vec::new();
    let mut seen = HashSet::new();
    while content.len() < n_bytes && reference != 0 && seen.insert(reference) {
        let row = pages.row(reference)?;
        let mut row = Cursor(&row);
        reference = row.le_u32()?;
        // A row without text would let a chain go on for ever.
        if row.0.is_empty() {
            break;
        }
        content.extend_from_slice(row.0);
    }
    content.truncate(n_bytes);
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_digits() {
        for (number, scale, text) in [
            (125_005_000, 4, "12500.5"),
            (-2500, 4, "-0.25"),
            (7, 0, "7"),
            (-5, 2, "-0.05"),
            (100, 2, "1"),
        ] {
            assert_eq!(decimal(number, scale), text);
        }
    }

    #[test]
    fn times_count_from_1899() {
        for (days, text) in [
            (0.0, "1899-12-30"),
            (0.25, "06:00:00"),
            (0.999_999_9, "1899-12-31"),
            (45_000.5, "2023-03-15 12:00:00"),
            (-1.25, "1899-12-29 06:00:00"),
        ] {
            assert_eq!(time(days).as_deref(), Some(text));
        }
        assert_eq!(time(f64::NAN), None);
        assert_eq!(time(1e300), None);
    }

    #[test]
    fn results_of_formulas_have_a_header() {
        let header = [7; 16];
        let wrapped =
            |length: u32, value: &[u8]| [&header[..], &length.to_le_bytes(), value].concat();
        assert_eq!(unwrapped(&wrapped(4, b"aviary")), b"avia");
        assert_eq!(unwrapped(&wrapped(400, b"aviary")), b"aviary");
        assert_eq!(unwrapped(&header[..9]), &header[..9]);
    }

    #[test]
    fn short_and_wide_characters_take_turns() {
        assert_eq!(unpacked(b"\xff\xfeab\x00\x2e\x4e\x00c"), "ab丮c");
        assert_eq!(unpacked(b"a\0b\0"), "ab");
        assert_eq!(unpacked(b"\xff\xfea\x00\x2e"), "a");
    }
}
