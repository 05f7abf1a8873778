//! Office Open XML (ECMA-376, ISO 29500): what Word, Excel and PowerPoint files share.
//!
//! A file is a package of parts that refer to each other by relations; following these from the
//! main part yields the text of a document. Namespaces (transitional or strict) do not matter,
//! since elements are identified by their local names.

pub(in crate::formats) mod docx;
pub(in crate::formats::office) mod drawing;
pub(in crate::formats) mod flat;
pub(in crate::formats) mod pptx;
pub(in crate::formats::office) mod previews;
pub(in crate::formats) mod vsdx;
pub(in crate::formats) mod xlsb;
pub(in crate::formats) mod xlsx;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ken_core::{Document, Field};

use super::{decrypted, escape};
use crate::formats::drawing::metafile;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::{
    add_authors, add_once, add_time, date_by_creation, is_of_program, keywords,
};
use crate::structure::compound::objects;
use crate::structure::package::{Package, resolve};
use crate::structure::xml::{Node, Xml};
use crate::{Error, Input, Limits, Member};

/// First bytes of a compound file, which wraps an encrypted package, and is the format of Office 97
/// files.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// A reference from one part to another.
struct Relation {
    id: String,
    /// Last segment of the relation's type, for instance `footnotes`.
    kind: String,
    /// Name of the part, or the target of a link.
    target: String,
    /// Whether the target is outside the package.
    is_external: bool,
}

/// Kinds of relations to files inside a document, besides those in a folder `embeddings`: objects
/// of OLE, documents, and documents that Word shows in its own (`altChunk`).
const EMBEDDED: [&str; 3] = ["oleObject", "package", "aFChunk"];

/// More bytes than the texts of a diagram have.
const MAX_METAFILE_TEXT: usize = 256 << 10;

/// Reads the text of a main part and of the parts that it refers to into the document.
type ReadMain = fn(&mut Package<'_>, &str, &mut Document, &Limits);

/// Extracts a document in any of these formats.
fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
    usual_main: &str,
    read: ReadMain,
) -> Result<(), Error> {
    let limits = output.limits();
    if input.head()?.starts_with(COMPOUND_FILE) {
        return decrypted::read_encrypted(input, output);
    }
    let mut package = Package::open(input, limits)?;
    read_properties(&mut package, output.own());
    match main_part(&mut package, usual_main) {
        Ok(main) => read(&mut package, &main, output.own(), limits),
        // The main part of a damaged file may be lost.
        Err(error) if package.loose_parts().is_empty() => return Err(error),
        Err(error) => package.tolerate(Err(error)),
    }
    read_loose_parts(&mut package, output.own(), limits);
    hand_on_embeddings(&mut package, output)?;
    package.finish()
}

/// Folders and starts of names of parts with text.
const TEXT_PARTS: [&str; 14] = [
    "word/document",
    "word/footnotes",
    "word/endnotes",
    "word/comments",
    "word/header",
    "word/footer",
    "ppt/slides/",
    "ppt/notesslides/",
    "ppt/comments/",
    "ppt/charts/",
    "ppt/diagrams/data",
    "xl/sharedstrings",
    "xl/comments",
    "xl/drawings/drawing",
];

/// Adds the text of parts of a damaged file to which no part refers.
fn read_loose_parts(package: &mut Package<'_>, document: &mut Document, limits: &Limits) {
    let parts = package.loose_parts();
    if parts.is_empty() {
        return;
    }
    let mut body = Body::new(limits.max_text_bytes);
    body.push(&document.body);
    for part in parts {
        let name = part.to_ascii_lowercase();
        if TEXT_PARTS.iter().any(|start| name.starts_with(start)) {
            body.end_paragraph();
            read_part(package, &part, |text| {
                drawing::read(text, drawing::Context::default(), &mut body)
            });
        }
    }
    document.body = body.finish();
}

fn main_part(package: &mut Package<'_>, usual: &str) -> Result<String, Error> {
    relations(package, "")
        .into_iter()
        .find(|relation| {
            relation.kind == "officeDocument"
                && !relation.is_external
                && package.has(&relation.target)
        })
        .map(|relation| relation.target)
        .or_else(|| package.has(usual).then(|| usual.to_owned()))
        .ok_or_else(|| Error::Malformed(format!("there is no part {usual}")))
}

/// Returns the relations of a part to other parts of the package; for "", those of the package
/// itself.
fn relations(package: &mut Package<'_>, part: &str) -> Vec<Relation> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let name = match folder {
        "" => format!("_rels/{file}.rels"),
        _ => format!("{folder}/_rels/{file}.rels"),
    };
    let mut relations = Vec::new();
    if let Some(text) = package.xml(&name) {
        package.tolerate(read_relations(&text, part, &mut relations));
    }
    for kind in EMBEDDED {
        related(&relations, kind).for_each(|target| package.embed(target));
    }
    relations
}

fn read_relations(text: &str, part: &str, relations: &mut Vec<Relation>) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        if tag.name() != "Relationship" {
            continue;
        }
        let attribute = |name| tag.attribute(name).unwrap_or_default();
        let kind = attribute("Type");
        let is_external = attribute("TargetMode") == "External";
        relations.push(Relation {
            id: attribute("Id").into_owned(),
            kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
            target: match is_external {
                true => attribute("Target").into_owned(),
                false => resolve(part, &attribute("Target")),
            },
            is_external,
        });
    }
    xml.whole()
}

/// Returns the names of the parts to which `part` has relations of one kind.
fn related<'r>(relations: &'r [Relation], kind: &'r str) -> impl Iterator<Item = &'r str> {
    relations
        .iter()
        .filter(move |relation| relation.kind == kind && !relation.is_external)
        .map(|relation| relation.target.as_str())
}

/// Returns the targets of relations, by their identifiers.
fn targets(relations: &[Relation]) -> HashMap<&str, &str> {
    relations
        .iter()
        .map(|relation| (relation.id.as_str(), relation.target.as_str()))
        .collect()
}

/// Returns the names of people who comment, by their identifiers, from the parts of some kinds.
fn people(
    package: &mut Package<'_>,
    relations: &[Relation],
    kinds: &[&str],
    name_attribute: &str,
) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for part in kinds.iter().flat_map(|kind| related(relations, kind)) {
        read_part(package, part, |text| {
            let mut xml = Xml::new(text);
            while let Some(node) = xml.next()? {
                let Node::Start(tag) = node else { continue };
                if let (Some(id), Some(name)) = (tag.attribute("id"), tag.attribute(name_attribute))
                {
                    names.insert(id.into_owned(), name.trim().to_owned());
                }
            }
            xml.whole()
        });
    }
    names
}

/// Returns the targets of links outside the package, by the identifier of their relation.
fn links(relations: &[Relation]) -> BTreeMap<&str, &str> {
    relations
        .iter()
        .filter(|relation| relation.is_external && relation.kind == "hyperlink")
        .map(|relation| (relation.id.as_str(), relation.target.as_str()))
        .collect()
}

fn read_properties(package: &mut Package<'_>, document: &mut Document) {
    let relations = relations(package, "");
    for (kind, usual) in [
        ("core-properties", "docProps/core.xml"),
        ("extended-properties", "docProps/app.xml"),
        ("custom-properties", "docProps/custom.xml"),
    ] {
        let part = related(&relations, kind).next().unwrap_or(usual);
        if let Some(text) = package.xml(part) {
            package.tolerate(read_property_part(&text, document));
        }
    }
    date_by_creation(document);
}

fn read_property_part(text: &str, document: &mut Document) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut is_of_user = false;
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        if tag.name() == "property" {
            is_of_user = true;
            if is_of_program(&tag.attribute("name").unwrap_or_default()) {
                xml.skip()?;
            }
            continue;
        }
        let field = match tag.name() {
            "title" => Field::Title,
            "creator" | "lastModifiedBy" => Field::Author,
            "keywords" | "category" | "contentStatus" => Field::Keywords,
            "subject" | "description" | "Company" | "Manager" => Field::Description,
            // A property that the user defined; others list the names of sheets, slides and fonts.
            "lpwstr" | "lpstr" | "bstr" if is_of_user => Field::Description,
            "language" => Field::Lang,
            "created" => Field::Created,
            "modified" => Field::Date,
            "Pages" => Field::Pages,
            _ => continue,
        };
        let value = escape::unescape(xml.text()?.into());
        match field {
            Field::Created | Field::Date => add_time(document, field, &value),
            Field::Pages => {
                if let Ok(pages) = value.trim().parse() {
                    document.add_number(field, pages);
                }
            }
            Field::Keywords => {
                keywords(&value).for_each(|keyword| document.join_text(field, keyword));
            }
            Field::Author => add_authors(document, &value),
            _ => add_once(document, field, &value),
        }
    }
    xml.whole()
}

/// Hands on the files embedded in the document; pictures and sounds are not handed on.
fn hand_on_embeddings(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut parts = package.take_embedded();
    let is_embedded = |name: &&str| name.contains("/embeddings/") && !name.ends_with('/');
    parts.extend(package.names().filter(is_embedded).map(str::to_owned));
    let types = content_types(package, &parts);
    for component in parts {
        let name = component.rsplit('/').next().unwrap_or_default().to_owned();
        match package.bytes(&component) {
            Ok(bytes) => {
                let (name, bytes) = objects::embedded_file(name, bytes);
                output.member(Member {
                    ipath: output.child_ipath(&component),
                    name,
                    declared_type: types.get(&component).cloned(),
                    bytes,
                    ..Member::default()
                })?;
            }
            Err(error) => output.failed_member(&component, &name, error)?,
        }
    }
    Ok(())
}

/// Adds the texts of the metafiles that a part shows: pasted diagrams, and the pictures of objects.
fn read_metafiles(package: &mut Package<'_>, relations: &[Relation], body: &mut Body) {
    for picture in related(relations, "image").filter(|name| metafile::is_name(name)) {
        match package.bytes(picture) {
            Ok(bytes) => body.once(&metafile::text_of(&bytes, MAX_METAFILE_TEXT)),
            Err(error) if error.is_limit() => package.tolerate(Err(error)),
            // A picture that is lost is no loss of text that anyone knows of.
            Err(_) => {}
        }
    }
}

/// Returns the media types that the package declares for parts whose names do not say what they are.
fn content_types(package: &mut Package<'_>, parts: &BTreeSet<String>) -> HashMap<String, String> {
    let is_vague = |name: &String| crate::detect::by_name(name) == crate::detect::UNKNOWN;
    let mut types = HashMap::new();
    if !parts.iter().any(is_vague) {
        return types;
    }
    read_part(package, "[Content_Types].xml", |text| {
        let mut xml = Xml::new(text);
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            let part = tag.attribute("PartName").unwrap_or_default();
            let part = part.trim_start_matches('/');
            if let Some(name) = parts.get(part).filter(|name| is_vague(name)) {
                let declared = tag.attribute("ContentType").unwrap_or_default();
                types.insert(name.clone(), declared.into_owned());
            }
        }
        xml.whole()
    });
    types
}

/// Returns the text of a part; none if it is missing.
fn read_part(
    package: &mut Package<'_>,
    part: &str,
    mut read: impl FnMut(&str) -> Result<(), Error>,
) {
    if let Some(text) = package.xml(part) {
        package.tolerate(read(&text));
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::formats::Format;
    use crate::structure::compound::rebuild::compound_of;
    use crate::structure::package::tests::zip_of;
    use crate::testing::{self, Extracted};

    fn detected(format: &Format) -> Detected {
        Detected {
            media_type: format.media_types[0],
            kind: Kind::Document,
        }
    }

    pub(in crate::formats) fn run(format: &Format, bytes: &[u8]) -> Extracted {
        testing::run(format.extract, detected(format), "x", bytes)
    }

    /// Returns the document of a package with only a main part.
    pub(super) fn run_main(format: &Format, name: &str, main: &str) -> Document {
        let mut found = run(format, &zip_of(&[(name, main.as_bytes())]));
        found.documents.pop().unwrap()
    }

    /// Runs the hostile set, and Office files of the wrong kind.
    pub(super) fn check_hostile(format: &Format, good: &[u8]) {
        testing::survives(format.extract, detected(format), "x", good);
        let old = compound_of(&[("WordDocument", b"")]);
        let encrypted = compound_of(&[("EncryptedPackage", b"")]);
        for (bytes, reason) in [
            (encrypted, Reason::Encrypted),
            (old, Reason::Malformed),
            (zip_of(&[("a", b"")]), Reason::Malformed),
        ] {
            let found = run(format, &bytes);
            assert_eq!(found.own().failure.as_ref().unwrap().reason(), reason);
        }
    }

    #[test]
    fn of_the_other_properties_those_of_the_user_are_read() {
        let zip = zip_of(&[
            ("word/document.xml", b"<d><p><t>body</t></p></d>"),
            (
                "docProps/app.xml",
                b"<p><Company>Works</Company><TitlesOfParts><vt:vector><vt:lpstr>Worksheets</vt:lpstr>\
                  </vt:vector></TitlesOfParts></p>",
            ),
            (
                "docProps/custom.xml",
                b"<p><property name='Client'><vt:lpwstr>Acme</vt:lpwstr></property>\
                  <property name='AppVersion'><vt:lpwstr>12.0</vt:lpwstr></property></p>",
            ),
        ]);
        let found = run(&docx::FORMAT, &zip);
        let fields = &found.own().fields;
        let described = fields
            .iter()
            .filter(|(field, _)| *field == Field::Description);
        assert_eq!(described.count(), 2, "{fields:?}");
    }

    #[test]
    fn the_main_part_is_where_the_package_says() {
        let zip = zip_of(&[
            (
                "_rels/.rels",
                b"<r><Relationship Id='1' Type='http://x/officeDocument' Target='/odd/main.xml'/>\
                  <Relationship Id='2' Type='http://x/core-properties' Target='c.xml'/></r>",
            ),
            ("odd/main.xml", b"<d><p><t>body</t></p></d>"),
            (
                "c.xml",
                b"<c><dcterms:created>1970-01-02</dcterms:created></c>",
            ),
        ]);
        let found = run(&docx::FORMAT, &zip);
        assert_eq!(found.own().body, "body");
        assert_eq!(found.own().number(Field::Date), Some(86_400));
    }

    #[test]
    fn an_embedded_file_that_is_too_large_is_found_by_name() {
        let zip = zip_of(&[
            ("word/document.xml", b"<d/>"),
            ("word/embeddings/a.bin", &[0; 100]),
        ]);
        let limits = Limits {
            max_member_bytes: 50,
            ..Limits::default()
        };
        let format = &docx::FORMAT;
        let found = testing::run_limited(format.extract, detected(format), "x", &zip, &limits);
        assert_eq!(found.documents[0].text(Field::Filename), Some("a.bin"));
        let failure = found.documents[0].failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn a_bomb_is_reported_and_its_text_bounded() {
        let mut bomb = b"<d><p>".to_vec();
        for _ in 0..200_000 {
            bomb.extend_from_slice(b"<t>aaaaaaaaaaaaaaaaaaaaaaaaaaaa</t>");
        }
        let zip = zip_of(&[("word/document.xml", &bomb)]);
        let limits = Limits {
            max_expansion: 10,
            max_text_bytes: 1000,
            ..Limits::default()
        };
        let format = &docx::FORMAT;
        let found = testing::run_limited(format.extract, detected(format), "x", &zip, &limits);
        assert_eq!(found.own().body.len(), 1000);
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);
        assert!(format!("{failure:?}").contains("MaxExpansion"));
    }
}
