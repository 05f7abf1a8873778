//! XMP, the metadata packet (ISO 16684-1): RDF/XML, read for ken's fields.
//!
//! A packet is inside pictures, films and PDF documents, or next to them in a separate file (a
//! *sidecar*: `photo.jpg.xmp`), where programs keep what they may not write into a raw picture.

use ken_core::{Document, Field};

use crate::output::Output;
use crate::output::metadata::{Metadata, keywords};
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Input, date, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("XMP sidecar", &["application/x-xmp+xml"], extract).fields(FIELDS);

/// Maximum size of a packet; larger ones are left out.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// The fields that a packet may fill.
const FIELDS: &[Field] = &[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Camera,
    Field::Created,
    Field::Date,
];

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let packet = input.bytes(output.limits())?;
    let mut metadata = Metadata::default();
    let result = read_into(&text::decode(packet, None), &mut metadata);
    metadata.add_to(output.own());
    result
}

/// Returns the metadata in a packet; of a damaged one, those before the damage.
pub(in crate::formats) fn read(packet: &[u8]) -> Metadata {
    let mut metadata = Metadata::default();
    // Damage in a packet inside another file is not that file's failure.
    let _ = read_into(&text::decode(packet, None), &mut metadata);
    metadata
}

/// Adds the values of a packet for fields that the document does not have.
pub(crate) fn complete(packet: &[u8], document: &mut Document) {
    let mut metadata = read(packet);
    metadata.retain(|field| document.fields.iter().all(|(known, _)| *known != field));
    metadata.add_to(document);
}

fn read_into(packet: &str, metadata: &mut Metadata) -> Result<(), Error> {
    let mut xml = Xml::new(packet);
    let mut property = None;
    let mut value = String::new();
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                attributes(&tag, metadata);
                if let Some(found) = property_of(tag.full_name()) {
                    property = Some(found);
                    value.clear();
                }
            }
            Node::Text(text) if property.is_some() => value.push_str(&text),
            Node::Text(_) => {}
            Node::End(tag) => {
                let is_own = property_of(tag.full_name()).is_some();
                if let Some(property) = property
                    && (is_own || tag.name() == "li")
                {
                    add(metadata, property, &std::mem::take(&mut value));
                }
                if is_own {
                    property = None;
                }
            }
        }
    }
    Ok(())
}

/// Reads simple properties, which may be attributes.
fn attributes(tag: &Start<'_>, metadata: &mut Metadata) {
    for (name, value) in tag.attributes() {
        if let Some(property) = property_of(name) {
            add(metadata, property, &value);
        }
    }
}

/// A property with a field in ken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Property {
    Text(Field),
    Date(Field),
    /// Keywords in one string.
    List,
    /// A position in a tree of keywords: `animals|birds|heron`.
    Branch,
    Make,
    Model,
}

/// Returns the property of a name, with the prefixes that every program uses.
fn property_of(name: &str) -> Option<Property> {
    Some(match name {
        "dc:title" => Property::Text(Field::Title),
        "dc:creator" => Property::Text(Field::Author),
        "dc:description" | "photoshop:Headline" | "exif:UserComment" => {
            Property::Text(Field::Description)
        }
        "dc:subject" | "Iptc4xmpExt:PersonInImage" => Property::Text(Field::Keywords),
        "photoshop:City" | "photoshop:State" | "photoshop:Country" | "Iptc4xmpCore:Location" => {
            Property::Text(Field::Keywords)
        }
        "lr:hierarchicalSubject" | "digiKam:TagsList" => Property::Branch,
        "pdf:Keywords" => Property::List,
        "dc:language" => Property::Text(Field::Lang),
        "tiff:Make" => Property::Make,
        "tiff:Model" => Property::Model,
        "xmp:CreateDate" | "photoshop:DateCreated" | "exif:DateTimeOriginal" => {
            Property::Date(Field::Created)
        }
        "xmp:ModifyDate" => Property::Date(Field::Date),
        _ => return None,
    })
}

fn add(metadata: &mut Metadata, property: Property, value: &str) {
    match property {
        Property::Text(field) => metadata.text(field, value),
        Property::List => {
            keywords(value).for_each(|keyword| metadata.text(Field::Keywords, keyword));
        }
        Property::Branch => {
            for keyword in value.split(['|', '/']) {
                metadata.text(Field::Keywords, keyword);
            }
        }
        Property::Make => metadata.make(value),
        Property::Model => metadata.model(value),
        Property::Date(field) => {
            if let Some(seconds) = date::iso(value) {
                metadata.number(field, seconds);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing;

    const SIDECAR: &[u8] = include_bytes!("../../../tests/data/media/raw.cr2.xmp");
    const DETECTED: Detected = Detected {
        media_type: "application/x-xmp+xml",
        kind: Kind::Data,
    };

    #[test]
    fn a_sidecar_is_a_document_of_its_own() {
        for name in ["raw.cr2.xmp", "note.txt", ""] {
            let input = Input::bytes_of(name, SIDECAR);
            assert_eq!(detect::detect(&input).unwrap(), DETECTED, "{name}");
        }
        let found = testing::run(extract, DETECTED, "raw.cr2.xmp", SIDECAR);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("Raw heron"));
        assert_eq!(own.text(Field::Camera), Some("Canon EOS R5"));
        assert_eq!(own.text(Field::Description), Some("sharp"));
        assert_eq!(own.number(Field::Created), Some(1_588_748_889));
        let keywords = own
            .fields
            .iter()
            .filter(|(field, _)| *field == Field::Keywords);
        assert_eq!(keywords.count(), 2);
        assert_eq!(own.body, "");
    }

    #[test]
    fn attributes_and_branches_are_read() {
        let found = read(
            b"<x:xmpmeta><rdf:RDF><rdf:Description photoshop:City='R&amp;D' xmp:CreateDate='2001'>\
              <lr:hierarchicalSubject><rdf:Bag><rdf:li>Animals|Birds</rdf:li></rdf:Bag>\
              </lr:hierarchicalSubject><dc:title><rdf:Alt><rdf:li>One</rdf:li><rdf:li>Eins</rdf:li>\
              </rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>",
        );
        let mut document = Document::new(ken_core::Ipath::root(), "", Kind::Data);
        found.add_to(&mut document);
        let values: Vec<_> = document.fields.iter().map(|(_, value)| value).collect();
        assert_eq!(shown(&values), "R&D, 978307200, Animals, Birds, One");
    }

    fn shown(values: &[&ken_core::Value]) -> String {
        let shown = values.iter().map(|value| match value {
            ken_core::Value::Text(text) => text.clone(),
            ken_core::Value::Number(number) => number.to_string(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        testing::survives(extract, DETECTED, "x", SIDECAR);
    }
}
