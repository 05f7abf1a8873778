//! Metadata next to a file, not in it: extended attributes and sidecars.
//!
//! Sources: freedesktop.org, *Common Extended Attributes*; the Dublin Core elements; Recoll's
//! manual, which maps `user.NAME` to its field `NAME`; XMP (ISO 16684-1).

use ken_core::{Document, Field, Ipath, Kind, Value};

use crate::date;
use crate::formats::xmp;

/// Maximum size of a sidecar that is read.
pub const MAX_SIDECAR_BYTES: usize = xmp::MAX_BYTES;

/// Returns the fields in an extended attribute; none if its name is not known.
pub fn attribute(name: &str, value: &[u8]) -> Vec<(Field, Value)> {
    let Some(field) = field_of(name) else {
        return Vec::new();
    };
    let value = String::from_utf8_lossy(value);
    let value = value.trim_end_matches('\0');
    let mut document = scratch();
    match field {
        Field::Date => {
            if let Some(seconds) = date::iso(value) {
                document.add_number(field, seconds);
            }
        }
        Field::Keywords => value
            .split(',')
            .for_each(|keyword| document.add_text(field, keyword)),
        _ => document.add_text(field, value),
    }
    document.fields
}

fn field_of(name: &str) -> Option<Field> {
    let name = name.strip_prefix("user.")?;
    Some(match name {
        "xdg.comment" | "dublincore.description" => Field::Description,
        "xdg.tags" | "dublincore.subject" => Field::Keywords,
        "xdg.creator" | "dublincore.creator" | "dublincore.contributor" => Field::Author,
        "xdg.language" | "dublincore.language" => Field::Lang,
        "dublincore.title" => Field::Title,
        "dublincore.date" => Field::Date,
        name => return Field::from_name(name).filter(|field| field.is_given()),
    })
}

/// Returns the fields in a sidecar.
pub fn sidecar(packet: &[u8]) -> Vec<(Field, Value)> {
    let mut document = scratch();
    xmp::complete(packet, &mut document);
    document.fields
}

fn scratch() -> Document {
    Document::new(Ipath::root(), "", Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_every_convention() {
        let text = |field, text: &str| (field, Value::Text(text.to_owned()));
        for (name, value, expected) in [
            (
                "user.xdg.tags",
                "tax, 2026,,",
                vec![text(Field::Keywords, "tax"), text(Field::Keywords, "2026")],
            ),
            (
                "user.xdg.comment",
                " for Anna\0",
                vec![text(Field::Description, "for Anna")],
            ),
            (
                "user.dublincore.title",
                "Otters",
                vec![text(Field::Title, "Otters")],
            ),
            (
                "user.dublincore.date",
                "1970-01-02",
                vec![(Field::Date, Value::Number(86_400))],
            ),
            ("user.author", "Anna", vec![text(Field::Author, "Anna")]),
            ("user.text", "not the content", vec![]),
            ("user.pages", "7", vec![]),
            ("security.title", "x", vec![]),
        ] {
            assert_eq!(attribute(name, value.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn sidecars_of_darktable() {
        let packet = br#"<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:darktable="http://darktable.sf.net/" darktable:xmp_version="4">
   <dc:subject><rdf:Seq><rdf:li>lake</rdf:li><rdf:li>dawn</rdf:li></rdf:Seq></dc:subject>
   <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Otters at dawn</rdf:li></rdf:Alt></dc:title>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>"#;
        let text = |field, text: &str| (field, Value::Text(text.to_owned()));
        assert_eq!(
            sidecar(packet),
            [
                text(Field::Keywords, "lake"),
                text(Field::Keywords, "dawn"),
                text(Field::Title, "Otters at dawn"),
            ]
        );
        for n_bytes in 0..packet.len() {
            sidecar(&packet[..n_bytes]);
        }
    }

    #[test]
    fn many_values_cost_no_more_than_their_bytes() {
        let many = "<dc:title><rdf:li>a</rdf:li></dc:title><dc:subject>b</dc:subject>";
        let fields = sidecar(many.repeat(50_000).as_bytes());
        assert!(
            !fields.is_empty() && fields.len() < 2_000,
            "{}",
            fields.len()
        );
    }
}
