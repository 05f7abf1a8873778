//! A table: its definition, and the values of its rows.

use std::borrow::Cow;
use std::collections::HashSet;

use super::pages::{DATA, DEFINITION, Pages};
use super::value;
use crate::output::body::Body;
use crate::structure::cursor::Cursor;

/// More than the 255 columns that Access allows.
const MAX_COLUMNS: u16 = 1024;
/// Pages of a definition.
const MAX_PAGES: usize = 256;

/// A column.
pub(super) struct Column {
    name: String,
    kind: u8,
    number: u16,
    /// Where its values are: at this offset, or the number of the value among those of any length.
    place: Place,
    is_link: bool,
    /// Digits behind the point.
    scale: u8,
    is_calculated: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Fixed { offset: u16, n_bytes: u16 },
    Variable(u16),
}

pub(super) struct Table {
    columns: Vec<Column>,
    /// Reference to the map of its pages.
    map: u32,
}

impl Table {
    pub(super) fn read(pages: &Pages<'_>, page: u32) -> Option<Self> {
        let definition = definition(pages, page)?;
        let is_97 = pages.is_97;
        let mut cursor = Cursor(definition.get(if is_97 { 25 } else { 45 }..)?);
        let n_columns = cursor.le_u16()?.min(MAX_COLUMNS);
        cursor.le_u32()?;
        let n_indices = cursor.le_u32()? as usize;
        let map = cursor.le_u32()?;
        let (start, index_bytes) = if is_97 { (43, 8) } else { (63, 12) };
        let mut cursor = Cursor(definition.get(start..)?);
        cursor.take(n_indices.checked_mul(index_bytes)?)?;
        let mut columns = Vec::new();
        for _ in 0..n_columns {
            columns.push(match is_97 {
                true => Column::of_97(cursor.take(18)?)?,
                false => Column::since_2000(cursor.take(25)?)?,
            });
        }
        for column in &mut columns {
            column.name = name(pages, &mut cursor)?;
        }
        // Values stand in the order of the numbers.
        columns.sort_by_key(|column| column.number);
        Some(Self { columns, map })
    }

    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Adds the names of the columns, and the rows; returns whether all of them could be read.
    pub(super) fn add_to(&self, pages: &Pages<'_>, body: &mut Body) -> bool {
        body.begin_row();
        for (at, column) in self.columns.iter().enumerate() {
            add_cell(at, &column.name, body);
        }
        body.end_row();
        self.rows(pages, &mut |row| {
            body.begin_row();
            for (at, column) in self.columns.iter().enumerate() {
                add_cell(at, &row.value(column).unwrap_or_default(), body);
            }
            body.end_row();
            !body.is_full()
        })
    }

    /// Calls `each` for each row, until it returns false; returns whether all rows could be read.
    pub(super) fn rows(&self, pages: &Pages<'_>, each: &mut dyn FnMut(&Row<'_>) -> bool) -> bool {
        let Some(numbers) = pages.marked(self.map) else {
            return false;
        };
        let mut is_whole = true;
        for number in numbers {
            let Some(page) = pages.page(number, DATA) else {
                is_whole = false;
                continue;
            };
            let places = pages.places(&page).into_iter();
            for place in places.filter(|place| !place.is_deleted) {
                let row = page.get(place.start..place.end).map(Cow::Borrowed);
                let row = match place.is_elsewhere {
                    false => row,
                    true => row
                        .and_then(|row| pages.row(Cursor(&row).le_u32()?))
                        .map(Cow::Owned),
                };
                let row = row.as_deref().and_then(|bytes| Row::open(pages, bytes));
                is_whole &= row.is_some();
                if row.is_some_and(|row| !each(&row)) {
                    return is_whole;
                }
            }
        }
        is_whole
    }
}

fn add_cell(at: usize, text: &str, body: &mut Body) {
    body.begin_cell_at(at);
    body.push(&cell(text));
    body.end_cell();
}

/// Returns a text without form feeds, which would count as the end of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace(['\u{c}', '\0'], " ")
}

/// Returns the definition of a table, from all its pages.
fn definition(pages: &Pages<'_>, first: u32) -> Option<Vec<u8>> {
    let mut definition = Vec::new();
    let mut seen = HashSet::new();
    let mut number = first;
    while number != 0 && seen.len() < MAX_PAGES && seen.insert(number) {
        let page = pages.page(number, DEFINITION)?;
        number = Cursor(&page[4..]).le_u32()?;
        let own = if definition.is_empty() { 0 } else { 8 };
        definition.extend_from_slice(&page[own..]);
    }
    Some(definition)
}

fn name(pages: &Pages<'_>, cursor: &mut Cursor<'_>) -> Option<String> {
    if pages.is_97 {
        let n_bytes = cursor.byte()?;
        return Some(pages.decode(cursor.take(n_bytes.into())?));
    }
    let n_bytes = cursor.le_u16()?;
    Some(value::utf16(cursor.take(n_bytes.into())?))
}

impl Column {
    const IS_FIXED: u8 = 0x01;
    const IS_LINK: u8 = 0x80;
    /// Either bit, in the second byte of flags.
    const IS_CALCULATED: u8 = 0xc0;

    fn of_97(entry: &[u8]) -> Option<Self> {
        let number = |at| Cursor(entry.get(at..)?).le_u16();
        Some(Self {
            name: String::new(),
            kind: *entry.first()?,
            number: number(1)?,
            place: match entry[13] & Self::IS_FIXED {
                0 => Place::Variable(number(3)?),
                _ => Place::Fixed {
                    offset: number(14)?.checked_add(1)?,
                    n_bytes: number(16)?,
                },
            },
            is_link: entry[13] & Self::IS_LINK != 0,
            scale: entry[9],
            is_calculated: false,
        })
    }

    fn since_2000(entry: &[u8]) -> Option<Self> {
        let number = |at| Cursor(entry.get(at..)?).le_u16();
        Some(Self {
            name: String::new(),
            kind: *entry.first()?,
            number: number(5)?,
            place: match entry[15] & Self::IS_FIXED {
                0 => Place::Variable(number(7)?),
                _ => Place::Fixed {
                    offset: number(21)?.checked_add(2)?,
                    n_bytes: number(23)?,
                },
            },
            is_link: entry[15] & Self::IS_LINK != 0,
            scale: entry[12],
            is_calculated: entry[16] & Self::IS_CALCULATED != 0,
        })
    }
}

/// A row: values of fixed length, then those of any length with their offsets, then a bit for each value that is there.
pub(super) struct Row<'r> {
    pages: &'r Pages<'r>,
    bytes: &'r [u8],
    n_columns: u16,
    present: &'r [u8],
    /// Where the values of any length begin, and where the last one ends.
    offsets: Vec<usize>,
}

impl<'r> Row<'r> {
    fn open(pages: &'r Pages<'r>, bytes: &'r [u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let n_columns = match pages.is_97 {
            true => cursor.byte()?.into(),
            false => cursor.le_u16()?,
        };
        let end = bytes
            .len()
            .checked_sub(usize::from(n_columns).div_ceil(8))?;
        let (before, present) = bytes.split_at(end);
        let offsets = match pages.is_97 {
            true => offsets_of_97(before, bytes.len()),
            false => offsets_since_2000(before),
        };
        Some(Self {
            pages,
            bytes,
            n_columns,
            present,
            // A table without such values has no offsets.
            offsets: offsets.unwrap_or_default(),
        })
    }

    /// Returns a value as text; none if it is missing or no text.
    pub(super) fn value(&self, column: &Column) -> Option<String> {
        if column.number >= self.n_columns || column.kind == value::TRUTH {
            return None;
        }
        let byte = self.present.get(usize::from(column.number / 8))?;
        if byte >> (column.number % 8) & 1 == 0 {
            return None;
        }
        let bytes = match column.place {
            Place::Fixed { offset, n_bytes } => {
                let start = usize::from(offset);
                self.bytes.get(start..start + usize::from(n_bytes))?
            }
            Place::Variable(index) => {
                let index = usize::from(index);
                let (start, end) = (*self.offsets.get(index)?, *self.offsets.get(index + 1)?);
                self.bytes.get(start..end)?
            }
        };
        // Hostile columns share their values.
        self.pages.spend(bytes.len() as u64)?;
        let text = match column.is_calculated {
            true => value::calculated(self.pages, column.kind, bytes)?,
            false => value::text(self.pages, column.kind, column.scale, bytes)?,
        };
        Some(match column.is_link {
            // A link is its label, its address and a place there between number signs.
            true => text
                .split('#')
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            false => text,
        })
    }
}

/// Reads the offsets from the end of what precedes the bits: their number, then each in two bytes, the last one first.
fn offsets_since_2000(before: &[u8]) -> Option<Vec<usize>> {
    let word = |from_end: usize| {
        let start = before.len().checked_sub(from_end)?;
        Cursor(before.get(start..)?).le_u16().map(usize::from)
    };
    let n_values = word(2)?;
    (0..=n_values).map(|index| word(4 + 2 * index)).collect()
}

/// Reads offsets of one byte each. Of a row that is longer, a list says from which offset on 256 more count.
fn offsets_of_97(before: &[u8], row_bytes: usize) -> Option<Vec<usize>> {
    let byte = |from_end: usize| {
        let at = before.len().checked_sub(from_end)?;
        before.get(at).copied().map(usize::from)
    };
    let n_values = byte(1)?;
    let first = 2 + row_bytes.checked_sub(1)? / 256;
    let mut n_jumps = first - 2;
    // The list itself may be what makes the row that long.
    let n_before = before.len().checked_sub(first + n_values)?;
    if n_before / 256 < n_jumps {
        n_jumps -= 1;
    }
    let mut used = 0;
    let mut offset = |index: usize| {
        while used < n_jumps && byte(2 + used)? == index {
            used += 1;
        }
        Some(byte(first + index)? + used * 256)
    };
    (0..=n_values).map(&mut offset).collect()
}
