//! Workbooks of Excel 2002 and 2003 in XML (SpreadsheetML, Microsoft's "XML Spreadsheet Reference"): one
//! page per sheet, its cells as they are stored, comments with their authors, and names of cells.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "Excel 2003 XML",
    &["application/vnd.ms-spreadsheetml"],
    extract,
)
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
    is_text: |element, name, value| match (element, name) {
        ("Worksheet" | "NamedRange", "ss:Name") => !value.starts_with('_'),
        ("Cell", "ss:HRef") | ("Comment", "ss:Author") => true,
        _ => false,
    },
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let n_sheets = super::extract(input, output, &DIALECT)?;
    output.own().add_number(Field::Pages, n_sheets as i64);
    Ok(())
}

fn role(path: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    if path.ends_with("/DocumentProperties/") {
        return property(tag.name());
    }
    match tag.name() {
        "Workbook" | "DocumentProperties" | "Table" | "Names" | "NamedRange" | "Data" => {
            Role::Inline
        }
        "Worksheet" => Role::Section,
        "Row" => Role::Row,
        "Cell" => Role::GridCell(
            tag.number("Index").map(|number| number.saturating_sub(1)),
            tag.number("MergeAcross").unwrap_or_default(),
        ),
        "Comment" => Role::Line,
        // Formatting within a text.
        _ if path.ends_with("/Data/") || path.contains("/Data/") => Role::Inline,
        _ => Role::Skip,
    }
}

/// Returns the role of a property of the document, which Word 2003 names alike.
pub(in crate::formats) fn field_of_property(name: &str) -> Option<Field> {
    Some(match name {
        "Title" => Field::Title,
        "Author" | "LastAuthor" => Field::Author,
        "Subject" | "Description" | "Company" | "Manager" => Field::Description,
        "Keywords" | "Category" => Field::Keywords,
        "Created" => Field::Created,
        "LastSaved" => Field::Date,
        _ => return None,
    })
}

fn property(name: &str) -> Role {
    match field_of_property(name) {
        Some(field @ (Field::Created | Field::Date)) => Role::Date(field),
        Some(field) => Role::Value(field),
        None => Role::Skip,
    }
}
