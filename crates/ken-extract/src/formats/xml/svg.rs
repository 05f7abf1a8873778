//! Drawings in SVG (<https://www.w3.org/TR/SVG2/>): text, titles, descriptions, metadata in RDF.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("SVG", &["image/svg+xml"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Date,
        Field::Width,
        Field::Height,
    ]);

const DIALECT: Dialect = Dialect {
    role,
    // Layers of Inkscape.
    is_text: |_, name, _| name == "inkscape:label",
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

/// Number of bytes of the path that determine the meaning of a metadata element.
const MAX_NEAR_BYTES: usize = 100;

fn role(path: &str, tag: &Start<'_>, document: &mut Document) -> Role {
    let name = tag.name();
    if path.starts_with("svg/metadata/") {
        // Only the nearby elements; a hostile path is long, and examined at each tag.
        let near = path.floor_char_boundary(path.len().saturating_sub(MAX_NEAR_BYTES));
        return metadata(&path[near..], name);
    }
    match name {
        "svg" if path.is_empty() => {
            add_size(tag, document);
            Role::Inline
        }
        "title" if path == "svg/" => Role::Value(Field::Title),
        "desc" if path == "svg/" => Role::Value(Field::Description),
        "style" | "script" | "namedview" | "image" => Role::Skip,
        // A line within a text has a shift or a coordinate of its own.
        "tspan" if tag.attribute("y").is_none() && tag.attribute("dy").is_none() => Role::Inline,
        "tspan" | "text" | "title" | "desc" | "flowPara" | "flowRoot" | "foreignObject" | "p"
        | "div" | "li" => Role::Line,
        _ => Role::Inline,
    }
}

/// Reads Dublin Core in RDF, as Inkscape and other programs write it.
fn metadata(path: &str, name: &str) -> Role {
    match name {
        "title" if path.ends_with("creator/Agent/") => Role::Value(Field::Author),
        "title" if path.contains("Agent/") => Role::Skip,
        "title" => Role::Value(Field::Title),
        "description" => Role::Value(Field::Description),
        "date" => Role::Date(Field::Date),
        "language" => Role::Value(Field::Lang),
        "li" if path.contains("subject/") => Role::Value(Field::Keywords),
        "license" | "License" | "format" | "type" => Role::Skip,
        _ => Role::Inline,
    }
}

fn add_size(tag: &Start<'_>, document: &mut Document) {
    let pixels = |name| -> Option<i64> {
        let value = tag.attribute(name)?;
        let number: f64 = value.trim().trim_end_matches("px").parse().ok()?;
        (1.0..1e9).contains(&number).then(|| number.round() as i64)
    };
    if let (Some(width), Some(height)) = (pixels("width"), pixels("height")) {
        document.add_number(Field::Width, width);
        document.add_number(Field::Height, height);
    }
}
