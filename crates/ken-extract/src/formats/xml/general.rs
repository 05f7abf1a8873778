//! XML of any other kind: its text, and the attributes that hold words.
//!
//! Elements are lines, unless text touches them on one side: `<p>a <b>c</b> d</p>` is one line,
//! `<x>a</x><y>b</y>` are two.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "XML",
    &[
        "application/xml",
        "application/rdf+xml",
        "application/mathml+xml",
        "application/gpx+xml",
        "application/vnd.google-earth.kml+xml",
        "application/xspf+xml",
        "application/x-gnote",
    ],
    extract,
)
.fields(&[Field::Title, Field::Lang])
.version(4);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |_, name, value| is_words(name, value),
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    if path.is_empty() && is_list_of_parts(tag) {
        return Role::Skip;
    }
    let mut parents = path.split_terminator('/').skip(1);
    let is_of_root = match (parents.next(), parents.next()) {
        (None, _) => !path.is_empty(),
        (Some("head" | "header" | "info" | "metadata" | "meta"), None) => true,
        _ => false,
    };
    match tag.name() {
        "title" if is_of_root => Role::Heading(Field::Title),
        _ => Role::Free,
    }
}

/// Returns whether an element is all that lists the types or the relations of a package's parts (ECMA-376 part 2).
fn is_list_of_parts(tag: &Start<'_>) -> bool {
    let namespace = tag.attribute("xmlns").unwrap_or_default();
    matches!(tag.name(), "Types" | "Relationships")
        && namespace.starts_with("http://schemas.openxmlformats.org/package/")
}

/// Returns whether an attribute holds a word: three letters in a row, not a namespace, a type, a colour, or how something looks.
fn is_words(name: &str, value: &str) -> bool {
    let is_about_xml = ["xmlns", "xml:", "xsi:"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    if is_about_xml || value.starts_with('#') || (name == "style" && value.contains(':')) {
        return false;
    }
    if name.ends_with(":schemaLocation") {
        return false;
    }
    let mut n_letters = 0;
    value.chars().any(|character| {
        n_letters = if character.is_alphabetic() {
            n_letters + 1
        } else {
            0
        };
        n_letters == 3 || (n_letters > 0 && !character.is_ascii())
    })
}
