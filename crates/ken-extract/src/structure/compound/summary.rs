//! Reads title, author and dates from the property sets of a compound file (MS-OLEPS), by the
//! property numbers of Office (MS-OSHARED 2.3.3.2).

use std::borrow::Cow;

use ken_core::{Document, Field};

use super::{Compound, ROOT};
use crate::output::metadata::{
    add_authors, add_once, date_by_creation, is_of_program, keywords, names_a_file,
};
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
            if let Value::Text(text) = value {
                add_of_document(number, &text, document);
            }
        }
        for text in of_user(&stream) {
            add_once(document, Field::Description, &text);
        }
    }
    date_by_creation(document);
}

/// Adds a property of the second stream: category, manager, company, status, language.
fn add_of_document(number: u32, text: &str, document: &mut Document) {
    match number {
        2 | 27 => document.join_text(Field::Keywords, text),
        14 | 15 => add_once(document, Field::Description, text),
        28 => document.add_text(Field::Lang, text),
        _ => {}
    }
}

/// Returns the texts of the properties that the user defined: those of the second set, but not those of programs, whose names begin with
/// an underscore (MS-OLEPS 2.21).
fn of_user(stream: &[u8]) -> Vec<String> {
    let Some(section) = second_section(stream) else {
        return Vec::new();
    };
    let of_programs = names_of_programs(section).unwrap_or_default();
    read_section(section)
        .into_iter()
        .filter(|(number, _)| *number > 1 && !of_programs.contains(number))
        .filter_map(|(_, value)| match value {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        })
        .collect()
}

fn second_section(stream: &[u8]) -> Option<&[u8]> {
    let n_sections = Cursor(stream.get(24..)?).le_u32()?;
    let at = Cursor(stream.get(64..)?).le_u32()? as usize;
    stream.get(at..).filter(|_| n_sections > 1)
}

/// Returns the numbers of the properties that belong to programs, by the dictionary of names (MS-OLEPS 2.17).
fn names_of_programs(section: &[u8]) -> Option<Vec<u32>> {
    let offsets = property_offsets(section)?;
    let page = code_page_of(section, &offsets);
    let (_, at) = offsets.iter().find(|(number, _)| *number == 0)?;
    let mut dictionary = Cursor(section.get(*at..)?);
    let n = dictionary.le_u32()?.min(MAX_PROPERTIES);
    let mut found = Vec::new();
    for _ in 0..n {
        let number = dictionary.le_u32()?;
        let length = dictionary.le_u32()? as usize;
        let is_wide = page == code_page::UTF16;
        let n_bytes = if is_wide {
            length.checked_mul(2)?.checked_next_multiple_of(4)?
        } else {
            length
        };
        let name = dictionary.take(n_bytes)?;
        let name = match is_wide {
            true => code_page::utf16(name),
            false => code_page::decode(name, page),
        };
        if is_of_program(&until_zero(name)) {
            found.push(number);
        }
    }
    Some(found)
}

fn add(number: u32, value: &Value<'_>, document: &mut Document) {
    match (number, value) {
        (2, Value::Text(title)) if !names_a_file(title) => document.add_text(Field::Title, title),
        (3 | 6, Value::Text(text)) => document.add_text(Field::Description, text),
        // Who wrote it, and who changed it last.
        (4 | 8, Value::Text(author)) => add_authors(document, author),
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
    let code_page = code_page_of(section, &offsets);
    let read = |&(number, at): &(u32, usize)| Some((number, value(section.get(at..)?, code_page)?));
    offsets.iter().filter_map(read).collect()
}

/// Returns the code page of the texts of a set.
fn code_page_of(section: &[u8], offsets: &[(u32, usize)]) -> u16 {
    let value = offsets.iter().find(|(number, _)| *number == 1);
    let bytes = value.and_then(|(_, at)| section.get(at.checked_add(4)?..at.checked_add(6)?));
    bytes.map_or(WESTERN, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
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
            (8, 30, b"\x02\0\0\0B\0"),
            (12, 64, &125_911_584_000_000_000_u64.to_le_bytes()),
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
        let editor = (Field::Author, ken_core::Value::Text("B".into()));
        assert!(document.fields.contains(&editor));
        assert_eq!(document.number(Field::Created), Some(946_684_800));
        assert_eq!(document.number(Field::Date), Some(946_684_800));
        assert_eq!(document.number(Field::Pages), Some(7));
    }

    /// Returns the section of a set.
    fn section_of(properties: &[(u32, u32, &[u8])]) -> Vec<u8> {
        property_set(properties)[48..].to_vec()
    }

    #[test]
    fn properties_of_documents_and_of_users() {
        let first = section_of(&[
            (14, 30, b"\x05\0\0\0Boss\0"),
            (15, 30, b"\x06\0\0\0Works\0"),
            (27, 30, b"\x06\0\0\0Final\0"),
        ]);
        let mut second = section_of(&[(2, 30, b"\x06\0\0\0Heron\0"), (3, 30, b"\x05\0\0\0junk\0")]);
        // The dictionary has no type: it takes the place of the first property's list.
        let at = second.len() as u32;
        second[4..8].copy_from_slice(&3_u32.to_le_bytes());
        let list: Vec<u8> = second[8..24].to_vec();
        let values = second.split_off(24);
        second.truncate(8);
        second.extend(0_u32.to_le_bytes());
        second.extend((at + 8).to_le_bytes());
        for entry in list.chunks_exact(8) {
            second.extend(&entry[..4]);
            let offset = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]) + 8;
            second.extend(offset.to_le_bytes());
        }
        second.extend(values);
        second.extend(2_u32.to_le_bytes());
        for (number, name) in [(2_u32, &b"Bird\0"[..]), (3, b"_id\0")] {
            second.extend(number.to_le_bytes());
            second.extend((name.len() as u32).to_le_bytes());
            second.extend(name);
        }
        let mut stream = vec![0; 72];
        stream[24] = 2;
        stream[44..48].copy_from_slice(&72_u32.to_le_bytes());
        stream[64..68].copy_from_slice(&(72 + first.len() as u32).to_le_bytes());
        stream.extend(first);
        stream.extend(second);
        let file = compound_of(&[("\u{5}DocumentSummaryInformation", &stream)]);
        let file = Compound::open(&file).unwrap();
        let mut document = Document::new(Ipath::root(), "application/msword", Kind::Document);
        read(&file, &mut document);
        let texts: Vec<String> = document
            .fields
            .iter()
            .map(|(_, value)| format!("{value:?}"))
            .collect();
        let texts = texts.join(" ");
        for wanted in ["Boss", "Works", "Final", "Heron"] {
            assert!(texts.contains(wanted), "{wanted}: {texts}");
        }
        assert!(!texts.contains("junk"), "{texts}");
    }
}
