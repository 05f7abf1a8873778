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
        cell: 0,
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
    /// The number of columns of the table, and the number of the next cell.
    columns: usize,
    cell: usize,
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
                self.cell = 0;
            }
            "grid" => {
                self.columns = tag.number("numcols").unwrap_or(1).max(1);
                self.cell = 0;
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

    /// Adds a cell. Empty cells have elements of their own, which are not needed: rows matter less than words.
    fn cell(&mut self, value: &str) {
        if self.cell.is_multiple_of(self.columns) {
            self.body.end_row();
            self.body.begin_row();
        }
        self.cell += 1;
        self.body.begin_cell();
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
            "tabular-model" => self.body.end_row(),
            _ => {}
        }
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
