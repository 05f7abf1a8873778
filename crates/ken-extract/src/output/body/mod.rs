//! Builds the text of a document as it is read: paragraphs, table rows, cells, pages and asides.
//!
//! Separators are written only between texts, so that empty paragraphs and cells cost nothing. An
//! aside (footnote, comment, text box) occurs inside a paragraph in the file but must not split it,
//! so it is held back and follows the paragraph or table row.

mod flow;
mod link;

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use ken_core::{Document, Field};

use super::grid;
use flow::Flow;
pub(crate) use link::{link_text, without_user};

/// Maximum number of headings that are kept.
pub(crate) const MAX_HEADINGS: usize = 1000;
pub(crate) const MAX_HEADING_BYTES: usize = 500;

/// Maximum number of different link targets that are kept.
const MAX_LINKS: usize = 10_000;
/// Longer targets are data.
const MAX_LINK_BYTES: usize = 2048;

/// Number of letters of a word from which a raised number behind it is that of a note. Powers and
/// units have shorter names: x², km².
const MIN_NOTED_LETTERS: usize = 4;

/// Returns whether raised text is the number or letter of a note, which does not belong to the word or
/// number before it.
pub(crate) fn is_note_number(before: &str, raised: &str) -> bool {
    let letters = before.chars().rev().take_while(|c| c.is_alphabetic());
    let follows_word = letters.take(MIN_NOTED_LETTERS).count() == MIN_NOTED_LETTERS;
    if raised.starts_with(|c: char| c.is_ascii_digit()) {
        return follows_word || before.ends_with(char::is_numeric);
    }
    let end = raised
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(raised.len());
    let mark = &raised[..end];
    let is_letter = mark.len() == 1 && mark.starts_with(|c: char| c.is_ascii_lowercase());
    let is_roman = !mark.is_empty() && mark.bytes().all(|byte| b"ivx".contains(&byte));
    follows_word && (is_letter || is_roman)
}

/// Receives text in the order of the file.
pub(crate) struct Body {
    main: Flow,
    aside: Flow,
    aside_depth: usize,
    /// Where the main text ended at the end of the last reading.
    reading_end: Option<usize>,
    cell_depth: usize,
    max_bytes: usize,
    headings: Vec<String>,
    /// Where the current heading begins.
    heading_start: Option<usize>,
    /// The targets of links in the paragraph, which follow it.
    links: Vec<String>,
    /// How many targets were kept.
    n_links: usize,
    /// Hashes of the link targets, and of the texts that stand once.
    seen: HashSet<u64>,
}

impl Body {
    /// Creates an empty body that holds little more than `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            main: Flow::default(),
            aside: Flow::default(),
            aside_depth: 0,
            reading_end: None,
            cell_depth: 0,
            max_bytes,
            headings: Vec::new(),
            heading_start: None,
            links: Vec::new(),
            n_links: 0,
            seen: HashSet::new(),
        }
    }

    /// Returns how much the body holds.
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Returns whether more text would only be cut off, so that reading may end.
    pub(crate) fn is_full(&self) -> bool {
        let n_empty = self.main.grid.n_empty();
        self.main.text.len() - n_empty + self.aside.text.len() > self.max_bytes
    }

    fn flow(&mut self) -> &mut Flow {
        if self.aside_depth > 0 {
            &mut self.aside
        } else {
            &mut self.main
        }
    }

    /// Adds text unchanged.
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() || self.is_full() {
            return;
        }
        match self.flow() {
            flow if flow.grid.is_in_cell() => flow.push_cell(text),
            flow => flow.push(text),
        }
    }

    /// Adds text with each run of white space reduced to one space.
    pub(crate) fn push_folded(&mut self, text: &str) {
        if !self.is_full() {
            self.flow().push_folded(text);
        }
    }

    /// Adds a separate line.
    pub(crate) fn line(&mut self, text: &str) {
        self.end_paragraph();
        self.push(text);
        self.end_paragraph();
    }

    /// Adds a separate line that is a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.line(text);
        self.note_heading(text);
    }

    /// Records a heading whose text is added by other means.
    pub(crate) fn note_heading(&mut self, text: &str) {
        if self.headings.len() < MAX_HEADINGS && !text.trim().is_empty() {
            self.headings.push(text.to_owned());
        }
    }

    /// Begins a heading: the text added from here on.
    pub(crate) fn begin_heading(&mut self) {
        if self.aside_depth == 0 {
            self.heading_start = Some(self.main.text.len());
        }
    }

    /// Ends the current heading, if any.
    pub(crate) fn end_heading(&mut self) {
        let Some(start) = self.heading_start.take() else {
            return;
        };
        // Longer text has the style of a heading but is none.
        if let Some(text) = self.main.text.get(start..)
            && text.len() <= MAX_HEADING_BYTES
        {
            let text = text.to_owned();
            self.note_heading(&text);
        }
    }

    pub(crate) fn end_paragraph(&mut self) {
        match self.flow() {
            flow if flow.grid.is_in_cell() => flow.end_line_of_cell(),
            flow => flow.pending = Some('\n'),
        }
        self.release_asides();
    }

    pub(crate) fn begin_row(&mut self) {
        let flow = self.flow();
        flow.row_start = flow.text.len();
    }

    pub(crate) fn begin_cell(&mut self) {
        self.cell_depth += 1;
    }

    /// Begins a cell of a grid by its column, counted from 0: each value stays in its column, and a row in its line.
    pub(crate) fn begin_cell_at(&mut self, column: usize) {
        let max_empty = self.max_bytes / 2;
        self.begin_cell();
        self.flow().grid.begin_cell(column, max_empty);
    }

    pub(crate) fn end_cell(&mut self) {
        self.cell_depth = self.cell_depth.saturating_sub(1);
        // An empty first cell must not turn the end of the previous row into a tab.
        let flow = self.flow();
        flow.grid.end_cell();
        if flow.text.len() > flow.row_start {
            flow.pending = Some('\t');
        }
    }

    pub(crate) fn end_row(&mut self) {
        self.end_paragraph();
    }

    pub(crate) fn is_in_cell(&self) -> bool {
        self.cell_depth > 0
    }

    pub(crate) fn begin_aside(&mut self) {
        self.aside_depth += 1;
        self.aside.pending = Some('\n');
    }

    pub(crate) fn end_aside(&mut self) {
        self.aside_depth = self.aside_depth.saturating_sub(1);
        self.aside.pending = Some('\n');
    }

    /// Adds the target of a link as an aside, once in a document. What the text shows already, and
    /// places in the document itself, are left out.
    pub(crate) fn link(&mut self, target: &str) {
        let target = target.trim();
        if target.len() > MAX_LINK_BYTES || target.starts_with(['#', '?']) {
            return;
        }
        let target = link_text(target);
        let is_shown = self.flow().ends_with_link(&target);
        if !target.is_empty() && !is_shown && self.n_links < MAX_LINKS && self.is_new(&target) {
            self.n_links += 1;
            self.links.push(target);
        }
    }

    /// Returns whether a text is seen for the first time.
    fn is_new(&mut self, text: &str) -> bool {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        self.seen.insert(hasher.hash_one(text))
    }

    /// Adds text of several lines that a document repeats on many pages, once.
    pub(crate) fn once(&mut self, text: &str) {
        if !text.trim().is_empty() && self.is_new(text) {
            self.line(text);
        }
    }

    /// Begins text that a document may show on many pages; returns the text so far.
    pub(crate) fn apart(&mut self) -> Self {
        let new = Self::new(self.max_bytes);
        std::mem::replace(self, new)
    }

    /// Ends what [`Self::apart`] began: adds it to the text before, unless it stands there already.
    pub(crate) fn add_once(&mut self, before: Self) {
        let repeated = std::mem::replace(self, before);
        self.once(&repeated.finish().replace('\u{c}', "\n"));
    }

    /// Puts the author of a comment before its text.
    pub(crate) fn author(&mut self, author: &str) {
        let author = author.trim();
        if !author.is_empty() {
            self.push(author);
            self.push(": ");
        }
    }

    /// Begins characters with a reading (ruby), which is held back like an aside. Readings are one
    /// word if their characters are side by side.
    pub(crate) fn begin_ruby(&mut self) {
        let is_joined = self.reading_end == Some(self.main.text.len());
        if self.aside_depth == 0 && !is_joined {
            self.aside.pending = Some(if self.aside.text.is_empty() {
                '\n'
            } else {
                ' '
            });
        }
    }

    /// Adds characters with their reading.
    pub(crate) fn ruby(&mut self, characters: &str, reading: &str) {
        self.begin_ruby();
        self.push(characters);
        self.begin_reading();
        self.push(reading);
        self.end_reading();
        self.end_ruby();
    }

    /// Begins the reading itself.
    pub(crate) fn begin_reading(&mut self) {
        self.aside_depth += 1;
    }

    /// Ends the reading itself.
    pub(crate) fn end_reading(&mut self) {
        self.aside_depth = self.aside_depth.saturating_sub(1);
    }

    /// Ends characters with a reading.
    pub(crate) fn end_ruby(&mut self) {
        self.reading_end = Some(self.main.text.len());
    }

    /// Returns the characters that the next text joins, which are none behind a separator.
    pub(crate) fn joined(&self) -> &str {
        let flow = if self.aside_depth > 0 {
            &self.aside
        } else {
            &self.main
        };
        match flow.pending {
            None => &flow.text,
            Some(_) => "",
        }
    }

    fn release_asides(&mut self) {
        let is_empty = self.aside.text.is_empty() && self.links.is_empty();
        if self.aside_depth > 0 || self.cell_depth > 0 || is_empty {
            return;
        }
        if !self.aside.text.is_empty() {
            self.main.pending = Some('\n');
            self.main.push(&self.aside.text);
        }
        for link in self.links.drain(..) {
            self.main.pending = Some('\n');
            self.main.push(&link);
        }
        self.main.pending = Some('\n');
        self.aside.text.clear();
        self.aside.pending = None;
        self.aside.row_start = 0;
    }

    /// Ends a page with its own number (a slide, a sheet), even if the page is empty.
    pub(crate) fn end_page(&mut self) {
        self.aside_depth = 0;
        self.cell_depth = 0;
        self.main.grid.end_cell();
        self.end_paragraph();
        self.main.pending = None;
        self.main.text.push('\u{c}');
    }

    /// Begins a page where the text continues. Several breaks at one position count as one.
    pub(crate) fn break_page(&mut self) {
        if self.aside_depth == 0 && !self.main.at_page_start() {
            // Within a paragraph, the space before the break separates words.
            if self.main.pending.take().is_some() {
                self.main.trim_space();
            }
            self.main.text.push('\u{c}');
        }
    }

    /// Moves text and headings into the document.
    pub(crate) fn finish_into(mut self, document: &mut Document) {
        for heading in std::mem::take(&mut self.headings) {
            document.add_text(Field::Headings, &heading);
        }
        document.body = self.finish();
    }

    /// Returns the text.
    pub(crate) fn finish(mut self) -> String {
        self.aside_depth = 0;
        self.cell_depth = 0;
        self.main.grid.end_cell();
        self.end_paragraph();
        self.main.trim_space();
        match self.main.text.len() > self.max_bytes && self.main.grid.n_empty() > 0 {
            true => grid::without_empty_cells(&self.main.text),
            false => self.main.text,
        }
    }
}

#[cfg(test)]
mod tests;
