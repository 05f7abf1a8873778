//! The text of slides and of their notes, in slide order.

use std::collections::{HashMap, HashSet};

use super::record::{
    COMMENT, HEADERS, NOTES, OUTLINE_REFERENCE, Record, SLIDE, SLIDE_ATOM, SLIDE_LIST,
    SLIDE_PERSIST, STRING, TAG_DATA, TEXT_BYTES, TEXT_HEADER, TEXT_UNITS, number, records,
};
use super::tables::Tables;
use crate::output::body::Body;
use crate::text::code_page;
use crate::{Error, Limits};

/// Maximum depth of records; groups of shapes are never nested so deep.
const MAX_DEPTH: usize = 64;
/// How often, on average, each byte of the stream may be read.
const MAX_REREADS: usize = 4;

/// The text of a presentation.
pub(super) struct SlideText {
    /// The text, with a form feed between slides.
    pub(super) body: String,
    pub(super) n_slides: usize,
    /// Why some text was not read.
    pub(super) failure: Option<Error>,
}

/// Returns the text.
pub(super) fn text(tables: &Tables, stream: &[u8], limits: &Limits) -> SlideText {
    let mut reader = SlideReader {
        body: Body::new(limits.max_text_bytes),
        outline: Vec::new(),
        budget: stream.len().saturating_mul(MAX_REREADS),
        n_slides: 0,
        failure: None,
    };
    match tables.document(stream) {
        Some(document) => reader.show(&document, tables, stream),
        None => reader.all_slides(stream),
    }
    SlideText {
        body: reader.body.finish(),
        n_slides: reader.n_slides,
        failure: reader.failure,
    }
}

/// A slide or a page of notes in a list.
#[derive(Default)]
struct Listed {
    part: u32,
    id: u32,
    /// The texts of its outline.
    outline: Vec<String>,
}

struct SlideReader {
    body: Body,
    /// The texts of the slide that are in the list of slides instead; taken when used.
    outline: Vec<String>,
    budget: usize,
    n_slides: usize,
    failure: Option<Error>,
}

impl SlideReader {
    fn show(&mut self, document: &Record<'_>, tables: &Tables, stream: &[u8]) {
        let lists = |instance: u16| {
            let is_it =
                move |list: &Record<'_>| list.kind == SLIDE_LIST && list.instance == instance;
            records(document.data)
                .filter(is_it)
                .flat_map(|list| listed(&list))
        };
        let notes: HashMap<u32, u32> = lists(2).map(|notes| (notes.id, notes.part)).collect();
        let mut seen = HashSet::new();
        for slide in lists(0) {
            if !seen.insert(slide.part) {
                continue;
            }
            self.begin_slide();
            self.outline = slide.outline;
            if let Some(record) = tables.part(stream, slide.part) {
                self.walk(record, 0);
                self.rest_of_outline();
                let notes = notes_of(&record).and_then(|id| notes.get(&id));
                if let Some(part) = notes.filter(|part| seen.insert(**part))
                    && let Some(record) = tables.part(stream, *part)
                {
                    self.walk(record, 0);
                }
            }
            self.rest_of_outline();
        }
    }

    /// Reads slides and notes in stream order.
    fn all_slides(&mut self, stream: &[u8]) {
        for record in records(stream) {
            match record.kind {
                SLIDE => {
                    self.begin_slide();
                    self.walk(record, 0);
                }
                NOTES => self.walk(record, 0),
                _ => {}
            }
        }
    }

    fn begin_slide(&mut self) {
        if self.n_slides > 0 {
            self.body.end_page();
        }
        self.n_slides += 1;
    }

    fn rest_of_outline(&mut self) {
        for text in std::mem::take(&mut self.outline) {
            self.add(&text);
        }
    }

    fn walk(&mut self, record: Record<'_>, depth: usize) {
        // The outermost record includes the cost of inner records.
        if depth == 0 {
            let Some(budget) = self.budget.checked_sub(record.data.len()) else {
                let cause = "slides overlap";
                self.failure = Some(Error::Malformed(cause.into()));
                return;
            };
            self.budget = budget;
        }
        if depth > MAX_DEPTH {
            let cause = format!("records are nested deeper than {MAX_DEPTH}");
            self.failure = Some(Error::built_in(cause));
            return;
        }
        if self.body.is_full() {
            return;
        }
        match record.kind {
            TEXT_UNITS => self.add(&code_page::utf16(record.data)),
            TEXT_BYTES => self.add(&latin(record.data)),
            OUTLINE_REFERENCE => {
                let position = number(record.data, 0).unwrap_or(u32::MAX) as usize;
                if let Some(text) = self.outline.get_mut(position) {
                    let text = std::mem::take(text);
                    self.add(&text);
                }
            }
            COMMENT | HEADERS => {
                for string in records(record.data).filter(|inner| inner.kind == STRING) {
                    self.add(&code_page::utf16(string.data));
                }
            }
            kind if record.has_records || kind == TAG_DATA => {
                for inner in records(record.data) {
                    self.walk(inner, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        // A star is a placeholder for the slide number or the date.
        if matches!(text.trim(), "" | "*") {
            return;
        }
        let is_line_end = |c: char| matches!(c, '\r' | '\u{b}' | '\n');
        for line in text.split(is_line_end) {
            let line = line.replace(|c: char| c.is_control() && c != '\t', " ");
            if !line.trim().is_empty() {
                self.body.line(&line);
            }
        }
    }
}

/// Returns the slides of a list with their outlines.
fn listed(list: &Record<'_>) -> Vec<Listed> {
    let mut slides: Vec<Listed> = Vec::new();
    for record in records(list.data) {
        if record.kind == SLIDE_PERSIST {
            slides.push(Listed {
                part: number(record.data, 0).unwrap_or(0),
                id: number(record.data, 12).unwrap_or(0),
                outline: Vec::new(),
            });
        }
        let Some(slide) = slides.last_mut() else {
            continue;
        };
        let text = match record.kind {
            TEXT_HEADER => {
                slide.outline.push(String::new());
                continue;
            }
            TEXT_UNITS => code_page::utf16(record.data).into_owned(),
            TEXT_BYTES => latin(record.data),
            _ => continue,
        };
        if let Some(last) = slide.outline.last_mut() {
            last.push_str(&text);
        }
    }
    slides
}

/// Returns the identifier of a slide's notes.
fn notes_of(slide: &Record<'_>) -> Option<u32> {
    let mut inner = records(slide.data);
    let atom = inner.find(|record| record.kind == SLIDE_ATOM)?;
    number(atom.data, 16).filter(|&id| id != 0)
}

/// Decodes characters whose upper bytes are zero.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
