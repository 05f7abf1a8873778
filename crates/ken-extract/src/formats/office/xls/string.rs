//! Strings of workbooks: bytes in a code page in BIFF5, Unicode with an eight-bit form in BIFF8
//! (MS-XLS 2.5.293 to 2.5.296), which may continue in the next record.

use super::record::Records;
use crate::structure::cursor::Cursor;
use crate::text::code_page;

const IS_WIDE: u8 = 1;
const HAS_PHONETIC: u8 = 4;
const HAS_RUNS: u8 = 8;

/// How strings are stored in a workbook.
#[derive(Clone, Copy)]
pub(super) struct Encoding {
    pub(super) is_unicode: bool,
    pub(super) code_page: u16,
}

impl Encoding {
    /// Reads a string of `n_characters` within a record, after its length.
    pub(super) fn read(self, n_characters: usize, cursor: &mut Cursor<'_>) -> Option<String> {
        if !self.is_unicode {
            let bytes = cursor.take(n_characters.min(cursor.0.len()))?;
            return Some(code_page::decode(bytes, self.code_page).into_owned());
        }
        let flags = cursor.byte()?;
        let n_runs = match flags & HAS_RUNS {
            0 => 0,
            _ => usize::from(cursor.le_u16()?),
        };
        let n_phonetic = match flags & HAS_PHONETIC {
            0 => 0,
            _ => cursor.le_u32()? as usize,
        };
        let mut units = Vec::new();
        push_units(cursor, flags, n_characters, &mut units);
        let after = (4 * n_runs).saturating_add(n_phonetic).min(cursor.0.len());
        cursor.take(after);
        Some(String::from_utf16_lossy(&units))
    }

    /// Reads a string with a length of one byte: the name of a sheet.
    pub(super) fn read_short(self, cursor: &mut Cursor<'_>) -> Option<String> {
        let n_characters = usize::from(cursor.byte()?);
        self.read(n_characters, cursor)
    }

    /// Reads a string with a length of two bytes.
    pub(super) fn read_long(self, cursor: &mut Cursor<'_>) -> Option<String> {
        let n_characters = usize::from(cursor.le_u16()?);
        self.read(n_characters, cursor)
    }
}

/// Appends up to `n` characters; returns the number that were available.
fn push_units(cursor: &mut Cursor<'_>, flags: u8, n: usize, units: &mut Vec<u16>) -> usize {
    let before = units.len();
    if flags & IS_WIDE != 0 {
        let n_bytes = n.min(cursor.0.len() / 2) * 2;
        let bytes = cursor.take(n_bytes).unwrap_or_default();
        units.extend(
            bytes
                .as_chunks::<2>()
                .0
                .iter()
                .copied()
                .map(u16::from_le_bytes),
        );
    } else {
        let bytes = cursor.take(n.min(cursor.0.len())).unwrap_or_default();
        units.extend(bytes.iter().copied().map(u16::from));
    }
    units.len() - before
}

/// Reads strings from a record and its continuations.
pub(super) struct Continued<'r, 'a> {
    data: Cursor<'a>,
    records: &'r mut Records<'a>,
}

impl<'r, 'a> Continued<'r, 'a> {
    pub(super) fn new(data: &'a [u8], records: &'r mut Records<'a>) -> Self {
        Self {
            data: Cursor(data),
            records,
        }
    }

    /// Returns whether there is data left, here or in the next record.
    fn refill(&mut self) -> Option<()> {
        while self.data.0.is_empty() {
            self.data = Cursor(self.records.next_continued()?);
        }
        Some(())
    }

    /// Reads a string of the table of shared strings.
    pub(super) fn string(&mut self) -> Option<String> {
        self.refill()?;
        let n_characters = usize::from(self.data.le_u16()?);
        let flags = self.data.byte()?;
        let n_runs = match flags & HAS_RUNS {
            0 => 0,
            _ => usize::from(self.data.le_u16()?),
        };
        let n_phonetic = match flags & HAS_PHONETIC {
            0 => 0,
            _ => self.data.le_u32()? as usize,
        };
        let text = self.characters(n_characters, flags);
        self.skip((4 * n_runs).saturating_add(n_phonetic));
        Some(text)
    }

    /// Reads characters; each continuation begins with its own flags.
    pub(super) fn characters(&mut self, n_characters: usize, mut flags: u8) -> String {
        let mut units = Vec::new();
        let mut n_left = n_characters;
        loop {
            n_left -= push_units(&mut self.data, flags, n_left, &mut units);
            if n_left == 0 {
                break;
            }
            let Some(data) = self.records.next_continued() else {
                break;
            };
            self.data = Cursor(data);
            match self.data.byte() {
                Some(own_flags) => flags = own_flags,
                None => break,
            }
        }
        String::from_utf16_lossy(&units)
    }

    fn skip(&mut self, mut n_bytes: usize) {
        while n_bytes > 0 && self.refill().is_some() {
            let n_here = n_bytes.min(self.data.0.len());
            self.data.take(n_here);
            n_bytes -= n_here;
        }
    }
}
