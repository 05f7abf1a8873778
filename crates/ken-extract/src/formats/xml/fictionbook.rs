//! FictionBook 2 (`.fb2`), books in one XML file: <http://www.fictionbook.org/index.php/Eng:XML_Schema_Fictionbook_2.1>.
//!
//! Sections of the first level are chapters. Pictures, base64 in `binary` elements, are left out.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("FictionBook", &["application/x-fictionbook+xml"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Genre,
            Field::Lang,
            Field::Date,
        ])
        .sections("chapters")
        .version(2);

const DIALECT: Dialect = Dialect {
    role,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, document: &mut Document) -> Role {
    if let Some(path) = path.strip_prefix("FictionBook/description/") {
        return description(path, tag, document);
    }
    match tag.name() {
        "binary" | "stylesheet" => Role::Skip,
        // The number of a note.
        "a" if tag.attribute("type").as_deref() == Some("note") => Role::Skip,
        "section" if path == "FictionBook/body/" => Role::Section,
        "p" | "v" | "subtitle" | "text-author" | "title" | "empty-line" | "body" | "section"
        | "td" | "th" | "date" => Role::Line,
        _ => Role::Inline,
    }
}

/// Reads the description of the book, not of the file or of the paper edition.
fn description(path: &str, tag: &Start<'_>, document: &mut Document) -> Role {
    match (path, tag.name()) {
        ("", "title-info") => Role::Inline,
        ("", _) => Role::Skip,
        (_, "book-title") => Role::Value(Field::Title),
        (_, "author") => Role::Words(Field::Author),
        (_, "annotation") => Role::Words(Field::Description),
        (_, "keywords") => Role::Value(Field::Keywords),
        (_, "genre") => Role::Value(Field::Genre),
        (_, "lang") => Role::Value(Field::Lang),
        // The attribute is the exact form of the date that the element holds in words.
        (_, "date") => match tag.attribute("value").and_then(|value| date::iso(&value)) {
            Some(seconds) => {
                document.add_number(Field::Date, seconds);
                Role::Skip
            }
            None => Role::Date(Field::Date),
        },
        _ => Role::Skip,
    }
}
