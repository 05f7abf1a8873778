//! XMP, the metadata packet (ISO 16684-1): RDF/XML, read for ken's fields.
//!
//! A packet is inside pictures, films and PDF documents, or next to them in a separate file (a
//! *sidecar*: `photo.jpg.xmp`), where programs keep what they may not write into a raw picture.

use ken_core::{Document, Field, Value};

use crate::output::Output;
use crate::output::metadata::{Metadata, keywords};
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Input, date, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("XMP sidecar", &["application/x-xmp+xml"], extract)
        .fields(FIELDS)
        .version(3);

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

/// Adds the values of a packet for fields that the document does not have, and authors that it does not name.
pub(crate) fn complete(packet: &[u8], document: &mut Document) {
    let mut metadata = read(packet);
    let authors = metadata.texts(Field::Author);
    metadata.retain(|field| document.fields.iter().all(|(known, _)| *known != field));
    if !metadata.has(Field::Author) {
        for author in authors {
            if !names(document, &author) {
                document.add_text(Field::Author, &author);
            }
        }
    }
    metadata.add_to(document);
}

/// Returns whether a document names an author, perhaps among others in one string.
fn names(document: &Document, author: &str) -> bool {
    let is_named = |(field, value): &(Field, Value)| {
        *field == Field::Author && matches!(value, Value::Text(text) if text.contains(author))
    };
    document.fields.iter().any(is_named)
}

fn read_into(packet: &str, metadata: &mut Metadata) -> Result<(), Error> {
    let mut xml = Xml::new(packet);
    let mut property = None;
    let mut value = String::new();
    let mut place = (None, None);
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                attributes(&tag, metadata, &mut place);
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
                    add(metadata, property, &std::mem::take(&mut value), &mut place);
                }
                if is_own {
                    property = None;
                }
            }
        }
    }
    if let (Some(latitude), Some(longitude)) = place {
        metadata.place(latitude, longitude);
    }
    Ok(())
}

/// Reads simple properties, which may be attributes.
fn attributes(tag: &Start<'_>, metadata: &mut Metadata, place: &mut Place) {
    for (name, value) in tag.attributes() {
        if let Some(property) = property_of(name) {
            add(metadata, property, &value, place);
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
    Latitude,
    Longitude,
}

/// Latitude and longitude in degrees.
type Place = (Option<f64>, Option<f64>);

/// Reads a coordinate: degrees and minutes, perhaps seconds, and a letter: `48,51.5N` (CIPA DC-010).
fn coordinate(text: &str) -> Option<f64> {
    let text = text.trim();
    let (numbers, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let mut degrees = 0.0;
    let mut unit = 1.0;
    for number in numbers.split(',') {
        degrees += number.trim().parse::<f64>().ok()? * unit;
        unit /= 60.0;
    }
    match letter {
        "N" | "E" => Some(degrees),
        "S" | "W" => Some(-degrees),
        _ => None,
    }
}

/// Returns the property of a name, with the prefixes that every program uses.
fn property_of(name: &str) -> Option<Property> {
    Some(match name {
        "dc:title" => Property::Text(Field::Title),
        "dc:creator" => Property::Text(Field::Author),
        "dc:description" | "photoshop:Headline" | "exif:UserComment" => {
            Property::Text(Field::Description)
        }
        "dc:subject"
        | "mwg-kw:Keyword"
        | "MicrosoftPhoto:LastKeywordXMP"
        // Who is in a picture, as a list, or at regions of it (Metadata Working Group, Microsoft).
        | "Iptc4xmpExt:PersonInImage"
        | "Iptc4xmpExt:PersonName"
        | "mwg-rs:Name"
        | "MPReg:PersonDisplayName"
        | "mediapro:People"
        // What it shows, and where.
        | "Iptc4xmpExt:Event"
        | "mediapro:Event"
        | "photoshop:City"
        | "photoshop:State"
        | "photoshop:Country"
        | "Iptc4xmpCore:Location"
        | "Iptc4xmpExt:City"
        | "Iptc4xmpExt:ProvinceState"
        | "Iptc4xmpExt:CountryName"
        | "Iptc4xmpExt:Sublocation"
        | "Iptc4xmpExt:LocationName" => Property::Text(Field::Keywords),
        "lr:hierarchicalSubject" | "digiKam:TagsList" => Property::Branch,
        "pdf:Keywords" => Property::List,
        "dc:language" => Property::Text(Field::Lang),
        "exif:GPSLatitude" => Property::Latitude,
        "exif:GPSLongitude" => Property::Longitude,
        "tiff:Make" => Property::Make,
        "tiff:Model" => Property::Model,
        "xmp:CreateDate" | "photoshop:DateCreated" | "exif:DateTimeOriginal" => {
            Property::Date(Field::Created)
        }
        "xmp:ModifyDate" => Property::Date(Field::Date),
        _ => return None,
    })
}

fn add(metadata: &mut Metadata, property: Property, value: &str, place: &mut Place) {
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
        Property::Latitude => place.0 = coordinate(value).or(place.0),
        Property::Longitude => place.1 = coordinate(value).or(place.1),
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

    #[test]
    fn names_at_regions_of_a_picture_are_keywords() {
        let found = read(
            b"<x><mwg-rs:Regions><mwg-rs:RegionList><rdf:Bag>\
              <rdf:li><rdf:Description mwg-rs:Name='Ada Berg' mwg-rs:Type='Face'>\
              <mwg-rs:Area stArea:x='0.5'/></rdf:Description></rdf:li>\
              <rdf:li rdf:parseType='Resource'><mwg-rs:Type>Pet</mwg-rs:Type>\
              <mwg-rs:Name>Fido</mwg-rs:Name></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>\
              <MPRI:Regions><rdf:Bag><rdf:li MPReg:PersonDisplayName='Bo Lund'/></rdf:Bag></MPRI:Regions>\
              <Iptc4xmpExt:LocationShown><rdf:Bag><rdf:li Iptc4xmpExt:City='Bergen'/></rdf:Bag>\
              </Iptc4xmpExt:LocationShown></x>",
        );
        let keywords = found.texts(Field::Keywords);
        assert_eq!(keywords, ["Ada Berg", "Fido", "Bo Lund", "Bergen"]);
    }

    #[test]
    fn places_are_keywords() {
        let found = read(
            b"<x><rdf:Description exif:GPSLatitude='48,51.5N' exif:GPSLongitude='2,17,40W'/></x>",
        );
        assert_eq!(found.texts(Field::Keywords), ["geo:48.85833,-2.29444"]);
        assert_eq!(coordinate("x"), None);
        assert_eq!(coordinate(""), None);
    }

    #[test]
    fn further_authors_are_added() {
        let packet =
            b"<x><dc:creator><rdf:Seq><rdf:li>Ina Falk</rdf:li><rdf:li>Bo Lund</rdf:li></rdf:Seq>\
                       </dc:creator></x>";
        let mut document = Document::new(ken_core::Ipath::root(), "", Kind::Data);
        document.add_text(Field::Author, "Ina Falk");
        complete(packet, &mut document);
        let values: Vec<_> = document.fields.iter().map(|(_, value)| value).collect();
        assert_eq!(shown(&values), "Ina Falk, Bo Lund");
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
