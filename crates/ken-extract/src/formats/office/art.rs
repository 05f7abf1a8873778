//! Shapes of OfficeArt in Word, Excel and PowerPoint before 2007: what describes them, and which picture they show
//! (MS-ODRAW 2.2.7 to 2.2.11).

use crate::formats::office::ooxml::drawing::names_a_picture;
use crate::structure::cursor::Cursor;
use crate::text::code_page;

/// Tables of properties.
const TABLES: [u16; 3] = [0xf00b, 0xf121, 0xf122];
/// The version of a table, in the lower bits of its instance.
const VERSION: u16 = 3;
const ENTRY_BYTES: usize = 6;
/// The number of a shape's picture, from 1.
const PICTURE: u16 = 0x0104;
/// The alternative text.
const DESCRIPTION: u16 = 0x0381;
/// Whether a value is behind the table, and the number is its length.
const IS_COMPLEX: u16 = 0x8000;
const ID: u16 = 0x3fff;
/// More descriptions than people write.
const MAX_DESCRIPTIONS: usize = 10_000;
/// Longer descriptions are cut off.
const MAX_DESCRIPTION_BYTES: usize = 64 << 10;

/// What the properties of a shape say of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Properties {
    pub(super) description: Option<String>,
    pub(super) picture: Option<u32>,
}

/// Reads a table of properties; returns none if the record is none.
pub(super) fn properties(kind: u16, instance: u16, data: &[u8]) -> Option<Properties> {
    if !TABLES.contains(&kind) {
        return None;
    }
    let (entries, complex) = data.split_at_checked(ENTRY_BYTES * usize::from(instance))?;
    let mut complex = Cursor(complex);
    let mut found = Properties::default();
    let mut last = 0;
    for entry in entries.as_chunks::<ENTRY_BYTES>().0 {
        let mut entry = Cursor(entry);
        let (name, value) = (entry.le_u16()?, entry.le_u32()?);
        // They are sorted; bytes that look like a table are not.
        if name & ID < last {
            return None;
        }
        last = name & ID;
        if name & IS_COMPLEX != 0 {
            let value = complex.take(value as usize)?;
            if last == DESCRIPTION {
                found.description = description(value);
            }
        } else if last == PICTURE {
            found.picture = Some(value);
        }
    }
    Some(found)
}

/// Returns an alternative text; programs fill in the names of files.
fn description(units: &[u8]) -> Option<String> {
    let units = &units[..units.len().min(MAX_DESCRIPTION_BYTES)];
    let text = code_page::utf16(units);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    let is_text = !text.is_empty() && !text.contains(['\0', '\u{fffd}']) && !names_a_picture(text);
    is_text.then(|| text.replace(['\r', '\n', '\u{b}'], " "))
}

/// Finds the descriptions of the shapes anywhere in a stream, in order.
pub(super) fn descriptions(stream: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut end = 0;
    // Tables do not overlap, so that all of them have no more entries than the stream.
    let mut budget = 2 * stream.len();
    for at in memchr::memchr2_iter(0xf0, 0xf1, stream) {
        let table = at
            .checked_sub(3)
            .filter(|start| *start >= end)
            .and_then(|start| table_at(&stream[start..], &mut budget));
        let Some((properties, length)) = table else {
            continue;
        };
        end = at - 3 + length;
        found.extend(properties.description);
        if found.len() >= MAX_DESCRIPTIONS {
            break;
        }
    }
    found
}

/// Returns the table at the start of bytes, and its length.
fn table_at(bytes: &[u8], budget: &mut usize) -> Option<(Properties, usize)> {
    let mut record = Cursor(bytes);
    let instance = record.le_u16()?;
    let kind = record.le_u16()?;
    if instance & 0x0f != VERSION || !TABLES.contains(&kind) {
        return None;
    }
    let length = record.le_u32()? as usize;
    *budget = budget.checked_sub(ENTRY_BYTES * usize::from(instance >> 4))?;
    let properties = properties(kind, instance >> 4, record.take(length)?)?;
    Some((properties, 8 + length))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a table with a picture and a description.
    pub(in crate::formats::office) fn table(picture: u32, description: &str) -> Vec<u8> {
        let text = [description, "\0"].concat();
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut data = PICTURE.to_le_bytes().to_vec();
        data.extend(picture.to_le_bytes());
        data.extend((DESCRIPTION | IS_COMPLEX | 0x4000).to_le_bytes());
        data.extend((units.len() as u32).to_le_bytes());
        data.extend(units);
        let mut table = (2_u16 << 4 | VERSION).to_le_bytes().to_vec();
        table.extend(TABLES[0].to_le_bytes());
        table.extend((data.len() as u32).to_le_bytes());
        table.extend(data);
        table
    }

    #[test]
    fn descriptions_are_found_in_any_stream() {
        let stream = [
            b"junk\xf0\x0b\xf0".to_vec(),
            table(1, "Map of the f\u{f6}rde"),
            table(2, "C:\\pictures\\map.JPG"),
            table(2, " "),
            table(3, "two\rlines"),
        ]
        .concat();
        assert_eq!(
            descriptions(&stream),
            ["Map of the f\u{f6}rde", "two lines"]
        );
        for end in 0..stream.len() {
            descriptions(&stream[..end]);
        }
        let unsorted = [
            &[0x23, 0, 0x0b, 0xf0, 12, 0, 0, 0][..],
            &[9, 9, 0, 0, 0, 0],
            &[1; 6],
        ];
        assert_eq!(table_at(&unsorted.concat(), &mut 12), None);
        assert!(table_at(&table(1, "a"), &mut 12).is_some());
        assert!(table_at(&table(1, "a"), &mut 11).is_none());
    }
}
