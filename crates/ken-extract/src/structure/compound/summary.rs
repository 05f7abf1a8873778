//! Reads title, author and dates from the property sets of a compound file (MS-OLEPS), by the
//! property numbers of Office (MS-OSHARED 2.3.3.2).

use std::borrow::Cow;

use ken_core::{Document, Field};

use super::{Compound, ROOT};
use crate::output::metadata::{date_by_creation, keywords, names_a_file};
use crate::structure::cursor::Cursor;
use crate::text::code_page::{self, WESTERN};

/// More properties than any program writes.
const MAX_PROPERTIES: u32 = 1000;
/// Seconds from 1601 to 1970.
const EPOCH_SECONDS: i64 = 11_644_473_600;

/// Adds the summary of a file to a document.
pub(crate) fn read(file: &Compound<'_>, document: &mut Document) {
    read_named(file, "\u{5}SummaryInformation", document);
}

/// Does the same for a file whose summary has a name of its own.
pub(crate) fn read_named(file: &Compound<'_>, name: &str, document: &mut Document) {
    if let Some(stream) = file.stream(ROOT, name) {
        for (number, value) in properties(&stream) {
            add(number, &value, document);
        }
    }
    if let Some(stream) = file.stream(ROOT, "\u{5}DocumentSummaryInformation") {
        for (number, value) in properties(&stream) {
            if let (2, Value::Text(category)) = (number, value) {
                document.add_text(Field::Keywords, &category);
            }
        }
    }
    date_by_creation(document);
}

fn add(number: u32, value: &Value<'_>, document: &mut Document) {
    match (number, value) {
        (2, Value::Text(title)) if !names_a_file(title) => document.add_text(Field::Title, title),
        (3 | 6, Value::Text(text)) => document.add_text(Field::Description, text),
        (4, Value::Text(author)) => document.add_text(Field::Author, author),
        (5, Value::Text(words)) => {
            keywords(words).for_each(|keyword| document.join_text(Field::Keywords, keyword));
        }
        (12, Value::Time(seconds)) => document.add_number(Field::Created, *seconds),
        (13, Value::Time(seconds)) => document.add_number(Field::Date, *seconds),
        (14, Value::Number(pages @ 1..)) => document.add_number(Field::Pages, i64::from(*pages)),
        _ => {}
    }
}

/// The value of a property.
enum Value<'a> {
    Text(Cow<'a, str>),
    Number(i32),
    /// Seconds since 1970.
    Time(i64),
}

/// Returns the properties of a stream's first readable set.
fn properties(stream: &[u8]) -> Vec<(u32, Value<'_>)> {
    section(stream).map(read_section).unwrap_or_default()
}

fn section(stream: &[u8]) -> Option<&[u8]> {
    let mut header = Cursor(stream.get(44..)?);
    stream.get(header.le_u32()? as usize..)
}

fn read_section(section: &[u8]) -> Vec<(u32, Value<'_>)> {
    let offsets = property_offsets(section).unwrap_or_default();
    let code_page = offsets
        .iter()
        .find(|(number, _)| *number == 1)
        .and_then(|(_, at)| section.get(at + 4..at + 6))
        .map_or(WESTERN, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    let read = |&(number, at): &(u32, usize)| Some((number, value(section.get(at..)?, code_page)?));
    offsets.iter().filter_map(read).collect()
}

fn property_offsets(section: &[u8]) -> Option<Vec<(u32, usize)>> {
    let mut list = Cursor(section.get(4..)?);
    let n_properties = list.le_u32()?.min(MAX_PROPERTIES);
    let mut offsets = Vec::new();
    for _ in 0..n_properties {
        let (Some(number), Some(at)) = (list.le_u32(), list.le_u32()) else {
            break;
        };
        offsets.push((number, at as usize));
    }
    Some(offsets)
}

fn value(bytes: &[u8], code_page: u16) -> Option<Value<'_>> {
    let mut cursor = Cursor(bytes);
    match cursor.le_u32()? {
        2 => Some(Value::Number(i32::from(cursor.le_u16()?))),
        3 => Some(Value::Number(cursor.le_u32()? as i32)),
        30 => {
            let length = cursor.le_u32()? as usize;
            let text = code_page::decode(cursor.take(length)?, code_page);
            Some(Value::Text(until_zero(text)))
        }
        31 => {
            let length = cursor.le_u32()? as usize;
            let text = code_page::utf16(cursor.take(length.checked_mul(2)?)?);
            Some(Value::Text(until_zero(text)))
        }
        64 => filetime(cursor.le_u64()?).map(Value::Time),
        _ => None,
    }
}

fn until_zero(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.find('\0') {
        None => text,
        Some(end) => Cow::Owned(text[..end].to_owned()),
    }
}

/// Returns the seconds since 1970 of a Windows time, in steps of 100 ns since 1601. Returns none
/// for 0, for durations (Office stores hours of editing this way) and for the end of time.
pub(crate) fn filetime(steps: u64) -> Option<i64> {
    let seconds = i64::try_from(steps / 10_000_000).ok()? - EPOCH_SECONDS;
    // From 1901 to 9999.
    (-2_177_452_800..253_402_300_800)
        .contains(&seconds)
        .then_some(seconds)
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind};

    use super::super::rebuild::compound_of;
    use super::*;

    fn property_set(properties: &[(u32, u32, &[u8])]) -> Vec<u8> {
        let mut stream = vec![0; 44];
        stream.extend(48_u32.to_le_bytes());
        stream.extend([0; 4]);
        stream.extend((properties.len() as u32).to_le_bytes());
        let mut at = 8 + 8 * properties.len();
        for (number, _, content) in properties {
            stream.extend(number.to_le_bytes());
            stream.extend((at as u32).to_le_bytes());
            at += 4 + content.len();
        }
        for (_, kind, content) in properties {
            stream.extend(kind.to_le_bytes());
            stream.extend(*content);
        }
        stream
    }

    #[test]
    fn values_of_all_sorts() {
        let set = property_set(&[
            (1, 2, &1251_u16.to_le_bytes()),
            (2, 30, b"\x02\0\0\0\xcf\0"),
            (4, 31, b"\x02\0\0\0\xe4\0\0\0"),
            (5, 30, b"\xff\0\0\0lie"),
            (12, 64, &116_444_736_010_000_000_u64.to_le_bytes()),
            (13, 64, &0_u64.to_le_bytes()),
            (14, 3, b"\x07\0\0\0"),
        ]);
        let file = compound_of(&[("\u{5}SummaryInformation", &set)]);
        let file = Compound::open(&file).unwrap();
        let mut document = Document::new(Ipath::root(), "application/msword", Kind::Document);
        read(&file, &mut document);
        assert_eq!(document.text(Field::Title), Some("П"));
        assert_eq!(document.text(Field::Author), Some("ä"));
        assert_eq!(document.text(Field::Keywords), None);
        assert_eq!(document.number(Field::Created), Some(1));
        assert_eq!(document.number(Field::Date), Some(1));
        assert_eq!(document.number(Field::Pages), Some(7));
    }
}
