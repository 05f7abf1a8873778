//! Articles in JATS, the Journal Article Tag Suite (ANSI/NISO Z39.96), as PubMed Central and most journals keep them.
//!
//! The front matter yields fields; text and tables are read as they are displayed, footnotes and references after them.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("JATS", &["application/jats+xml"], extract).fields(&[
        Field::Title,
        Field::Headings,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Date,
    ]);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |element, name, _| element == "ext-link" && name == "xlink:href",
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, document: &mut Document) -> Role {
    let name = tag.name();
    if path.ends_with("/article-meta/") {
        return of_article(tag, document);
    }
    if path.ends_with("/contrib/") {
        return match name {
            "name" | "string-name" | "collab" | "name-alternatives" => Role::Words(Field::Author),
            _ => Role::Skip,
        };
    }
    match name {
        "article-title" if path.ends_with("/article-meta/title-group/") => {
            Role::Heading(Field::Title)
        }
        "title" if path.ends_with("/kwd-group/") => Role::Skip,
        "title" => Role::Heading(Field::Headings),
        "kwd" => Role::Value(Field::Keywords),
        // Numbers of volumes, codes of journals, a formula in TeX beside the one that is displayed.
        "journal-id" | "issn" | "article-id" | "pub-date" | "tex-math" | "processing-meta"
        | "self-uri" | "elocation-id" | "contrib-id" => Role::Skip,
        "ext-link" => Role::Free,
        "tr" => Role::Row,
        "td" | "th" => Role::Cell,
        _ if is_inline(name) => Role::Inline,
        _ => Role::Line,
    }
}

/// Returns the role of what is said of the article as a whole.
fn of_article(tag: &Start<'_>, document: &mut Document) -> Role {
    match tag.name() {
        "contrib-group" | "title-group" | "kwd-group" => Role::Inline,
        "abstract" => Role::Words(Field::Description),
        "pub-date" => {
            if let Some(date) = tag
                .attribute("iso-8601-date")
                .as_deref()
                .and_then(crate::date::iso)
            {
                document.add_number(Field::Date, date);
            }
            Role::Skip
        }
        "aff" | "author-notes" | "permissions" | "trans-abstract" | "funding-group" => Role::Line,
        _ => Role::Skip,
    }
}

/// Returns whether an element occurs within a sentence; others are blocks.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "bold"
            | "italic"
            | "monospace"
            | "overline"
            | "roman"
            | "sans-serif"
            | "sc"
            | "strike"
            | "styled-content"
            | "sub"
            | "sup"
            | "underline"
            | "xref"
            | "uri"
            | "email"
            | "named-content"
            | "abbrev"
            | "contrib"
            | "inline-formula"
            | "alternatives"
            | "institution"
            | "country"
            | "label"
            | "name"
            | "string-name"
            | "surname"
            | "given-names"
            | "person-group"
            | "year"
            | "source"
            | "volume"
            | "issue"
            | "fpage"
            | "lpage"
            | "pub-id"
            | "article-title"
            | "publisher-name"
            | "publisher-loc"
            | "mixed-citation"
            | "etal"
            | "math"
            | "mrow"
            | "mi"
            | "mn"
            | "mo"
            | "msup"
            | "msub"
            | "mfrac"
            | "semantics"
    )
}
