//! Feeds: RSS 0.9 to 2.0 (<https://www.rssboard.org/rss-specification>) and Atom (RFC 4287).
//!
//! Title, summary and content of each entry are lines; escaped HTML loses its tags.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "RSS, Atom",
    &["application/rss+xml", "application/atom+xml"],
    extract,
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Date,
]);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |element, name, _| element == "category" && name == "term",
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    let name = tag.name();
    if matches!(path, "rss/channel/" | "feed/" | "RDF/channel/") {
        return of_feed(name);
    }
    match name {
        // Atom may hold XHTML as elements.
        "content" | "summary" | "title" if tag.attribute("type").as_deref() == Some("xhtml") => {
            Role::Line
        }
        "title" | "description" | "encoded" | "summary" | "content" => {
            Role::TurnedLine(super::html)
        }
        "creator" | "author" | "name" | "category" | "item" | "entry" | "p" | "div" | "li"
        | "h1" | "h2" | "h3" | "pre" => Role::Line,
        "link" | "guid" | "id" | "uri" | "email" | "pubDate" | "updated" | "published" | "date"
        | "image" | "items" | "comments" | "icon" | "logo" | "url" | "thumbnail" => Role::Skip,
        _ => Role::Inline,
    }
}

fn of_feed(name: &str) -> Role {
    match name {
        "title" => Role::Heading(Field::Title),
        "description" | "subtitle" => Role::Heading(Field::Description),
        "author" | "managingEditor" | "creator" => Role::Words(Field::Author),
        "language" => Role::Value(Field::Lang),
        "category" => Role::Value(Field::Keywords),
        "lastBuildDate" | "pubDate" | "updated" | "date" => Role::Date(Field::Date),
        "item" | "entry" => Role::Line,
        _ => Role::Skip,
    }
}
