//! XPS and OpenXPS (ECMA-388): a zip file with one XML part for each page.
//!
//! The text of a page is the `UnicodeString` of its glyph runs, in painting order. Runs on one
//! baseline form a line, with a space where there is a gap between them.

use ken_core::{Document, Field};

use super::{Conversion, Dialect, Role};
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::package::{Package, resolve};
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("XPS", &["application/oxps"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Created,
        Field::Date,
        Field::Pages,
    ])
    .sections("pages")
    .in_worker();

const PROPERTIES: Dialect = Dialect {
    role: property,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let mut package = Package::open(input, limits)?;
    let mut body = Body::new(limits.max_text_bytes);
    if let Some(text) = core_properties(&package).and_then(|name| package.xml(&name)) {
        package.tolerate(Conversion::new(&PROPERTIES, output.own(), &mut body).read(&text));
    }
    let pages = pages(&mut package);
    if pages.is_empty() {
        return Err(Error::Malformed("there are no pages".into()));
    }
    output.own().add_number(Field::Pages, pages.len() as i64);
    for (position, page) in pages.iter().enumerate() {
        if position > 0 {
            body.end_page();
        }
        if body.is_full() {
            break;
        }
        if let Some(text) = package.xml(page) {
            package.tolerate(read_page(&text, &mut body));
        }
    }
    output.own().body = body.finish();
    package.finish()
}

/// Returns the part with the metadata, which has no fixed name.
fn core_properties(package: &Package<'_>) -> Option<String> {
    let is_core = |name: &&str| {
        let name = name.to_ascii_lowercase();
        name.ends_with(".psmdcp")
            || name.ends_with("docprops/core.xml")
            || name.ends_with("coreproperties.xml")
    };
    package.names().find(is_core).map(str::to_owned)
}

fn property(_: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "title" => Role::Value(Field::Title),
        "creator" => Role::Value(Field::Author),
        "subject" | "description" => Role::Value(Field::Description),
        "keywords" => Role::Value(Field::Keywords),
        "language" => Role::Value(Field::Lang),
        "created" => Role::Date(Field::Created),
        "modified" => Role::Date(Field::Date),
        "coreProperties" => Role::Inline,
        _ => Role::Skip,
    }
}

/// Returns the names of the pages: in the declared order, otherwise all in alphabetical order.
fn pages(package: &mut Package<'_>) -> Vec<String> {
    let sequences = ending(package, ".fdseq");
    let documents = sequences
        .iter()
        .flat_map(|sequence| sources(package, sequence, "DocumentReference"))
        .collect::<Vec<_>>();
    let pages = documents
        .iter()
        .flat_map(|document| sources(package, document, "PageContent"))
        .filter(|page| page.to_ascii_lowercase().ends_with(".fpage"))
        .collect::<Vec<_>>();
    if pages.is_empty() {
        return ending(package, ".fpage");
    }
    pages
}

fn ending(package: &Package<'_>, end: &str) -> Vec<String> {
    let names = package.names();
    names
        .filter(|name| name.to_ascii_lowercase().ends_with(end))
        .map(str::to_owned)
        .collect()
}

/// Returns the references of the elements with this name in a part.
fn sources(package: &mut Package<'_>, part: &str, element: &str) -> Vec<String> {
    let Some(text) = package.xml(part) else {
        return Vec::new();
    };
    let mut xml = Xml::new(&text);
    let mut found = Vec::new();
    while let Ok(Some(node)) = xml.next() {
        if let Node::Start(tag) = node
            && tag.name() == element
            && let Some(source) = tag.attribute("Source")
        {
            found.push(resolve(part, &source));
        }
    }
    found
}

/// Where the next run of glyphs begins if it follows without a gap.
struct PenPosition {
    x: f64,
    y: f64,
    size: f64,
}

fn read_page(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut last: Option<PenPosition> = None;
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "Glyphs"
            && let Some(text) = tag.attribute("UnicodeString")
        {
            // A string that begins with a brace is escaped by a pair of braces.
            let text = text.strip_prefix("{}").unwrap_or(&text);
            last = Some(place_run(&tag, text, last, body));
        }
        if body.is_full() {
            break;
        }
    }
    xml.whole()
}

fn place_run(
    tag: &Start<'_>,
    text: &str,
    last: Option<PenPosition>,
    body: &mut Body,
) -> PenPosition {
    let number = |name| -> f64 {
        let value = tag.attribute(name);
        value
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(0.0)
    };
    let (x, y, size) = (
        number("OriginX"),
        number("OriginY"),
        number("FontRenderingEmSize"),
    );
    if let Some(last) = last {
        if (y - last.y).abs() > size.max(last.size) / 2.0 {
            body.end_paragraph();
        } else if x - last.x > size / 6.0 || x < last.x - size {
            body.push_folded(" ");
        }
    }
    body.push_folded(text);
    let advance = width(&tag.attribute("Indices").unwrap_or_default(), text) * size;
    PenPosition {
        x: x + advance,
        y,
        size,
    }
}

/// Returns the width of a run in units of its font size. Glyphs may declare their width in
/// hundredths (`index,advance;…`); others are about half as wide as they are high.
fn width(indices: &str, text: &str) -> f64 {
    let mut glyphs = indices.split(';');
    text.chars()
        .map(|_| {
            let advance = glyphs.next().and_then(|glyph| glyph.split(',').nth(1));
            let advance: Option<f64> = advance.and_then(|advance| advance.trim().parse().ok());
            advance.unwrap_or(50.0) / 100.0
        })
        .sum()
}
