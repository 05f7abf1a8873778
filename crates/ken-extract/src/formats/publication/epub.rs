//! Electronic books (.epub): EPUB 2 and 3, <https://www.w3.org/TR/epub-33/>.
//!
//! `META-INF/container.xml` names the package document, whose spine lists the chapters in reading
//! order; each chapter is a page. A book with encrypted chapters (DRM) still yields its metadata.

use std::collections::HashMap;

use ken_core::{Document, Encryption, Field};
use percent_encoding::percent_decode_str;

use crate::formats::web::html::{html_to_text, html_within};
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::package::{Package, resolve};
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Input};

pub(in crate::formats) const FORMAT: Format =
    Format::new("EPUB", &["application/epub+zip"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Created,
            Field::Date,
        ])
        .sections("chapters")
        .in_worker()
        .version(5);

/// Methods that obfuscate fonts, which hide no text.
const FONT_OBFUSCATION: &[&str] = &[
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let mut package = Package::open(input, limits)?;
    let opf_name = opf_name(&mut package)?;
    let opf = package.xml(&opf_name).unwrap_or_default();
    let mut book = Book::default();
    package.tolerate(book.read(&opf, &opf_name, output.own()));
    if is_encrypted(&mut package) {
        return Err(Error::sealed(Encryption::Rights));
    }
    let mut body = Body::new(limits.max_text_bytes);
    for (position, chapter) in book.chapters().enumerate() {
        if position > 0 {
            body.end_page();
        }
        if body.is_full() {
            break;
        }
        if let Some(text) = package.xml(chapter) {
            let page = html_within(text.as_bytes(), None, limits.max_text_bytes);
            body.push(page.body.trim());
            page.headings
                .iter()
                .for_each(|text| body.note_heading(text));
        }
    }
    body.finish_into(output.own());
    package.finish()
}

/// Returns the name of the package document: from the container, otherwise the first one by
/// extension.
fn opf_name(package: &mut Package<'_>) -> Result<String, Error> {
    if let Some(container) = package.xml("META-INF/container.xml")
        && let Ok(Some(name)) = root_file(&container)
        && package.has(&name)
    {
        return Ok(name);
    }
    package
        .names()
        .find(|name| name.ends_with(".opf"))
        .map(str::to_owned)
        .ok_or_else(|| Error::Malformed("there is no package document (.opf)".into()))
}

fn root_file(container: &str) -> Result<Option<String>, Error> {
    let mut xml = Xml::new(container);
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "rootfile"
            && let Some(path) = tag.attribute("full-path")
        {
            return Ok(Some(resolve("", &path)));
        }
    }
    Ok(None)
}

/// Returns the name of the part that is the picture of the cover: EPUB 3 marks it as such, and EPUB 2
/// names its identifier in the metadata.
#[cfg(feature = "draw")]
pub(crate) fn cover(package: &mut Package<'_>) -> Result<Option<String>, Error> {
    let opf_name = opf_name(package)?;
    let opf = package.xml(&opf_name).unwrap_or_default();
    let mut xml = Xml::new(&opf);
    let mut named = None;
    let mut items = HashMap::new();
    while let Some(node) = xml.next()? {
        let Node::Start(tag) = node else { continue };
        let attribute = |name| tag.attribute(name).unwrap_or_default().into_owned();
        match tag.name() {
            "meta" if attribute("name") == "cover" => named = Some(attribute("content")),
            "item" => {
                let name = part_name(&opf_name, &attribute("href"));
                if attribute("properties").contains("cover-image") {
                    return Ok(Some(name));
                }
                items.insert(attribute("id"), name);
            }
            _ => {}
        }
    }
    Ok(named.and_then(|id| items.remove(&id)))
}

/// Returns the name of the part that an item of the package document refers to.
fn part_name(opf_name: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let href = percent_decode_str(href).decode_utf8_lossy();
    resolve(opf_name, &href)
}

/// Returns whether anything other than fonts is encrypted.
fn is_encrypted(package: &mut Package<'_>) -> bool {
    let Some(text) = package.xml("META-INF/encryption.xml") else {
        return false;
    };
    let mut xml = Xml::new(&text);
    while let Ok(Some(node)) = xml.next() {
        if let Node::Start(tag) = node
            && tag.name() == "EncryptedData"
            && encrypts_content(&mut xml).unwrap_or(false)
        {
            return true;
        }
    }
    false
}

/// Returns whether an `EncryptedData` refers to something other than a font.
fn encrypts_content(xml: &mut Xml<'_>) -> Result<bool, Error> {
    let mut key_depth = 0;
    while let Some(node) = xml.next()? {
        match node {
            // The key has a method of its own.
            Node::Start(tag) if tag.name() == "KeyInfo" => key_depth += 1,
            Node::End(tag) if tag.name() == "KeyInfo" => key_depth -= 1,
            Node::Start(tag) if tag.name() == "EncryptionMethod" && key_depth == 0 => {
                let method = tag.attribute("Algorithm").unwrap_or_default();
                return Ok(!FONT_OBFUSCATION.contains(&&*method));
            }
            Node::End(tag) if tag.name() == "EncryptedData" => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

/// The chapters in the package document.
#[derive(Default)]
struct Book {
    /// Names of parts by identifier.
    manifest: HashMap<String, String>,
    /// Identifiers in reading order.
    spine: Vec<String>,
}

impl Book {
    fn read(&mut self, opf: &str, opf_name: &str, document: &mut Document) -> Result<(), Error> {
        let mut xml = Xml::new(opf);
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            match tag.name() {
                "item" => {
                    let id = tag.attribute("id").unwrap_or_default().into_owned();
                    let href = tag.attribute("href").unwrap_or_default();
                    self.manifest.insert(id, part_name(opf_name, &href));
                }
                "itemref" => self
                    .spine
                    .extend(tag.attribute("idref").map(|id| id.into_owned())),
                _ => read_metadata(&tag, &mut xml, document)?,
            }
        }
        if document.number(Field::Date).is_none()
            && let Some(published) = document.number(Field::Created)
        {
            document.add_number(Field::Date, published);
        }
        xml.whole()
    }

    /// Returns the parts of the spine, each of them once.
    fn chapters(&self) -> impl Iterator<Item = &str> {
        let mut manifest: HashMap<&str, &str> = self
            .manifest
            .iter()
            .map(|(id, part)| (id.as_str(), part.as_str()))
            .collect();
        self.spine
            .iter()
            .filter_map(move |id| manifest.remove(id.as_str()))
    }
}

fn read_metadata(tag: &Start<'_>, xml: &mut Xml<'_>, document: &mut Document) -> Result<(), Error> {
    let field = match tag.full_name() {
        "dc:title" => Field::Title,
        "dc:creator" => Field::Author,
        "dc:subject" => Field::Keywords,
        "dc:description" => Field::Description,
        "dc:language" => Field::Lang,
        "dc:date" => Field::Created,
        "meta" if tag.attribute("property").as_deref() == Some("dcterms:modified") => Field::Date,
        _ => return Ok(()),
    };
    let value = xml.text()?;
    match field {
        Field::Created | Field::Date => {
            if document.number(field).is_none()
                && let Some(seconds) = crate::date::iso(&value)
            {
                document.add_number(field, seconds);
            }
        }
        Field::Description => document.add_text(field, &html_to_text(value.as_bytes(), None).body),
        _ => document.add_text(field, &value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::structure::package::tests::zip_of;
    use crate::testing::{self, Extracted};

    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/sample.epub");
    const DETECTED: Detected = Detected {
        media_type: "application/epub+zip",
        kind: Kind::Document,
    };
    const OPF: (&str, &[u8]) = (
        "book.opf",
        b"<package><metadata><dc:title>T</dc:title></metadata><manifest>\
          <item id='a' href='a.html'/></manifest><spine><itemref idref='a'/>\
          <itemref idref='a'/><itemref idref='gone'/></spine></package>",
    );

    fn run(bytes: &[u8]) -> Extracted {
        testing::run(extract, DETECTED, "x", bytes)
    }

    #[test]
    fn chapters_stand_in_the_order_of_the_spine() {
        let found = run(SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(
            own.body,
            "Narwhalium\nA tusk of ivory\u{a0}and éclat.\u{c}The second chapter\nends."
        );
        assert_eq!(own.text(Field::Title), Some("Whales of the fjord"));
        assert_eq!(own.text(Field::Author), Some("Ingrid Solheim"));
        assert_eq!(own.text(Field::Keywords), Some("whales"));
        assert_eq!(own.text(Field::Description), Some("A short book"));
        assert_eq!(own.text(Field::Lang), Some("en"));
        assert_eq!(own.number(Field::Created), Some(1_714_953_600));
        assert_eq!(own.number(Field::Date), Some(1_715_069_350));
    }

    #[test]
    fn a_book_without_container_and_with_tag_soup_is_read() {
        let found = run(&zip_of(&[
            OPF,
            ("a.html", b"<p>one<br>two</p><p>three & four"),
        ]));
        assert_eq!(found.own().body, "one\ntwo\nthree & four");
    }

    #[test]
    fn only_encrypted_chapters_make_a_book_encrypted() {
        let with_method = |method: &str| {
            let encryption = format!(
                "<encryption><EncryptedData><EncryptionMethod Algorithm='{method}'/>\
                 </EncryptedData></encryption>"
            );
            let found = run(&zip_of(&[
                OPF,
                ("a.html", b"<p>text</p>"),
                ("META-INF/encryption.xml", encryption.as_bytes()),
            ]));
            assert_eq!(found.own().text(Field::Title), Some("T"));
            found.own().failure.as_ref().map(|failure| failure.reason())
        };
        assert_eq!(with_method(FONT_OBFUSCATION[0]), None);
        let aes = "http://www.w3.org/2001/04/xmlenc#aes128-cbc";
        assert_eq!(with_method(aes), Some(Reason::Encrypted));
    }

    #[test]
    fn references_are_decoded() {
        assert_eq!(
            percent_decode_str("a%20b%C3%A9%zz%4").decode_utf8_lossy(),
            "a bé%zz%4"
        );
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        testing::survives(extract, DETECTED, "x", SAMPLE);
        assert!(run(&zip_of(&[("a", b"")])).own().failure.is_some());
    }
}
