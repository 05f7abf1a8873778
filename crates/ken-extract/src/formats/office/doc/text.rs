//! Handles special characters (MS-DOC 2.4 and 2.8.25): marks of paragraphs, cells, pages and
//! fields.

use std::collections::{HashMap, HashSet};

use super::fib::Fib;
use super::runs::{Choices, Runs};
use super::sections::Breaks;
use crate::Limits;
use crate::formats::office::field;
use crate::output::body::Body;

/// Maximum depth of fields; no program nests them so deep.
const MAX_FIELDS: usize = 1000;

/// The character that stands for a picture or a form field.
const FORM: u16 = 0x01;
/// The number of the part with comments.
const COMMENTS: usize = 4;

/// What is known of characters by their positions.
pub(super) struct Marks {
    pub(super) breaks: Breaks,
    /// The marks behind large first letters.
    pub(super) drop_caps: HashSet<usize>,
    /// The authors of comments, by the positions of the comments in their part.
    pub(super) authors: HashMap<usize, String>,
    pub(super) runs: Runs,
}

/// Returns the text of a document.
pub(super) fn text(fib: &Fib, units: &mut [u16], marks: &Marks, limits: &Limits) -> String {
    let mut writer = Writer {
        body: Body::new(limits.max_text_bytes),
        fields: Vec::new(),
        form: None,
        run: Vec::new(),
        instruction: Vec::new(),
        after_cell: false,
        in_row: false,
    };
    for range in &marks.runs.deleted {
        let end = range.end.min(units.len());
        units[range.start.min(end)..end].fill(0);
    }
    let [main, others @ ..] = fib.lengths;
    let (pages, mut rest) = units.split_at_mut(main.min(units.len()));
    drop_unended(pages);
    for (position, &unit) in pages.iter().enumerate() {
        if unit == 0x0c {
            writer.end_paragraph();
            if marks.breaks.is_page(position) {
                writer.body.break_page();
            }
        } else if unit != 0x0d || !marks.drop_caps.contains(&position) {
            if unit == FORM {
                writer.form = marks.runs.forms.get(&position);
            }
            writer.push(unit);
        }
    }
    // Footnotes and the like follow the pages, and contain no page breaks.
    for (number, length) in (1..).zip(others) {
        writer.end_part();
        let (part, after) = rest.split_at_mut(length.min(rest.len()));
        rest = after;
        drop_unended(part);
        for (position, &unit) in part.iter().enumerate() {
            if number == COMMENTS
                && let Some(author) = marks.authors.get(&position)
            {
                writer.end_paragraph();
                writer.body.author(author);
            }
            writer.push(if unit == 0x0c { 0x0d } else { unit });
        }
    }
    writer.end_part();
    writer.body.finish()
}

/// Removes the starts of fields whose instruction does not end in the same part; otherwise all the
/// rest would be taken for an instruction.
fn drop_unended(part: &mut [u16]) {
    let mut open = Vec::new();
    for (position, unit) in part.iter().enumerate() {
        match unit {
            0x13 => open.push((position, true)),
            0x14 => {
                if let Some((_, is_instruction)) = open.last_mut() {
                    *is_instruction = false;
                }
            }
            0x15 => drop(open.pop()),
            _ => {}
        }
    }
    for (position, is_instruction) in open {
        if is_instruction {
            part[position] = 0;
        }
    }
}

struct Writer<'m> {
    body: Body,
    /// The form field that is being read.
    form: Option<&'m Choices>,
    /// For each open field, whether its instruction or its result is being read.
    fields: Vec<bool>,
    run: Vec<u16>,
    /// The instruction of the innermost field.
    instruction: Vec<u16>,
    after_cell: bool,
    in_row: bool,
}

/// Longer instructions are of no link.
const MAX_INSTRUCTION: usize = 4096;

impl Writer<'_> {
    fn push(&mut self, unit: u16) {
        match unit {
            0x13 if self.fields.len() < MAX_FIELDS => {
                self.fields.push(true);
                self.instruction.clear();
            }
            0x14 => {
                self.end_instruction();
                if let Some(is_instruction) = self.fields.last_mut() {
                    *is_instruction = false;
                }
            }
            0x15 => {
                self.end_instruction();
                self.fields.pop();
                self.end_form();
            }
            _ if self.fields.contains(&true) => {
                if unit >= 0x20 && self.instruction.len() < MAX_INSTRUCTION {
                    self.instruction.push(unit);
                }
            }
            0x07 => self.end_cell(),
            0x0d => self.end_paragraph(),
            0x0b => self.run.push(0x0a),
            0x1e => self.run.push(u16::from(b'-')),
            0xa0 => self.run.push(u16::from(b' ')),
            // Marks of pictures, notes and comments, and optional hyphens.
            0..=0x08 | 0x0a..=0x1f | 0x7f | 0xad => {}
            // Characters of symbol fonts.
            0xf000..0xf100 => {}
            _ => self.run.push(unit),
        }
        if unit != 0x07 {
            self.after_cell = false;
        }
    }

    /// Adds the target of a link, when its instruction ends.
    fn end_instruction(&mut self) {
        let instruction = String::from_utf16_lossy(&std::mem::take(&mut self.instruction));
        if let Some(target) = field::link_target(&instruction) {
            self.flush();
            self.body.link(&target);
        } else if let Some((characters, reading)) = field::ruby(&instruction) {
            self.flush();
            self.body.ruby(characters, reading);
        }
    }

    /// Ends a form field with choices: the chosen one is text, the others stand beside it.
    fn end_form(&mut self) {
        let Some(form) = self.form.take() else {
            return;
        };
        self.run
            .extend(form.chosen.iter().flat_map(|chosen| chosen.encode_utf16()));
        self.flush();
        for other in &form.others {
            self.body.begin_aside();
            self.body.push(other);
            self.body.end_aside();
        }
    }

    /// Ends a cell or a row: the end of a row looks like that of a cell, and follows one.
    fn end_cell(&mut self) {
        if !self.in_row {
            self.body.begin_row();
            self.in_row = true;
        }
        self.flush();
        self.body.end_paragraph();
        if std::mem::replace(&mut self.after_cell, true) {
            self.body.end_row();
            self.after_cell = false;
            self.in_row = false;
        } else {
            self.body.end_cell();
        }
    }

    fn end_paragraph(&mut self) {
        self.flush();
        self.body.end_paragraph();
        self.after_cell = false;
    }

    fn end_part(&mut self) {
        self.fields.clear();
        self.end_paragraph();
    }

    fn flush(&mut self) {
        if !self.run.is_empty() {
            self.body.push(&String::from_utf16_lossy(&self.run));
            self.run.clear();
        }
    }
}
