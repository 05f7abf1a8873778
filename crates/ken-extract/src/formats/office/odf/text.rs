//! The text of OpenDocument: paragraphs, tables, sheets and slides.

use base64ct::{Base64, Encoding};
use ken_core::Document;

use super::styles::Styles;
use crate::formats::office::spreadsheet::workbook::add_cell_names;
use crate::output::body::{Body, is_note_number};
use crate::output::metadata::set_pages;
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Limits};

/// Maximum number of consecutive spaces that are kept.
const MAX_SPACES: usize = 64;

/// Reads the text of one document.
pub(super) struct OdfReader {
    pub(super) body: Body,
    /// Number of open paragraphs; text belongs to the document only inside one.
    pub(super) paragraphs: usize,
    /// The value of `paragraphs` outside each open note, comment and text box, and whether that one
    /// was moved aside.
    pub(super) asides: Vec<(usize, bool)>,
    pub(super) styles: Styles,
    /// Whether the text that follows is raised.
    pub(super) is_raised: bool,
    pub(super) is_text: bool,
    pub(super) is_sheet: bool,
    pub(super) tables: usize,
    /// The column of the next cell of a sheet.
    column: usize,
    /// Number of slides or sheets so far.
    pub(super) pages: usize,
    /// The parts with objects of OLE, and the objects within a flat file.
    pub(super) objects: Vec<String>,
    pub(super) embedded: Vec<Vec<u8>>,
    pub(super) in_object: bool,
    /// The targets of the open links.
    pub(super) links: Vec<String>,
    /// The names that the user gave to cells.
    pub(super) cell_names: Vec<String>,
}

impl OdfReader {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            body: Body::new(limits.max_text_bytes),
            paragraphs: 0,
            asides: Vec::new(),
            styles: Styles::default(),
            is_raised: false,
            is_text: false,
            is_sheet: false,
            tables: 0,
            column: 0,
            pages: 0,
            objects: Vec::new(),
            embedded: Vec::new(),
            in_object: false,
            links: Vec::new(),
            cell_names: Vec::new(),
        }
    }

    pub(super) fn finish(mut self, document: &mut Document) {
        add_cell_names(&self.cell_names, &mut self.body);
        self.body.finish_into(document);
        if self.pages > 0 {
            set_pages(document, self.pages);
        }
    }

    pub(super) fn read(&mut self, text: &str) -> Result<(), Error> {
        self.read_from(&mut Xml::new(text))
    }

    /// Reads until the end, or until the body is full.
    fn read_from(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        while let Some(node) = xml.next()? {
            match node {
                Node::Text(text) if self.paragraphs > 0 => self.push(&text),
                Node::Text(_) => {}
                Node::Start(tag) if self.in_object && tag.full_name() == "office:binary-data" => {
                    let base64: String = xml.text()?.split_whitespace().collect();
                    self.embedded.extend(Base64::decode_vec(&base64));
                }
                Node::Start(tag) if is_skipped(&tag) => xml.skip()?,
                Node::Start(tag) if tag.full_name() == "dc:creator" => {
                    let author = xml.text()?;
                    self.author(author.trim());
                }
                Node::Start(tag) if matches!(tag.full_name(), "svg:title" | "svg:desc") => {
                    let text = xml.text()?;
                    self.describe(&text);
                }
                Node::Start(tag) => self.start(&tag),
                Node::End(tag) => self.end(tag.name()),
            }
            if self.body.is_full() {
                break;
            }
        }
        self.body.end_paragraph();
        xml.whole()
    }

    /// Reads the text of an embedded object, which has no pages.
    pub(super) fn read_object(&mut self, text: &str) -> Result<(), Error> {
        (self.paragraphs, self.tables, self.is_sheet) = (0, 1, false);
        self.asides.clear();
        let pages = self.pages;
        let result = self.read(text);
        self.pages = pages;
        result
    }

    fn push(&mut self, text: &str) {
        if self.is_raised && is_note_number(self.body.joined(), text) {
            self.body.push(" ");
        }
        self.body.push_folded(text);
    }

    pub(super) fn start(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "span" => {
                let style = tag.attribute("style-name");
                self.is_raised = style.is_some_and(|style| self.styles.raised.contains(&*style));
            }
            "ruby" => self.body.begin_ruby(),
            "ruby-text" => self.body.begin_reading(),
            "object-ole" => {
                self.in_object = true;
                let part = tag.attribute("href").unwrap_or_default();
                self.objects.push(part.trim_start_matches("./").to_owned());
            }
            "a" => self
                .links
                .push(tag.attribute("href").unwrap_or_default().into_owned()),
            "content-validation" => {
                let condition = tag.attribute("condition").unwrap_or_default();
                self.body.once(&choices(&condition));
            }
            "help-message" | "error-message" => {
                self.body.once(&tag.attribute("title").unwrap_or_default());
            }
            "named-range" | "named-expression" => {
                let name = tag.attribute("name").unwrap_or_default().into_owned();
                self.cell_names.push(name);
            }
            "text-properties" => self.styles.note_position(tag),
            "p" => self.start_paragraph(tag),
            "h" => {
                self.start_paragraph(tag);
                self.body.begin_heading();
            }
            "s" => {
                let spaces = tag.number("c").unwrap_or(1).min(MAX_SPACES);
                self.body.push(&" ".repeat(spaces));
            }
            "tab" => self.body.push("\t"),
            "line-break" => self.body.push("\n"),
            "soft-page-break" => self.body.break_page(),
            "text" if tag.full_name() == "office:text" => self.is_text = true,
            "spreadsheet" => self.is_sheet = true,
            // OpenOffice 1 has an attribute where OpenDocument has an element.
            "document-content" => match tag.attribute("class").as_deref() {
                Some("text") => self.is_text = true,
                Some("spreadsheet") => self.is_sheet = true,
                _ => {}
            },
            "table" => self.start_table(tag),
            "table-row" => {
                self.column = 0;
                self.body.begin_row();
            }
            "table-cell" | "covered-table-cell" => self.start_cell(tag),
            "page" if tag.full_name() == "draw:page" => self.start_page(),
            "note-body" | "footnote-body" | "endnote-body" | "annotation" | "text-box" => {
                self.start_aside();
            }
            "style" | "paragraph-properties" => self.styles.note_page(tag),
            _ => {}
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        match name {
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if name == "h" {
                    self.body.end_heading();
                }
                self.body.end_paragraph();
            }
            "span" => self.is_raised = false,
            "object-ole" => self.in_object = false,
            "a" => {
                if let Some(target) = self.links.pop() {
                    self.body.link(&target);
                }
            }
            "ruby" => self.body.end_ruby(),
            "ruby-text" => self.body.end_reading(),
            "table" => self.tables = self.tables.saturating_sub(1),
            "table-row" => self.body.end_row(),
            "table-cell" | "covered-table-cell" => self.body.end_cell(),
            "note-body" | "footnote-body" | "endnote-body" | "annotation" | "text-box" => {
                self.end_aside();
            }
            _ => {}
        }
    }

    fn start_paragraph(&mut self, tag: &Start<'_>) {
        self.paragraphs += 1;
        if self.is_text
            && !self.styles.of_pages.is_empty()
            && let Some(style) = tag.attribute("style-name")
            && self.styles.of_pages.contains(&*style)
        {
            self.body.break_page();
        }
    }

    fn start_table(&mut self, tag: &Start<'_>) {
        self.tables += 1;
        if self.is_sheet && self.tables == 1 {
            self.start_page();
            self.body.line(&tag.attribute("name").unwrap_or_default());
        }
    }

    /// Begins a cell. In sheets one element stands for all cells that are alike.
    fn start_cell(&mut self, tag: &Start<'_>) {
        if !self.is_sheet || self.tables != 1 || !self.asides.is_empty() {
            return self.body.begin_cell();
        }
        self.body.begin_cell_at(self.column);
        let n_cells = tag.number("number-columns-repeated").unwrap_or(1).max(1);
        self.column = self.column.saturating_add(n_cells);
    }

    fn start_page(&mut self) {
        if self.pages > 0 {
            self.body.end_page();
        }
        self.pages += 1;
    }
}

/// Returns the choices of a rule for cells, as lines: `…cell-content-is-in-list("red";"blue")`.
fn choices(condition: &str) -> String {
    let list = condition.split_once("cell-content-is-in-list(");
    let quoted = list
        .map_or("", |(_, list)| list)
        .split('"')
        .skip(1)
        .step_by(2);
    quoted.collect::<Vec<_>>().join("\n")
}

/// Returns whether an element is skipped: deleted text, templates of indexes, elements in
/// paragraphs that are not their text, and copies of cells of other files, which formulas use and nobody sees.
pub(super) fn is_skipped(tag: &Start<'_>) -> bool {
    match tag.full_name() {
        "dc:date" | "meta:date-string" | "meta:creator-initials" | "chart:label-separator" => true,
        "office:meta" | "office:master-styles" | "office:forms" | "office:binary-data" => true,
        "text:tracked-changes" | "text:note-citation" | "text:page-number" => true,
        "text:footnote-citation" | "text:endnote-citation" => true,
        "table:table" => tag
            .attribute("name")
            .is_some_and(|name| name.starts_with('\'') && name.contains("'#")),
        name => name.starts_with("text:") && name.ends_with("-source"),
    }
}
