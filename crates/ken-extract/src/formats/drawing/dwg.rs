//! Drawings of AutoCAD (DWG), of which only the properties are read: title, subject, author, keywords, comments, and who changed it
//! last. Since AutoCAD 2004 they are a section of their own, which is neither compressed nor encrypted (Open Design Specification for
//! .dwg files, 4 and 13).

use ken_core::{Document, Field};

use crate::output::Output;
use crate::output::metadata::{add_once, keywords};
use crate::structure::cursor::Cursor;
use crate::text::code_page::{self, WESTERN};
use crate::text::names;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("DWG", &["image/vnd.dwg"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
    ])
    .in_worker()
    .streams();

/// Where the header says where the properties are.
const ADDRESS_AT: u64 = 0x20;
/// The properties begin with these texts, in this order.
const PROPERTIES: [Field; 6] = [
    Field::Title,
    Field::Description,
    Field::Author,
    Field::Keywords,
    Field::Description,
    Field::Author,
];
/// More bytes than the properties take.
const MAX_BYTES: usize = 64 << 10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let head = input.head()?;
    let is_wide = match head.get(..6) {
        Some(b"AC1018") => false,
        Some(b"AC1021" | b"AC1024" | b"AC1027" | b"AC1032") => true,
        // Earlier drawings have no such section.
        _ => return Ok(()),
    };
    let address = head
        .get(ADDRESS_AT as usize..)
        .and_then(|rest| Cursor(rest).le_u32());
    let Some(address) = address.filter(|address| *address > 0) else {
        return Ok(());
    };
    if u64::from(address) >= input.size() {
        return Err(Error::Malformed("the properties are cut off".into()));
    }
    let section = input.range(u64::from(address), MAX_BYTES)?;
    read(Cursor(&section), is_wide, output.own());
    Ok(())
}

/// Reads the properties up to the first that is none.
fn read(mut section: Cursor<'_>, is_wide: bool, document: &mut Document) {
    for field in PROPERTIES {
        let Some(text) = property(&mut section, is_wide) else {
            return;
        };
        match field {
            Field::Keywords => {
                keywords(&text).for_each(|keyword| document.join_text(field, keyword));
            }
            _ => add_once(document, field, &text),
        }
    }
}

/// Reads a text: its length in characters, and the characters, with a zero at the end.
fn property(section: &mut Cursor<'_>, is_wide: bool) -> Option<String> {
    let n = usize::from(section.le_u16()?);
    let bytes = section.take(if is_wide { 2 * n } else { n })?;
    let text = match is_wide {
        true => code_page::utf16(bytes).into_owned(),
        false => {
            let page = names::page_of_windows(bytes).unwrap_or(WESTERN);
            code_page::decode(bytes, page).into_owned()
        }
    };
    let text = text.trim_end_matches('\0');
    let is_text = !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    is_text.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const DWG: Detected = Detected {
        media_type: "image/vnd.dwg",
        kind: Kind::Image,
    };

    fn drawing(version: &[u8], texts: &[&str]) -> Vec<u8> {
        let mut bytes = version.to_vec();
        bytes.resize(0x20, 0);
        bytes.extend(0x80_u32.to_le_bytes());
        bytes.resize(0x80, 0);
        for text in texts {
            let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
            bytes.extend((units.len() as u16).to_le_bytes());
            match version {
                b"AC1018" => bytes.extend(units.iter().map(|unit| *unit as u8)),
                _ => bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes())),
            }
        }
        bytes
    }

    #[test]
    fn properties_are_fields() {
        let texts = [
            "Bridge plan",
            "Steel",
            "Ina Falk",
            "river; span",
            "Draft",
            "Bo Lund",
            "",
        ];
        for version in [b"AC1018", b"AC1021", b"AC1032"] {
            let bytes = drawing(version, &texts);
            let own = run(extract, DWG, "a.dwg", &bytes).own().clone();
            assert_eq!(own.failure, None);
            assert_eq!(own.text(Field::Title), Some("Bridge plan"));
            assert_eq!(own.text(Field::Author), Some("Ina Falk"));
            assert_eq!(own.text(Field::Description), Some("Steel"));
            assert!(own.fields.len() > 8, "{:?}", own.fields);
            survives(extract, DWG, "a.dwg", &bytes);
        }
        let old = run(extract, DWG, "a.dwg", b"AC1015\0\0");
        assert_eq!(old.own().failure, None);
    }
}
