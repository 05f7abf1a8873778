//! Documents in XML, read by rules: the meaning of each element in a *dialect* (DocBook,
//! FictionBook, SVG …).
//!
//! One loop reads all dialects. It keeps the names of the open elements as a path, asks the dialect
//! for the role of each element, and writes the body and the fields. Damaged XML yields its text by
//! the rules up to the damage, and the raw rest.

pub(in crate::formats) mod abiword;
pub(in crate::formats) mod docbook;
pub(in crate::formats) mod drawio;
pub(in crate::formats) mod evernote;
pub(in crate::formats) mod excel2003;
pub(in crate::formats) mod feed;
pub(in crate::formats) mod fictionbook;
pub(in crate::formats) mod general;
pub(in crate::formats) mod gnucash;
pub(in crate::formats) mod gnumeric;
pub(in crate::formats) mod indesign;
pub(in crate::formats) mod jats;
pub(in crate::formats) mod koffice;
pub(in crate::formats) mod opml;
pub(in crate::formats) mod plist;
pub(in crate::formats) mod svg;
pub(in crate::formats) mod tei;
pub(in crate::formats) mod xps;

use ken_core::{Document, Field};

use crate::formats::web::html::html_to_text;
use crate::input::text::read_bytes;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::first_values::FirstValues;
use crate::structure::xml::decode_xml;
use crate::structure::xml::{Node, Start, Xml};
use crate::text::encoded::without_data;
use crate::{Error, Input, date};

/// Maximum length of a name that a dialect knows; the path is examined at each tag.
const MAX_NAME_BYTES: usize = 64;

/// The meaning of an element.
#[derive(Clone, Copy)]
enum Role {
    /// Part of the surrounding line.
    Inline,
    /// The same, but text that stands in it itself is none.
    Frame,
    /// A separate line.
    Line,
    /// A line, unless text touches it: an unknown element.
    Free,
    /// A separate section: chapter, sheet, page.
    Section,
    Row,
    Cell,
    /// A cell of the row with this number, in dialects without elements for rows.
    CellOf(usize),
    /// A cell of a grid by its row and its column, both counted from 0.
    CellAt(usize, usize),
    /// A cell of a grid in its column, if it is named, else in the next one; it covers so many columns to its right, too.
    GridCell(Option<usize>, usize),
    /// Left out, with everything in it.
    Skip,
    /// A line that is also the value of a field.
    Heading(Field),
    /// The value of a field, not part of the body.
    Value(Field),
    /// The same, with each inner element as a word: first name, last name.
    Words(Field),
    /// A date, not part of the body.
    Date(Field),
    /// A line whose text is converted.
    TurnedLine(fn(&str) -> String),
    /// A cell whose text is converted.
    TurnedCell(fn(&str) -> String),
}

/// How documents in one dialect are read.
struct Dialect {
    /// Returns the role of an element below the path of its ancestors (`book/chapter/`); may add
    /// values of its attributes to the document.
    role: fn(path: &str, tag: &Start<'_>, document: &mut Document) -> Role,
    /// Returns whether an attribute is text for people.
    is_text: fn(element: &str, attribute: &str, value: &str) -> bool,
}

/// An `is_text` for dialects whose attributes hold no text.
fn no_attribute(_: &str, _: &str, _: &str) -> bool {
    false
}

/// Reads an input that is XML of this dialect; returns the number of its sections.
fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
    dialect: &Dialect,
) -> Result<usize, Error> {
    let (bytes, whole) = read_bytes(input, output.limits())?;
    let text = decode_xml(bytes);
    let mut body = Body::new(output.limits().max_text_bytes);
    let mut reading = Conversion::new(dialect, output.own(), &mut body);
    let result = reading.read(&text);
    let n_sections = reading.n_sections;
    body.finish_into(output.own());
    whole.and(result).map(|()| n_sections)
}

/// The state of reading one document.
struct Conversion<'a> {
    dialect: &'a Dialect,
    document: &'a mut Document,
    body: &'a mut Body,
    first: FirstValues,
    /// Names of the open elements, each followed by a slash.
    path: String,
    roles: Vec<Role>,
    row: Option<usize>,
    /// The column of the next cell of a grid.
    column: usize,
    /// Whether a cell has begun but has no text yet.
    is_cell_start: bool,
    n_sections: usize,
    /// Number of tags since the last text; white space does not count as text.
    n_tags: usize,
}

impl<'a> Conversion<'a> {
    fn new(dialect: &'a Dialect, document: &'a mut Document, body: &'a mut Body) -> Self {
        Self {
            dialect,
            document,
            body,
            first: FirstValues::default(),
            path: String::new(),
            roles: Vec::new(),
            row: None,
            column: 0,
            is_cell_start: false,
            n_sections: 0,
            n_tags: 0,
        }
    }

    /// Reads until the end, or until the body is full.
    fn read(&mut self, text: &str) -> Result<(), Error> {
        let mut xml = Xml::new(text);
        loop {
            match xml.next() {
                Ok(Some(node)) => self.node(node, &mut xml)?,
                Ok(None) => break,
                Err(error) => {
                    self.body.end_paragraph();
                    self.body.push_folded(xml.rest());
                    return Err(error);
                }
            }
            if self.body.is_full() {
                break;
            }
        }
        self.body.end_paragraph();
        xml.whole()
    }

    fn node(&mut self, node: Node<'_>, xml: &mut Xml<'_>) -> Result<(), Error> {
        match node {
            Node::Start(tag) => self.start(&tag, xml),
            Node::End(_) => {
                self.n_tags += 1;
                self.end();
                Ok(())
            }
            Node::Text(text) => {
                self.text(&text);
                Ok(())
            }
        }
    }

    fn text(&mut self, text: &str) {
        if matches!(self.roles.last(), Some(Role::Frame)) {
            return;
        }
        let text = &*without_data(text);
        let is_free = matches!(self.roles.last(), Some(Role::Free));
        if is_free && text.trim_ascii().is_empty() {
            self.body.push_folded(text);
            return;
        }
        // Only one tag is between two texts, so they are parts of one sentence.
        if is_free && self.n_tags > 1 {
            self.begin_line();
        }
        self.n_tags = 0;
        self.is_cell_start &= text.trim_ascii().is_empty();
        self.body.push_folded(text);
    }

    /// Ends the previous line, but not the previous cell.
    fn begin_line(&mut self) {
        if !self.is_cell_start {
            self.body.end_paragraph();
        }
    }

    fn start(&mut self, tag: &Start<'_>, xml: &mut Xml<'_>) -> Result<(), Error> {
        self.n_tags += 1;
        if self.path.is_empty() {
            self.language(tag);
        }
        let role = (self.dialect.role)(&self.path, tag, self.document);
        match role {
            Role::Inline | Role::Frame | Role::Free => {}
            Role::Line => self.begin_line(),
            Role::Section => self.section(),
            Role::Row => {
                self.column = 0;
                self.body.begin_row();
            }
            Role::Cell => self.begin_cell(),
            Role::CellOf(row) => {
                self.go_to_row(row);
                self.begin_cell();
            }
            Role::CellAt(row, column) => {
                self.go_to_row(row);
                self.begin_cell_at(column);
            }
            Role::GridCell(column, n_covered) => {
                let column = column.unwrap_or(self.column);
                self.column = column.saturating_add(n_covered).saturating_add(1);
                self.begin_cell_at(column);
            }
            Role::Skip => return xml.skip(),
            Role::Heading(field) => {
                let text = xml.text()?;
                self.value(field, &text);
                self.line(&text);
                return Ok(());
            }
            Role::Value(field) => {
                let text = xml.text()?;
                self.value(field, &text);
                return Ok(());
            }
            Role::Words(field) => {
                let words = xml.words()?;
                self.value(field, &words);
                return Ok(());
            }
            Role::Date(field) => {
                let text = xml.text()?;
                self.date(field, &text);
                return Ok(());
            }
            Role::TurnedLine(turn) => {
                let text = xml.text()?;
                self.begin_line();
                self.body.push(turn(&text).trim());
                self.body.end_paragraph();
                return Ok(());
            }
            Role::TurnedCell(turn) => {
                let text = xml.text()?;
                self.body.begin_cell();
                self.body.push(turn(&text).trim());
                self.body.end_cell();
                return Ok(());
            }
        }
        self.attributes(tag, matches!(role, Role::Free));
        let name = tag.name();
        self.path
            .push_str(&name[..name.floor_char_boundary(MAX_NAME_BYTES)]);
        self.path.push('/');
        self.roles.push(role);
        Ok(())
    }

    fn end(&mut self) {
        let end = self.path.trim_end_matches('/');
        let end = end.rfind('/').map_or(0, |slash| slash + 1);
        self.path.truncate(end);
        match self.roles.pop() {
            Some(Role::Line | Role::Section) => self.body.end_paragraph(),
            Some(Role::Cell | Role::CellOf(_) | Role::CellAt(..) | Role::GridCell(..)) => {
                self.is_cell_start = false;
                self.body.end_cell();
            }
            Some(Role::Row) => self.body.end_row(),
            _ => {}
        }
    }

    fn section(&mut self) {
        if self.n_sections > 0 {
            self.body.end_page();
        }
        self.n_sections += 1;
        self.row = None;
    }

    fn go_to_row(&mut self, row: usize) {
        if self.row != Some(row) {
            self.body.end_row();
            self.body.begin_row();
            self.row = Some(row);
        }
    }

    fn begin_cell(&mut self) {
        self.body.begin_cell();
        self.is_cell_start = true;
    }

    fn begin_cell_at(&mut self, column: usize) {
        self.body.begin_cell_at(column);
        self.is_cell_start = true;
    }

    fn line(&mut self, text: &str) {
        self.begin_line();
        self.is_cell_start = false;
        self.body.push_folded(text);
        self.body.end_paragraph();
    }

    /// Takes the language from the root element.
    fn language(&mut self, tag: &Start<'_>) {
        if let Some(language) = tag.attribute("lang") {
            self.document.add_text(Field::Lang, &language);
        }
    }

    /// Adds the attributes that are text: as lines, or after the line that contains the element.
    fn attributes(&mut self, tag: &Start<'_>, is_aside: bool) {
        for (name, value) in tag.attributes() {
            if !(self.dialect.is_text)(tag.name(), name, &value) {
                continue;
            }
            let value = without_data(&value);
            if is_aside {
                self.body.begin_aside();
                self.body.push_folded(&value);
                self.body.end_aside();
            } else {
                self.line(&value);
            }
        }
    }

    /// Adds a value; of titles, only the first one.
    fn value(&mut self, field: Field, text: &str) {
        match field {
            Field::Headings => self.body.note_heading(text),
            Field::Title => self.first.add_text(self.document, field, text),
            _ => self.document.add_text(field, text),
        }
    }

    fn date(&mut self, field: Field, text: &str) {
        if let Some(seconds) = date::iso(text).or_else(|| date::mail(text)) {
            self.first.add_number(self.document, field, seconds);
        }
    }
}

/// Converts text that is escaped HTML.
fn html(text: &str) -> String {
    html_to_text(text.as_bytes(), Some("utf-8")).body
}

#[cfg(test)]
mod tests;
