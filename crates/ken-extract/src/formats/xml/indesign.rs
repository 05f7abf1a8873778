//! Stories of InDesign and InCopy (`icml`, `icms`, and within `idml`): Adobe's *IDML File Format Specification*.
//!
//! Text is in `Content`, paragraphs end with `Br`; all other text and all attributes are names of styles and preferences.

use ken_core::{Document, Field};

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("InDesign", &["application/x-indesign-story+xml"], extract).fields(&[Field::Title]);

const DIALECT: Dialect = Dialect {
    role,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(_: &str, tag: &Start<'_>, document: &mut Document) -> Role {
    match tag.name() {
        "Content" => Role::Inline,
        "Br" | "Note" | "Footnote" | "Endnote" => Role::Line,
        "Cell" => cell(&tag.attribute("Name").unwrap_or_default()),
        "Story" => {
            let title = tag.attribute("StoryTitle").unwrap_or_default();
            // InDesign writes its own name for none.
            if !title.is_empty() && !title.starts_with("$ID/") {
                document.add_text(Field::Title, &title);
            }
            Role::Frame
        }
        "Properties"
        | "RootCharacterStyleGroup"
        | "RootParagraphStyleGroup"
        | "RootTableStyleGroup"
        | "RootCellStyleGroup"
        | "RootObjectStyleGroup"
        | "XMLTag"
        | "Hyperlink" => Role::Skip,
        _ => Role::Frame,
    }
}

/// Returns the role of a cell by its name, which is its column and its row: `1:0`.
fn cell(name: &str) -> Role {
    let mut numbers = name.split(':').map(|number| number.parse().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(column), Some(row)) => Role::CellAt(row, column),
        _ => Role::Line,
    }
}
