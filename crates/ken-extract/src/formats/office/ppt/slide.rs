//! The text of slides and of their notes, in slide order.

use std::collections::{HashMap, HashSet};

use super::previews::{self, Preview};
use super::record::{
    COMMENT, HEADERS, LINK, LINKS, MAIN_MASTER, NOTES, OUTLINE_REFERENCE, PLACEHOLDER, Record,
    SHAPE, SHAPE_DATA, SLIDE, SLIDE_ATOM, SLIDE_LIST, SLIDE_PERSIST, STRING, TAG_DATA, TEXT_BYTES,
    TEXT_HEADER, TEXT_UNITS, number, records,
};
use super::tables::Tables;
use crate::formats::office::art;
use crate::output::body::Body;
use crate::text::code_page;
use crate::{Error, Limits};

/// Maximum depth of records; groups of shapes are never nested so deep.
const MAX_DEPTH: usize = 64;
/// More objects than any presentation has.
const MAX_PREVIEWS: usize = 10_000;
/// How often, on average, each byte of the stream may be read.
const MAX_REREADS: usize = 4;

/// The text of a presentation.
pub(super) struct SlideText {
    /// The text, with a form feed between slides.
    pub(super) body: String,
    pub(super) n_slides: usize,
    /// The pictures that stand for objects.
    pub(super) previews: Vec<Preview>,
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
        is_master: false,
        previews: Vec::new(),
        failure: None,
    };
    match tables.document(stream) {
        Some(document) => reader.show(&document, tables, stream),
        None => reader.all_slides(stream),
    }
    SlideText {
        body: reader.body.finish(),
        n_slides: reader.n_slides,
        previews: reader.previews,
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
    /// Whether a master is read, whose placeholders are prompts.
    is_master: bool,
    previews: Vec<Preview>,
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
        let masters: HashMap<u32, u32> = lists(1).map(|master| (master.id, master.part)).collect();
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
                let master = master_of(&record).and_then(|id| masters.get(&id));
                if let Some(part) = master.filter(|part| seen.insert(**part))
                    && let Some(record) = tables.part(stream, *part)
                {
                    self.master(record);
                }
                let notes = notes_of(&record).and_then(|id| notes.get(&id));
                if let Some(part) = notes.filter(|part| seen.insert(**part))
                    && let Some(record) = tables.part(stream, *part)
                {
                    self.walk(record, 0);
                }
            }
            self.rest_of_outline();
        }
        for record in records(document.data) {
            match record.kind {
                HEADERS => self.headers(&record),
                LINKS => self.links(&record),
                _ => {}
            }
        }
    }

    fn master(&mut self, record: Record<'_>) {
        self.is_master = true;
        self.walk(record, 0);
        self.is_master = false;
    }

    /// Adds headers, footers and dates, which slides repeat, once.
    fn headers(&mut self, headers: &Record<'_>) {
        for string in records(headers.data).filter(|inner| inner.kind == STRING) {
            self.body.once(code_page::utf16(string.data).trim());
        }
    }

    /// Adds the targets of links (MS-PPT 2.10.16).
    fn links(&mut self, links: &Record<'_>) {
        const TARGET: u16 = 1;
        for link in records(links.data).filter(|record| record.kind == LINK) {
            let is_target = |inner: &Record<'_>| inner.kind == STRING && inner.instance == TARGET;
            if let Some(target) = records(link.data).find(is_target) {
                self.body.link(&code_page::utf16(target.data));
            }
        }
        self.body.end_paragraph();
    }

    /// Adds a comment with its author (MS-PPT 2.5.25).
    fn comment(&mut self, comment: &Record<'_>) {
        let string = |instance: u16| {
            let is_it = |inner: &Record<'_>| inner.kind == STRING && inner.instance == instance;
            let found = records(comment.data).find(is_it);
            found
                .map(|found| code_page::utf16(found.data).into_owned())
                .unwrap_or_default()
        };
        let (author, text) = (string(0), string(1));
        match author.trim() {
            "" => self.add(&text),
            author => self.add(&format!("{author}: {text}")),
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
                MAIN_MASTER => self.master(record),
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
            COMMENT => self.comment(&record),
            HEADERS => self.headers(&record),
            SHAPE if self.is_master && is_placeholder(&record) => {}
            kind if record.has_records || kind == TAG_DATA => {
                if kind == SHAPE && self.previews.len() < MAX_PREVIEWS {
                    self.previews.extend(previews::of_shape(&record));
                }
                for inner in records(record.data) {
                    self.walk(inner, depth + 1);
                }
            }
            kind if !self.is_master => {
                let properties = art::properties(kind, record.instance, record.data);
                if let Some(description) = properties.and_then(|found| found.description) {
                    self.add(&description);
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

/// Returns whether a shape is a placeholder.
fn is_placeholder(shape: &Record<'_>) -> bool {
    records(shape.data)
        .filter(|inner| inner.kind == SHAPE_DATA)
        .any(|data| records(data.data).any(|inner| inner.kind == PLACEHOLDER))
}

/// Returns the identifier of a slide's master.
fn master_of(slide: &Record<'_>) -> Option<u32> {
    identifier(slide, 12)
}

/// Returns the identifier of a slide's notes.
fn notes_of(slide: &Record<'_>) -> Option<u32> {
    identifier(slide, 16)
}

fn identifier(slide: &Record<'_>, at: usize) -> Option<u32> {
    let mut inner = records(slide.data);
    let atom = inner.find(|record| record.kind == SLIDE_ATOM)?;
    number(atom.data, at).filter(|&id| id != 0)
}

/// Decodes characters whose upper bytes are zero.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
