//! Texts in TEI (Text Encoding Initiative, P5 <https://tei-c.org/guidelines/p5/>): editions, corpora, dictionaries.
//!
//! The header yields fields. Elements within sentences are many, so that only blocks have names here: all others are part of
//! the line that they touch.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("TEI", &["application/tei+xml"], extract)
    .fields(&[
        Field::Title,
        Field::Headings,
        Field::Author,
        Field::Keywords,
        Field::Lang,
    ]);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |element, name, value| {
        matches!((element, name), ("ref" | "ptr", "target")) && value.contains("://")
    },
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    let name = tag.name();
    if path.ends_with("/fileDesc/titleStmt/") {
        return match name {
            "title" => Role::Heading(Field::Title),
            "author" | "editor" => Role::Words(Field::Author),
            _ => Role::Line,
        };
    }
    match name {
        "head" => Role::Heading(Field::Headings),
        "term" if path.contains("/textClass/") => Role::Value(Field::Keywords),
        // Codes, how the text was encoded, and pictures of pages.
        "encodingDesc" | "revisionDesc" | "idno" | "catRef" | "classCode" | "facsimile"
        | "standOff" => Role::Skip,
        // A line that is broken within a word.
        "lb" | "pb" | "cb" if tag.attribute("break").as_deref() == Some("no") => Role::Inline,
        "ref" | "ptr" => Role::Free,
        "row" => Role::Row,
        "cell" => Role::Cell,
        "p" | "ab" | "l" | "lg" | "lb" | "div" | "div1" | "div2" | "div3" | "item" | "list"
        | "note" | "sp" | "speaker" | "stage" | "table" | "figure" | "figDesc" | "bibl"
        | "biblStruct" | "entry" | "sense" | "trailer" | "byline" | "docTitle" | "titlePart"
        | "docAuthor" | "docDate" | "salute" | "signed" | "dateline" | "opener" | "closer"
        | "quote" | "epigraph" | "publicationStmt" | "sourceDesc" | "profileDesc" | "front"
        | "body" | "back" | "text" | "teiHeader" | "u" => Role::Line,
        _ => Role::Inline,
    }
}
