//! The properties of an OpenDocument file.

use ken_core::{Document, Field};

use crate::Error;
use crate::output::metadata::{add_authors, add_once, add_time, is_of_program, keywords};
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
            "meta:initial-creator" => add_authors(document, &xml.text()?),
            "dc:creator" => editor = xml.text()?,
            "meta:keyword" => {
                keywords(&xml.text()?).for_each(|word| document.add_text(Field::Keywords, word));
            }
            // A property that the user defined.
            "meta:user-defined" => {
                let kind = tag.attribute("value-type");
                let is_text = kind.is_none_or(|kind| kind == "string");
                let name = tag.attribute("name").unwrap_or_default();
                let is_wanted = is_text && !is_of_program(&name);
                let value = xml.text()?;
                if is_wanted {
                    add_once(document, Field::Description, &value);
                }
            }
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
    add_authors(document, &editor);
    xml.whole()
}
