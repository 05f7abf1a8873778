//! iWork '05 to '09: one XML part, `index.xml` or `index.apxl` (Apple's *iWork Programming Guide*, 2009).
//!
//! Pages and Keynote hold paragraphs, Numbers the values of cells in the order of rows. Masters and prototypes hold sample text.

use ken_core::{Document, Field};

use crate::Error;
use crate::output::body::Body;
use crate::output::metadata::add_once;
use crate::structure::xml::{Node, Start, Xml};

/// The parts that may hold a document.
pub(super) const PARTS: [&str; 2] = ["index.xml", "index.apxl"];

/// Adds text and properties to a document.
pub(super) fn read(text: &str, max_bytes: usize, document: &mut Document) -> Result<(), Error> {
    let mut reader = Reader {
        body: Body::new(max_bytes),
        paragraphs: 0,
        property: None,
        slides: 0,
        columns: 1,
        cell: (0, 0),
        depth_of_cells: None,
    };
    let result = reader.read(&mut Xml::new(text), document);
    document.body = reader.body.finish();
    result
}

struct Reader {
    body: Body,
    /// Number of open paragraphs.
    paragraphs: usize,
    /// The field whose values are elements.
    property: Option<Field>,
    slides: usize,
    /// The number of columns of the table, and the row and the column of the cell.
    columns: usize,
    cell: (usize, usize),
    /// Number of open elements among the cells of a table.
    depth_of_cells: Option<usize>,
}

impl Reader {
    fn read(&mut self, xml: &mut Xml<'_>, document: &mut Document) -> Result<(), Error> {
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) if self.paragraphs > 0 => self.body.push_folded(&text),
                Node::Text(_) => {}
                Node::Start(tag) if is_skipped(tag.name()) => xml.skip()?,
                Node::Start(tag) => self.start(&tag, document),
                Node::End(tag) => self.end(tag.name()),
            }
            if self.body.is_full() {
                break;
            }
        }
        xml.whole()
    }

    fn start(&mut self, tag: &Start<'_>, document: &mut Document) {
        if let Some(field) = property(tag.name()) {
            self.property = Some(field);
        }
        if let Some(depth) = &mut self.depth_of_cells {
            *depth += 1;
            if *depth == 1 {
                self.next_cell(tag);
            }
        }
        match tag.name() {
            "p" => self.paragraphs += 1,
            "br" | "lnbr" | "crbr" | "contbr" => self.body.push("\n"),
            "pgbr" | "sectbr" | "colbr" => self.body.break_page(),
            "tab" => self.body.push("\t"),
            "link" => self.body.link(&tag.attribute("href").unwrap_or_default()),
            "slide" => {
                if self.slides > 0 {
                    self.body.end_page();
                }
                self.slides += 1;
            }
            "workspace" => self
                .body
                .line(&tag.attribute("workspace-name").unwrap_or_default()),
            "tabular-model" => {
                self.body.line(&tag.attribute("name").unwrap_or_default());
            }
            "grid" => self.columns = tag.number("numcols").unwrap_or(1).max(1),
            "datasource" => {
                self.depth_of_cells = Some(0);
                self.cell = (0, 0);
                self.body.begin_row();
            }
            "string" if self.property.is_some() => {
                let value = tag.attribute("string").unwrap_or_default();
                self.property
                    .iter()
                    .for_each(|field| add_once(document, *field, &value));
            }
            "ct" => self.cell(&tag.attribute("s").unwrap_or_default()),
            "n" => self.cell(&tag.attribute("v").unwrap_or_default()),
            "d" => {
                let date = tag.attribute("cell-date").unwrap_or_default();
                self.cell(date.get(..10).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Goes to a cell: the next one, or after empty ones that have no element, as libetonyek reads it. From 128 on the
    /// number of cells to go is one to the left in the next row.
    fn next_cell(&mut self, tag: &Start<'_>) {
        let (row, column) = self.cell;
        // Columns are counted from 1, so that 0 stands before the first.
        self.cell = match tag.number("ct").filter(|n| (1..0x100).contains(n)) {
            Some(n @ 0x80..) => (row + 1, column.saturating_sub(0x100 - n)),
            Some(n) => (row, column + n),
            None if column == self.columns => (row + 1, 1),
            None => (row, column + 1),
        };
        if self.cell.0 != row {
            self.body.end_row();
            self.body.begin_row();
        }
    }

    fn cell(&mut self, value: &str) {
        self.body.begin_cell_at(self.cell.1.saturating_sub(1));
        self.body.push(value);
        self.body.end_cell();
    }

    fn end(&mut self, name: &str) {
        if property(name) == self.property {
            self.property = None;
        }
        match name {
            "p" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.body.end_paragraph();
            }
            "datasource" => {
                self.depth_of_cells = None;
                self.body.end_row();
            }
            _ => {}
        }
        self.depth_of_cells = self.depth_of_cells.map(|depth| depth.saturating_sub(1));
    }
}

/// Returns the field that an element of the metadata holds.
fn property(name: &str) -> Option<Field> {
    Some(match name {
        "authors" | "author" => Field::Author,
        "title" => Field::Title,
        "keywords" => Field::Keywords,
        "comment" => Field::Description,
        _ => return None,
    })
}

fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "stylesheet"
            | "theme-list"
            | "master-slides"
            | "prototypes"
            | "section-prototypes"
            | "prototype-drawables"
            | "placeholder-prototypes"
            | "calc-engine"
            | "data"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_tables_stay_in_their_columns() {
        let text = "<ls:document xmlns:sf='s' xmlns:sfa='a'><sf:tabular-model sf:name='Fares'><sf:grid sf:numcols='4' \
            sf:numrows='3'><sf:datasource><sf:t><sf:ct sfa:s='From'/></sf:t><sf:g/><sf:t sf:ct='2'><sf:ct sfa:s='Two&#10;\
            lines'/></sf:t><sf:n sf:ct='254' sf:v='1.5'/><sf:s/><sf:f><sf:r><sf:n sf:v='7'/></sf:r></sf:f>\
            <sf:d sf:cell-date='2024-03-01T12:00:00+0100'/></sf:datasource></sf:grid></sf:tabular-model></ls:document>";
        let mut document = Document::new(ken_core::Ipath::root(), "", ken_core::Kind::Document);
        read(text, 1000, &mut document).unwrap();
        assert_eq!(
            document.body,
            "Fares\nFrom\t\t\tTwo lines\n\t1.5\t\t7\n2024-03-01"
        );
    }
}
