//! XMP, the metadata stream (ISO 16684-1): an RDF/XML packet, read for what ken has fields for.

use ken_core::{Document, Field};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::pdf::names_a_file;

/// Packets beyond this number of bytes are cut.
pub(crate) const MAX_BYTES: usize = 4 << 20;
/// Values beyond this number are left out.
const MAX_VALUES: usize = 1_000;

/// Adds the values of a packet for fields that the document does not have.
pub(crate) fn complete(packet: &[u8], document: &mut Document) {
    let packet = String::from_utf8_lossy(&packet[..packet.len().min(MAX_BYTES)]);
    let mut found = Vec::new();
    let mut reader = Reader::from_str(&packet);
    let mut property = None;
    let mut text = String::new();
    while found.len() < MAX_VALUES {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                attributes(&element, &mut found);
                if let Some(field) = field_of(element.name().as_ref()) {
                    property = Some(field);
                    text.clear();
                }
            }
            Ok(Event::Empty(element)) => attributes(&element, &mut found),
            Ok(Event::Text(part)) if property.is_some() => {
                text.push_str(&part);
            }
            Ok(Event::GeneralRef(name)) if property.is_some() => text.push(entity(&name)),
            Ok(Event::End(element)) => {
                let name = element.name();
                let is_item = name.as_ref() == "rdf:li";
                if let Some(field) =
                    property.filter(|_| is_item || field_of(name.as_ref()).is_some())
                {
                    found.push((field, std::mem::take(&mut text)));
                }
                if !is_item && field_of(name.as_ref()).is_some() {
                    property = None;
                }
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    add(found, document);
}

/// Simple properties may be attributes.
fn attributes(element: &BytesStart<'_>, found: &mut Vec<(Field, String)>) {
    for attribute in element.attributes().flatten() {
        if let Some(field) = field_of(attribute.key.as_ref()) {
            let value = quick_xml::escape::unescape(&attribute.value);
            found.push((field, value.unwrap_or_default().into_owned()));
        }
    }
}

/// The prefixes are those that every writer uses.
fn field_of(name: &str) -> Option<Field> {
    Some(match name {
        "dc:title" => Field::Title,
        "dc:creator" => Field::Author,
        "dc:description" => Field::Description,
        "dc:subject" | "pdf:Keywords" => Field::Keywords,
        "dc:language" => Field::Lang,
        "xmp:CreateDate" => Field::Created,
        "xmp:ModifyDate" => Field::Date,
        _ => return None,
    })
}

fn entity(name: &str) -> char {
    match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        name => name
            .strip_prefix('#')
            .and_then(|number| match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => number.parse().ok(),
            })
            .and_then(char::from_u32)
            .unwrap_or('\u{FFFD}'),
    }
}

fn add(found: Vec<(Field, String)>, document: &mut Document) {
    let known: Vec<Field> = document.fields.iter().map(|(field, _)| *field).collect();
    for (field, value) in found {
        // A title in several languages is one title: the first.
        let single = matches!(
            field,
            Field::Title | Field::Description | Field::Created | Field::Date
        );
        let has = document.fields.iter().any(|(other, _)| *other == field);
        let is_rubbish = field == Field::Title && names_a_file(&value);
        if known.contains(&field) || (single && has) || is_rubbish {
            continue;
        }
        match field {
            Field::Created | Field::Date => {
                if let Some(seconds) = crate::date::iso(&value) {
                    document.add_number(field, seconds);
                }
            }
            _ => document.add_text(field, &value),
        }
    }
}
