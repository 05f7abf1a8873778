//! Records: a header with the type of each value, then the values.

use crate::structure::cursor::Cursor;

/// A value, with its text as far as it was read.
pub(super) enum Value<'a> {
    Integer(i64),
    Text(&'a [u8]),
    /// No value, a fractional number, or a blob.
    Other,
}

/// Returns the values of a record, up to where it is cut off.
pub(super) fn values(record: &[u8]) -> impl Iterator<Item = Value<'_>> {
    let (types, content) = split(record).unwrap_or_default();
    let (mut types, mut content) = (Cursor(types), Cursor(content));
    std::iter::from_fn(move || value(varint(&mut types)?, &mut content))
}

fn split(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut cursor = Cursor(record);
    let header_bytes = usize::try_from(varint(&mut cursor)?).ok()?;
    let n_read = record.len() - cursor.0.len();
    let types = cursor.take(header_bytes.checked_sub(n_read)?)?;
    Some((types, cursor.0))
}

fn value<'a>(kind: u64, content: &mut Cursor<'a>) -> Option<Value<'a>> {
    let n_bytes = match kind {
        0 | 8..=11 => 0,
        1..=4 => kind as usize,
        5 => 6,
        6 | 7 => 8,
        _ => usize::try_from((kind - 12) / 2).ok()?,
    };
    // Of a truncated text, the start is present.
    let is_text = kind >= 13 && kind % 2 == 1;
    let bytes = match is_text {
        true => content.take(n_bytes.min(content.0.len()))?,
        false => content.take(n_bytes)?,
    };
    Some(match kind {
        1..=6 => Value::Integer(integer(bytes)),
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        _ if is_text => Value::Text(bytes),
        _ => Value::Other,
    })
}

fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
    let digits = bytes.iter();
    digits.fold(sign, |number, &byte| number << 8 | i64::from(byte))
}

/// Reads a big-endian number of one to nine bytes: seven bits in each, eight in the ninth.
pub(super) fn varint(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut number = 0;
    for _ in 0..8 {
        let byte = cursor.byte()?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    Some(number << 8 | u64::from(cursor.byte()?))
}

/// The encoding of texts.
#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    pub(super) fn of_header(header: &[u8]) -> Self {
        match header.get(59) {
            Some(2) => Self::Utf16Le,
            Some(3) => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    pub(super) fn decode(self, bytes: &[u8]) -> String {
        let wide = |unit: fn([u8; 2]) -> u16| {
            let units = bytes.as_chunks::<2>().0.iter().map(|&pair| unit(pair));
            char::decode_utf16(units)
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        };
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Self::Utf16Le => wide(u16::from_le_bytes),
            Self::Utf16Be => wide(u16::from_be_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_to_nine_bytes() {
        let read = |bytes: &[u8]| varint(&mut Cursor(bytes));
        assert_eq!(read(&[0x7f]), Some(127));
        assert_eq!(read(&[0x81, 0x00]), Some(128));
        assert_eq!(read(&[0xff; 9]), Some(u64::MAX));
        assert_eq!(read(&[0x81]), None);
    }

    #[test]
    fn integers_have_a_sign() {
        assert_eq!(integer(&[0xff]), -1);
        assert_eq!(integer(&[0x01, 0x00]), 256);
        assert_eq!(integer(&[0x80, 0, 0, 0, 0, 0, 0, 0]), i64::MIN);
    }
}
