//! Drawings for exchange (DXF, AutoCAD's reference of 2018): the texts of plans, in the form of text or in binary form.
//!
//! A file is a list of pairs: a number (the group code) and a value. Text of single lines, of paragraphs, of attributes of blocks, of
//! dimensions and leaders, and of tables is read, then the names of layers and the properties.

mod pairs;
mod text;

use ken_core::{Document, Field};

use crate::output::Output;
use crate::output::body::Body;
use crate::output::metadata::{add_once, keywords};
use crate::{Error, Format, Input};
use pairs::Pairs;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("DXF", &["image/vnd.dxf"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
    ]);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let Some(pairs) = Pairs::open(input.bytes(limits)?) else {
        return Err(Error::Malformed(
            "it does not begin with a group code".into(),
        ));
    };
    let mut reader = Reader {
        body: Body::new(limits.max_text_bytes),
        layers: Vec::new(),
        document: output.own(),
        section: String::new(),
        kind: String::new(),
        variable: String::new(),
        long: String::new(),
        awaits_name: false,
        has_end: false,
    };
    for (code, value) in pairs {
        reader.pair(code, &value);
        if reader.body.is_full() {
            break;
        }
    }
    let is_whole = reader.has_end || reader.body.is_full();
    reader.finish();
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("the drawing is cut off".into())),
    }
}

/// The most names of layers that are read.
const MAX_LAYERS: usize = 10_000;

struct Reader<'d> {
    body: Body,
    layers: Vec<String>,
    document: &'d mut Document,
    section: String,
    /// The kind of the entity, or of the entry of a table.
    kind: String,
    /// The variable of the header whose value follows.
    variable: String,
    /// The start of a text of several pairs.
    long: String,
    /// Whether the name of the section follows.
    awaits_name: bool,
    has_end: bool,
}

impl Reader<'_> {
    fn pair(&mut self, code: i32, value: &str) {
        // Spaces matter only where a text of several pairs goes on.
        if code == 3 && self.is_in_drawing() {
            return self.entity(code, value);
        }
        let value = value.trim();
        if code == 0 {
            self.end_long();
            self.awaits_name = value == "SECTION";
            self.has_end |= value == "EOF";
            value.clone_into(&mut self.kind);
        } else if std::mem::take(&mut self.awaits_name) && code == 2 {
            value.clone_into(&mut self.section);
        } else {
            match self.section.as_str() {
                "HEADER" => self.header(code, value),
                "TABLES" => self.table(code, value),
                _ if self.is_in_drawing() => self.entity(code, value),
                _ => {}
            }
        }
    }

    fn is_in_drawing(&self) -> bool {
        matches!(self.section.as_str(), "ENTITIES" | "BLOCKS")
    }

    /// Reads the properties of the drawing, and those that the user defined.
    fn header(&mut self, code: i32, value: &str) {
        if code == 9 {
            return value.clone_into(&mut self.variable);
        }
        let field = match (self.variable.as_str(), code) {
            ("$TITLE", 1) => Field::Title,
            ("$AUTHOR" | "$LASTSAVEDBY", 1) => Field::Author,
            ("$KEYWORDS", 1) => {
                let list = text::of_line(value);
                keywords(&list)
                    .for_each(|keyword| self.document.join_text(Field::Keywords, keyword));
                return;
            }
            ("$SUBJECT" | "$COMMENTS" | "$CUSTOMPROPERTY", 1) => Field::Description,
            _ => return,
        };
        add_once(self.document, field, &text::of_line(value));
    }

    fn table(&mut self, code: i32, value: &str) {
        let is_own = !matches!(value, "0" | "Defpoints" | "DEFPOINTS") && !value.starts_with('*');
        if self.kind == "LAYER" && code == 2 && is_own && self.layers.len() < MAX_LAYERS {
            self.layers.push(text::of_line(value));
        }
    }

    fn entity(&mut self, code: i32, value: &str) {
        match (self.kind.as_str(), code) {
            ("TEXT" | "ATTRIB" | "TOLERANCE" | "ARCALIGNEDTEXT", 1) => {
                self.body.line(&text::of_line(value));
            }
            // The template of an attribute: its prompt and its default.
            ("ATTDEF", 1 | 3) => self.body.once(&text::of_line(value)),
            // The measure itself is in the block that shows the dimension.
            ("DIMENSION", 1) if !value.contains("<>") => self.paragraphs(value),
            // The last piece of a long text has another code.
            ("MTEXT" | "ACAD_TABLE", 3) => self.long.push_str(value),
            ("MTEXT" | "ACAD_TABLE", 1) | ("ACAD_TABLE", 302) => {
                let long = std::mem::take(&mut self.long) + value;
                self.paragraphs(&long);
            }
            ("MULTILEADER" | "MLEADER", 304) => self.paragraphs(value),
            _ => {}
        }
    }

    fn end_long(&mut self) {
        let long = std::mem::take(&mut self.long);
        self.paragraphs(&long);
    }

    fn paragraphs(&mut self, value: &str) {
        for line in text::of_paragraphs(value).lines() {
            self.body.line(line);
        }
    }

    fn finish(mut self) {
        self.end_long();
        for layer in &self.layers {
            self.body.once(layer);
        }
        self.document.body = self.body.finish();
    }
}

#[cfg(test)]
mod tests;
