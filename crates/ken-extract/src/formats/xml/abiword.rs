//! AbiWord (`.abw`, gzipped `.zabw`): one XML file with metadata, paragraphs, tables and notes.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("AbiWord", &["application/x-abiword"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Date,
        ])
        .sections("page breaks");

const DIALECT: Dialect = Dialect {
    role,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(_: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "m" => metadata(&tag.attribute("key").unwrap_or_default()),
        // Pictures, styles, list definitions, change marks.
        "data" | "styles" | "lists" | "pagesize" | "history" | "revisions" | "ignoredwords" => {
            Role::Skip
        }
        "c" | "a" | "field" | "bookmark" | "image" | "math" => Role::Inline,
        "cell" => Role::CellOf(row(&tag.attribute("props").unwrap_or_default())),
        "pbr" => Role::Section,
        "p" => match tag.attribute("style").as_deref() {
            Some("Title") => Role::Heading(Field::Title),
            Some("Author") => Role::Heading(Field::Author),
            _ => Role::Line,
        },
        _ => Role::Line,
    }
}

/// Reads the position of a cell, since rows have no element: `left-attach:0; top-attach:1`.
fn row(properties: &str) -> usize {
    properties
        .split(';')
        .find_map(|property| property.trim().strip_prefix("top-attach:"))
        .and_then(|row| row.trim().parse().ok())
        .unwrap_or_default()
}

fn metadata(key: &str) -> Role {
    match key {
        "dc.title" => Role::Value(Field::Title),
        "dc.creator" | "dc.contributor" => Role::Value(Field::Author),
        "dc.description" | "dc.subject" => Role::Value(Field::Description),
        "abiword.keywords" | "dc.type" | "dc.coverage" => Role::Value(Field::Keywords),
        "dc.language" => Role::Value(Field::Lang),
        "dc.date" | "abiword.date_last_changed" => Role::Date(Field::Date),
        _ => Role::Skip,
    }
}
