//! Gnumeric (`.gnumeric`, gzipped XML): names of sheets, cells, comments.
//!
//! The file holds formulas without their results, so formulas are left out.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Gnumeric", &["application/x-gnumeric"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Created,
            Field::Date,
            Field::Pages,
        ])
        .sections("sheets")
        .version(2);

const DIALECT: Dialect = Dialect {
    role,
    is_text: |element, name, _| element == "CellComment" && matches!(name, "Text" | "Author"),
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let n_sheets = super::extract(input, output, &DIALECT)?;
    output.own().add_number(Field::Pages, n_sheets as i64);
    Ok(())
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "Workbook" | "Sheets" | "Cells" | "Objects" | "CellComment" | "document-meta" | "meta" => {
            Role::Inline
        }
        "Sheet" => Role::Section,
        "Name" if path.ends_with("/Sheet/") => Role::Line,
        "Cell" => cell(tag),
        "title" => Role::Value(Field::Title),
        "creator" | "initial-creator" => Role::Value(Field::Author),
        "description" | "subject" => Role::Value(Field::Description),
        "keyword" => Role::Value(Field::Keywords),
        "creation-date" => Role::Date(Field::Created),
        "date" => Role::Date(Field::Date),
        _ => Role::Skip,
    }
}

/// Returns the role of a cell. A cell without a value type is a formula, whose result is not in the
/// file.
fn cell(tag: &Start<'_>) -> Role {
    if tag.attribute("ValueType").is_none() {
        return Role::Skip;
    }
    let at = |name| tag.number(name).unwrap_or_default();
    Role::CellAt(at("Row"), at("Col"))
}
