//! Office documents in one XML file: Word 2003 (WordprocessingML of 2003), and packages of newer
//! programs whose parts are elements (Flat OPC).

use base64ct::{Base64, Encoding};
use ken_core::{Document, Field};

use super::docx;
use crate::formats::office::decrypted;
use crate::formats::xml::excel2003::field_of_property;
use crate::output::Output;
use crate::output::metadata::{add_once, add_time, is_of_program};
use crate::structure::rescue::stored;
use crate::structure::xml::{Node, Xml, decode_xml};
use crate::{Error, Format, Input};

/// Word 2003.
pub(in crate::formats) const WORD_2003: Format = Format::new(
    "Word 2003 XML",
    &["application/vnd.ms-wordml"],
    extract_word,
)
.fields(&[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Created,
    Field::Date,
])
.in_worker()
.version(2);

/// A package in one file.
pub(in crate::formats) const FLAT_OPC: Format = Format::new(
    "Flat OPC",
    &["application/vnd.openxmlformats-package.flat-opc+xml"],
    extract_package,
)
.members("those of the package")
.in_worker();

/// More parts than any program writes.
const MAX_PARTS: usize = 10_000;

fn extract_word(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let text = decode_xml(input.bytes(limits)?.to_vec());
    let own = output.own();
    let properties = read_properties(&text, own);
    docx::read_flat(&text, own, limits).and(properties)
}

/// Reads the properties, which come before the text.
fn read_properties(text: &str, document: &mut Document) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut is_inside = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) if tag.name() == "DocumentProperties" => is_inside = true,
            Node::Start(tag) if tag.name() == "CustomDocumentProperties" => {
                read_custom(&mut xml, document)?;
                break;
            }
            Node::Start(tag) if is_inside => {
                let field = field_of_property(tag.name());
                let value = xml.text()?;
                match field {
                    Some(field @ (Field::Created | Field::Date)) => {
                        add_time(document, field, &value);
                    }
                    Some(field) => add_once(document, field, &value),
                    None => {}
                }
            }
            Node::Start(tag) if tag.name() == "body" => break,
            Node::End(tag) if tag.name() == "DocumentProperties" => is_inside = false,
            _ => {}
        }
    }
    Ok(())
}

/// Reads the texts among the properties that the user defined.
fn read_custom(xml: &mut Xml<'_>, document: &mut Document) -> Result<(), Error> {
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => {
                let is_text = tag.attribute("dt").as_deref() == Some("string");
                let is_wanted = is_text && !is_of_program(tag.name());
                let value = xml.text()?;
                if is_wanted {
                    add_once(document, Field::Description, &value);
                }
            }
            Node::End(_) => break,
            Node::Text(_) => {}
        }
    }
    Ok(())
}

/// Writes the parts into a package, which takes the place of the file.
fn extract_package(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let text = decode_xml(input.bytes(output.limits())?.to_vec());
    let package = stored(&parts(&text));
    decrypted::read(package, input, output)
}

/// Returns the names and contents of the parts. Their XML is taken as it stands.
fn parts(text: &str) -> Vec<(String, Vec<u8>)> {
    let mut parts = Vec::new();
    for part in text.split("<pkg:part ").skip(1).take(MAX_PARTS) {
        let Some(name) = attribute(part, "pkg:name=") else {
            continue;
        };
        let inside = |element: &str| {
            let (_, content) = part.split_once(&format!("<pkg:{element}>"))?;
            let (content, _) = content
                .split_once(&format!("</pkg:{element}>"))
                .unwrap_or((content, ""));
            Some(content)
        };
        let content = inside("xmlData")
            .map(|xml| xml.as_bytes().to_vec())
            .or_else(|| {
                let base64: String = inside("binaryData")?.split_whitespace().collect();
                Base64::decode_vec(&base64).ok()
            });
        let name = name.trim_start_matches('/').to_owned();
        parts.extend(content.map(|content| (name, content)));
    }
    parts
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let value = tag.split_once(name)?.1;
    let quote = value
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::super::tests::run;
    use super::*;
    use crate::detect::Detected;
    use crate::testing::survives;

    const WORD: &str = "<?xml version='1.0'?><?mso-application progid='Word.Document'?><w:wordDocument \
        xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml' xmlns:o='o'><o:DocumentProperties>\
        <o:Title>Census</o:Title><o:Author>Ina</o:Author><o:Pages>1</o:Pages></o:DocumentProperties>\
        <w:fonts><w:defaultFonts w:ascii='Times New Roman'/></w:fonts><w:styles><w:style w:styleId='a'>\
        <w:name w:val='Normal'/></w:style></w:styles><w:body><w:p><w:r><w:t>The </w:t></w:r><w:hlink \
        w:dest='https://example.org'><w:r><w:t>herd</w:t></w:r></w:hlink></w:p><w:p><w:r><w:pict>\
        <w:binData>AAAA</w:binData></w:pict></w:r></w:p></w:body></w:wordDocument>";

    #[test]
    fn word_2003_is_read_like_word() {
        let found = run(&WORD_2003, WORD.as_bytes());
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.body, "The herd\nhttps://example.org");
        assert_eq!(own.text(Field::Title), Some("Census"));
        assert_eq!(own.text(Field::Author), Some("Ina"));
    }

    #[test]
    fn notes_comments_and_headers_of_word_2003_stand_beside_the_text() {
        let text = "<w:wordDocument><o:DocumentProperties><o:Author>Ina</o:Author></o:DocumentProperties>\
            <o:CustomDocumentProperties><o:Client dt:dt='string'>Acme</o:Client><o:Count dt:dt='float'>7</o:Count>\
            </o:CustomDocumentProperties><w:body><w:p><w:r><w:t>before</w:t></w:r><w:r><w:footnote><w:p><w:r>\
            <w:t>a note</w:t></w:r></w:p></w:footnote></w:r><aml:annotation w:type='Word.Insertion'><aml:content><w:r>\
            <w:t>hand</w:t></w:r></aml:content></aml:annotation><aml:annotation w:type='Word.Comment' \
            aml:author='Bo'><aml:content><w:p><w:r><w:t>why</w:t></w:r></w:p></aml:content></aml:annotation></w:p>\
            <w:sectPr><w:hdr><w:p><w:r><w:t>Top</w:t></w:r></w:p></w:hdr></w:sectPr></w:body></w:wordDocument>";
        let found = run(&WORD_2003, text.as_bytes());
        assert_eq!(found.own().body, "beforehand\na note\nBo: why\nTop");
        assert_eq!(found.own().text(Field::Description), Some("Acme"));
        assert_eq!(found.own().text(Field::Author), Some("Ina"));
    }

    #[test]
    fn packages_in_one_file_are_packages() {
        let package = "<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'><pkg:part \
            pkg:name='/_rels/.rels'><pkg:xmlData><r><Relationship Id='1' Type='x/officeDocument' \
            Target='word/document.xml'/></r></pkg:xmlData></pkg:part><pkg:part pkg:name='/word/document.xml'>\
            <pkg:xmlData><d><p><t>flat</t></p></d></pkg:xmlData></pkg:part><pkg:part \
            pkg:name='/word/embeddings/a.txt'><pkg:binaryData>aW5zaWRl</pkg:binaryData></pkg:part></pkg:package>";
        let found = run(&FLAT_OPC, package.as_bytes());
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, "flat");
        assert!(
            found
                .own()
                .media_type
                .ends_with("wordprocessingml.document")
        );
        assert_eq!(found.members[0].bytes, b"inside");
        let detected = Detected {
            media_type: FLAT_OPC.media_types[0],
            kind: Kind::Document,
        };
        survives(FLAT_OPC.extract, detected, "a.xml", package.as_bytes());
        survives(WORD_2003.extract, detected, "a.xml", WORD.as_bytes());
    }
}
