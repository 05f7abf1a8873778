//! The text of a section of HWP 5: paragraphs, and what is anchored in them.

use super::record::{CTRL_HEADER, LIST_HEADER, PARA_HEADER, PARA_TEXT, Record, next};
use crate::output::body::Body;
use crate::structure::cursor::Cursor;

/// Deeper nests of tables and boxes are hostile.
const MAX_DEPTH: usize = 64;
/// Units that a control character takes with its data.
const CONTROL_UNITS: usize = 8;
/// The flag of a paragraph that begins a page.
const BREAKS_PAGE: u8 = 0x04;

/// What holds paragraphs within a paragraph.
enum Holder {
    Table {
        row: Option<u16>,
        in_cell: bool,
    },
    /// Text that pages repeat: the text outside.
    Repeated(Box<Body>),
    Other,
}

/// Reads sections.
pub(super) struct SectionReader {
    body: Body,
    holders: Vec<(u32, Holder)>,
    repeated: Vec<Body>,
    /// Whether a paragraph is open, whose end is where the next one begins.
    in_paragraph: bool,
}

impl SectionReader {
    pub(super) fn new(body: Body) -> Self {
        Self {
            body,
            holders: Vec::new(),
            repeated: Vec::new(),
            in_paragraph: false,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.body.is_full()
    }

    /// Reads the records of a section; returns whether they are whole.
    pub(super) fn read(&mut self, records: &[u8]) -> bool {
        let mut rest = Cursor(records);
        let is_whole = loop {
            let at_end = rest.0.is_empty();
            let Some(record) = next(&mut rest) else {
                break at_end;
            };
            self.leave(record.level);
            // A record that is too short for its kind is ignored.
            let _ = self.record(&record);
            if self.body.is_full() {
                break true;
            }
        };
        self.leave(0);
        self.end_paragraph();
        is_whole
    }

    pub(super) fn finish(mut self) -> String {
        for text in std::mem::take(&mut self.repeated) {
            self.body.once(&text.finish().replace('\u{c}', "\n"));
        }
        self.body.finish()
    }

    fn end_paragraph(&mut self) {
        if std::mem::take(&mut self.in_paragraph) {
            self.body.end_paragraph();
        }
    }

    /// Ends what a record of this level does not belong to.
    fn leave(&mut self, level: u32) {
        while self.holders.last().is_some_and(|(of, _)| *of >= level) {
            let Some((_, holder)) = self.holders.pop() else {
                return;
            };
            match holder {
                Holder::Table { in_cell, .. } => {
                    if in_cell {
                        self.body.end_cell();
                    }
                    self.body.end_row();
                }
                Holder::Repeated(outside) => {
                    let read = std::mem::replace(&mut self.body, *outside);
                    if self.repeated.len() < MAX_DEPTH {
                        self.repeated.push(read);
                    }
                }
                Holder::Other => self.body.end_paragraph(),
            }
            self.in_paragraph = false;
        }
    }

    fn record(&mut self, record: &Record<'_>) -> Option<()> {
        match record.kind {
            PARA_HEADER => {
                self.end_paragraph();
                self.in_paragraph = true;
                let breaks = *record.data.get(11)?;
                if breaks & BREAKS_PAGE != 0 && self.holders.is_empty() {
                    self.body.break_page();
                }
            }
            PARA_TEXT => self.text(record.data),
            CTRL_HEADER => self.control(record)?,
            LIST_HEADER => self.cell(record.data)?,
            _ => {}
        }
        Some(())
    }

    /// Adds the text of a paragraph, in which numbers below 32 are controls (HWP 5.0, 4.3.2).
    fn text(&mut self, data: &[u8]) {
        let units: Vec<u16> = data
            .as_chunks::<2>()
            .0
            .iter()
            .map(|unit| u16::from_le_bytes(*unit))
            .collect();
        let mut run = Vec::new();
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            let n = match unit {
                0 | 10 | 13 | 24..=31 => 1,
                1..=23 => CONTROL_UNITS,
                _ => 1,
            };
            at += n;
            run.push(match unit {
                9 => u16::from(b'\t'),
                10 => u16::from(b'\n'),
                24 => u16::from(b'-'),
                30 | 31 => u16::from(b' '),
                0..=29 => continue,
                unit => unit,
            });
        }
        self.body.push(&String::from_utf16_lossy(&run));
    }

    /// Begins what is anchored in a paragraph: a table, a note, a header, a box, a link.
    fn control(&mut self, record: &Record<'_>) -> Option<()> {
        let mut data = Cursor(record.data);
        let id = data.le_u32()?.to_be_bytes();
        let holder = match &id {
            b"tbl " => {
                self.end_paragraph();
                Holder::Table {
                    row: None,
                    in_cell: false,
                }
            }
            b"head" | b"foot" => {
                self.in_paragraph = false;
                Holder::Repeated(Box::new(self.body.apart()))
            }
            b"fn  " | b"en  " | b"gso " | b"tcmt" => {
                self.end_paragraph();
                Holder::Other
            }
            b"%hlk" => {
                data.take(5)?;
                if let Some(target) = link_target(&string(&mut data)?) {
                    self.body.link(&target);
                }
                if !self.in_paragraph {
                    self.body.end_paragraph();
                }
                return Some(());
            }
            // Characters with a reading.
            b"tdut" => {
                let characters = string(&mut data)?;
                let reading = string(&mut data)?;
                self.body.begin_ruby();
                self.body.push(&characters);
                self.body.begin_reading();
                self.body.push(&reading);
                self.body.end_reading();
                self.body.end_ruby();
                return Some(());
            }
            _ => return None,
        };
        if self.holders.len() < MAX_DEPTH {
            self.holders.push((record.level, holder));
        }
        Some(())
    }

    /// Begins a cell, if the list of paragraphs belongs to a table (HWP 5.0, table 79).
    fn cell(&mut self, data: &[u8]) -> Option<()> {
        let Some((_, Holder::Table { row, in_cell })) = self.holders.last_mut() else {
            return None;
        };
        let own = u16::from_le_bytes([*data.get(10)?, *data.get(11)?]);
        self.in_paragraph = false;
        if std::mem::replace(in_cell, true) {
            self.body.end_cell();
        }
        if *row != Some(own) {
            if row.replace(own).is_some() {
                self.body.end_row();
            }
            self.body.begin_row();
        }
        self.body.begin_cell();
        Some(())
    }
}

/// Reads a text after its length.
fn string(data: &mut Cursor<'_>) -> Option<String> {
    let n = usize::from(data.le_u16()?);
    let bytes = data.take(2 * n)?;
    Some(crate::text::code_page::utf16(bytes).into_owned())
}

/// Returns the target in the instruction of a link: `https\://example.org;1;0;0;`.
pub(super) fn link_target(instruction: &str) -> Option<String> {
    let mut target = String::new();
    let mut characters = instruction.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => target.extend(characters.next()),
            ';' => break,
            _ => target.push(character),
        }
    }
    (!target.is_empty()).then_some(target)
}
