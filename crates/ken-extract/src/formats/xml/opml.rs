//! Outlines and lists of feeds in OPML (<http://opml.org/spec2.opml>), whose text is in attributes.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("OPML", &["text/x-opml"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Created,
        Field::Date,
        Field::Lang,
    ]);

const DIALECT: Dialect = Dialect { role, is_text };

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        _ if path != "opml/head/" => Role::Line,
        "title" => Role::Value(Field::Title),
        "ownerName" => Role::Value(Field::Author),
        "dateCreated" => Role::Date(Field::Created),
        "dateModified" => Role::Date(Field::Date),
        _ => Role::Skip,
    }
}

fn is_text(element: &str, attribute: &str, _: &str) -> bool {
    // Newsreaders repeat the text as the title.
    element == "outline"
        && matches!(
            attribute,
            "text" | "_note" | "description" | "xmlUrl" | "htmlUrl" | "url"
        )
}
