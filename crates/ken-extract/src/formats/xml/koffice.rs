//! KWord, KSpread and KPresenter of KOffice 1: a zip file with `maindoc.xml` and `documentinfo.xml`.
//!
//! Older files are gzipped tar archives, whose parts are separate documents.

use ken_core::{Document, Field};

use super::{Conversion, Dialect, Role};
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::package::Package;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "KOffice",
    &[
        "application/x-kword",
        "application/x-kspread",
        "application/x-kpresenter",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
])
.sections("sheets")
.in_worker()
.version(2);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |element, name, _| element == "table" && name == "name",
};

const INFO: Dialect = Dialect {
    role: info,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let mut package = Package::open(input, limits)?;
    let mut body = Body::new(limits.max_text_bytes);
    for (part, dialect) in [("documentinfo.xml", &INFO), ("maindoc.xml", &DIALECT)] {
        if let Some(text) = package.xml(part) {
            package.tolerate(Conversion::new(dialect, output.own(), &mut body).read(&text));
        } else if part == "maindoc.xml" {
            return Err(Error::Malformed("there is no part maindoc.xml".into()));
        }
    }
    output.own().body = body.finish();
    package.finish()
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "TEXT" => Role::Line,
        "table" if path.ends_with("map/") => Role::Section,
        "cell" => {
            let at = |name| tag.number(name).unwrap_or(1).saturating_sub(1);
            Role::CellAt(at("row"), at("column"))
        }
        // The results of formulas are in a separate element.
        "text" => Role::TurnedLine(without_formula),
        "STYLES" | "FORMATS" | "LAYOUT" | "PIXMAPS" | "KEYS" | "EMBEDDED" | "styles" | "format"
        | "paper" => Role::Skip,
        _ => Role::Inline,
    }
}

fn without_formula(text: &str) -> String {
    if text.starts_with('=') {
        return String::new();
    }
    text.to_owned()
}

fn info(_: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "title" => Role::Value(Field::Title),
        "full-name" | "initial-creator" => Role::Value(Field::Author),
        "abstract" | "subject" => Role::Value(Field::Description),
        "keyword" => Role::Value(Field::Keywords),
        "document-info" | "about" | "author" => Role::Inline,
        _ => Role::Skip,
    }
}
