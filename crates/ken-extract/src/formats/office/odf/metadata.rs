//! The properties of an OpenDocument file.

use ken_core::{Document, Field};

use crate::Error;
use crate::output::metadata::{add_once, add_time};
use crate::structure::xml::{Node, Xml};

/// Adds what the part `meta.xml` says; in flat XML, the element of the same name.
pub(super) fn read_meta(text: &str, document: &mut Document) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut editor = String::new();
    while let Some(node) = xml.next()? {
        let tag = match node {
            Node::Start(tag) => tag,
            // In flat XML the document follows.
            Node::End(tag) if tag.name() == "meta" => break,
            _ => continue,
        };
        match tag.full_name() {
            "dc:title" => document.add_text(Field::Title, &xml.text()?),
            "meta:initial-creator" => document.add_text(Field::Author, &xml.text()?),
            "dc:creator" => editor = xml.text()?,
            "meta:keyword" => document.add_text(Field::Keywords, &xml.text()?),
            "dc:subject" | "dc:description" => {
                document.add_text(Field::Description, &xml.text()?);
            }
            "dc:language" => document.add_text(Field::Lang, &xml.text()?),
            "meta:creation-date" => add_time(document, Field::Created, &xml.text()?),
            "dc:date" => add_time(document, Field::Date, &xml.text()?),
            "meta:document-statistic" => {
                if let Some(pages) = tag.number("page-count") {
                    document.add_number(Field::Pages, pages as i64);
                }
            }
            _ => {}
        }
    }
    add_once(document, Field::Author, &editor);
    xml.whole()
}
