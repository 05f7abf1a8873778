//! The current offsets of the parts of a presentation (MS-PPT 2.3.2 to 2.3.6).

use std::collections::HashMap;

use super::record::{DOCUMENT, PERSIST_TABLE, Record, USER_EDIT, number, record_at, records};

/// More incremental saves than any presentation has.
const MAX_EDITS: usize = 10_000;

/// The offsets of all parts.
pub(super) struct Tables {
    offsets: HashMap<u32, u32>,
    document: Option<u32>,
    /// The part with the encryption header.
    pub(super) session: Option<u32>,
}

impl Tables {
    pub(super) fn read(user: &[u8], stream: &[u8]) -> Self {
        let mut tables = Self {
            offsets: HashMap::new(),
            document: None,
            session: None,
        };
        let mut next = number(user, 16).filter(|&at| is_edit(stream, at));
        next = next.or_else(|| last_edit(stream));
        let mut n_left = (stream.len() / 4).min(1 << 20);
        for _ in 0..MAX_EDITS {
            let Some(edit) = next.and_then(|at| record_at(stream, at)) else {
                break;
            };
            if edit.kind != USER_EDIT {
                break;
            }
            if tables.document.is_none() {
                tables.document = number(edit.data, 16);
                // Only the record of an encrypted presentation has this length.
                tables.session = number(edit.data, 28);
            }
            if let Some(table) = number(edit.data, 12).and_then(|at| record_at(stream, at)) {
                tables.add(&table, &mut n_left);
            }
            next = number(edit.data, 8).filter(|&at| at != 0 && Some(at) != next);
        }
        tables
    }

    /// Adds a table; the values of newer tables take precedence.
    fn add(&mut self, table: &Record<'_>, n_left: &mut usize) {
        if table.kind != PERSIST_TABLE {
            return;
        }
        let mut at = 0;
        while let Some(run) = number(table.data, at) {
            at += 4;
            for position in 0..run >> 20 {
                let Some(offset) = number(table.data, at).filter(|_| *n_left > 0) else {
                    return;
                };
                *n_left -= 1;
                at += 4;
                let part = (run & 0xf_ffff) + position;
                self.offsets.entry(part).or_insert(offset);
            }
        }
    }

    /// Returns the numbers of all parts and their offsets.
    pub(super) fn offsets(&self) -> impl Iterator<Item = (u32, u32)> {
        self.offsets.iter().map(|(&part, &offset)| (part, offset))
    }

    /// Returns a part by its number.
    pub(super) fn part<'a>(&self, stream: &'a [u8], part: u32) -> Option<Record<'a>> {
        record_at(stream, *self.offsets.get(&part)?)
    }

    /// Returns the part that lists all slides.
    pub(super) fn document<'a>(&self, stream: &'a [u8]) -> Option<Record<'a>> {
        let document = self.part(stream, self.document?)?;
        (document.kind == DOCUMENT).then_some(document)
    }
}

fn is_edit(stream: &[u8], at: u32) -> bool {
    record_at(stream, at).is_some_and(|record| record.kind == USER_EDIT)
}

/// Finds the last table when the stream `Current User` does not hold its offset.
fn last_edit(stream: &[u8]) -> Option<u32> {
    let edit = records(stream)
        .filter(|record| record.kind == USER_EDIT)
        .last()?;
    let after = edit.data.as_ptr_range().end.addr() - stream.as_ptr().addr();
    u32::try_from(after - edit.data.len() - 8).ok()
}
