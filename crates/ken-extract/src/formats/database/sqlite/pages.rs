//! The pages of a database, and the b-trees that they form.
//!
//! Each page is visited once, however many references it has. The time of a walk is therefore
//! linear in the file, and a walk ends even if pages refer to each other in circles.

use std::borrow::Cow;

use super::log::Log;
use super::record::varint;
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

/// How often, on average, each byte may be read as part of a record.
const MAX_REREADS: u64 = 4;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The pages of an open database.
pub(super) struct Pages<'a> {
    input: &'a Input<'a>,
    log: Option<Log<'a>>,
    page_bytes: u64,
    /// Bytes of each page, without the reserved bytes at its end.
    usable_bytes: usize,
    n_pages: u64,
    is_visited: Vec<u64>,
    /// Number of bytes of records that may still be read, since the cells of a page may overlap.
    budget: u64,
    failure: Option<Error>,
}

/// Receives a record; returns whether more are wanted.
type Take<'t> = dyn FnMut(&[u8]) -> bool + 't;

impl<'a> Pages<'a> {
    /// Reads the header of the database and the log next to it; returns none if the file is no
    /// database.
    pub(super) fn open(input: &'a Input<'a>, log: Option<Log<'a>>, header: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(header.strip_prefix(MAGIC)?);
        let page_bytes = match cursor.be_u16()? {
            1 => 65_536,
            size => u64::from(size),
        };
        let n_reserved = usize::from(*header.get(20)?);
        if !(512..=65_536).contains(&page_bytes) || !page_bytes.is_power_of_two() {
            return None;
        }
        // A log with another page size belongs to another database.
        let log = log.filter(|log| log.page_bytes == page_bytes);
        let n_in_file = input.size().div_ceil(page_bytes);
        let n_pages = log.as_ref().map_or(n_in_file, |log| log.n_pages);
        let n_bytes = input.size().max(n_pages * page_bytes);
        Some(Self {
            input,
            log,
            page_bytes,
            usable_bytes: (page_bytes as usize).checked_sub(n_reserved)?,
            n_pages,
            is_visited: vec![0; (n_pages as usize + 1).div_ceil(64)],
            budget: n_bytes.saturating_mul(MAX_REREADS),
            failure: None,
        })
    }

    /// Returns the failure of damaged pages, if any.
    pub(super) fn into_failure(self) -> Option<Error> {
        self.failure
    }

    /// Hands on the records of a table in order, each up to `max_bytes`.
    pub(super) fn rows(
        &mut self,
        root: u64,
        max_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        let mut waiting = vec![root];
        while let Some(number) = waiting.pop() {
            let Some(page) = self.visit(number)? else {
                self.note();
                continue;
            };
            let Some(page) = Page::read(number, &page) else {
                self.note();
                continue;
            };
            // The last one is visited next.
            let first_child = waiting.len();
            for cell in page.cells() {
                if page.is_interior {
                    waiting.extend(cell.clone().be_u32().map(u64::from));
                }
                // In a table without row numbers, inner pages hold records too.
                if (!page.is_interior || page.is_index)
                    && let Some(record) = self.record(&page, cell, max_bytes)?
                    && !take(&record)
                {
                    return Ok(());
                }
            }
            waiting.extend(page.last_child);
            waiting[first_child..].reverse();
        }
        Ok(())
    }

    /// Reads a page, which is possible only once.
    fn visit(&mut self, number: u64) -> Result<Option<Cow<'a, [u8]>>, Error> {
        if number == 0 || number > self.n_pages {
            return Ok(None);
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.is_visited[word] & bit != 0 {
            return Ok(None);
        }
        self.is_visited[word] |= bit;
        let n_bytes = self.page_bytes as usize;
        if let Some(log) = &self.log
            && let Some(page) = log.page(number, n_bytes)?
        {
            return Ok(Some(page));
        }
        let at = (number - 1) * self.page_bytes;
        Ok(Some(self.input.range(at, n_bytes)?))
    }

    /// Joins a record from its cell and its overflow pages.
    fn record<'p>(
        &mut self,
        page: &Page<'p>,
        mut cell: Cursor<'p>,
        max_bytes: usize,
    ) -> Result<Option<Cow<'p, [u8]>>, Error> {
        if page.is_interior {
            cell.take(4);
        }
        let n_bytes = varint(&mut cell).and_then(|n| usize::try_from(n).ok());
        let is_numbered = page.is_index || varint(&mut cell).is_some();
        let (Some(n_bytes), true) = (n_bytes, is_numbered) else {
            self.note();
            return Ok(None);
        };
        let n_here = self.local_bytes(n_bytes, page.is_index);
        // Even empty cells have a cost.
        let cost = n_here as u64 + 1;
        let (Some(here), Some(budget)) = (cell.take(n_here), self.budget.checked_sub(cost)) else {
            self.note();
            return Ok(None);
        };
        self.budget = budget;
        if n_here == n_bytes {
            return Ok(Some(Cow::Borrowed(here)));
        }
        let mut record = here.to_vec();
        let mut next = cell.be_u32().map_or(0, u64::from);
        let wanted = n_bytes.min(max_bytes);
        while record.len() < wanted && next != 0 {
            let Some(page) = self.visit(next)? else {
                self.note();
                break;
            };
            let mut page = Cursor(&page[..page.len().min(self.usable_bytes)]);
            next = page.be_u32().map_or(0, u64::from);
            let n_more = page.0.len().min(n_bytes - record.len());
            record.extend_from_slice(&page.0[..n_more]);
        }
        Ok(Some(Cow::Owned(record)))
    }

    /// Returns the number of bytes of a record that are in its cell.
    fn local_bytes(&self, n_bytes: usize, is_index: bool) -> usize {
        let usable = self.usable_bytes;
        let most = match is_index {
            true => (usable.saturating_sub(12)) * 64 / 255 - 23,
            false => usable.saturating_sub(35),
        };
        if n_bytes <= most {
            return n_bytes;
        }
        let least = (usable.saturating_sub(12)) * 32 / 255 - 23;
        let wanted = least + (n_bytes - least) % (usable.saturating_sub(4)).max(1);
        if wanted <= most { wanted } else { least }
    }

    fn note(&mut self) {
        let damaged = || Error::Malformed("some pages of the database are damaged".into());
        self.failure.get_or_insert_with(damaged);
    }
}

/// A page of a b-tree.
struct Page<'p> {
    bytes: &'p [u8],
    is_interior: bool,
    is_index: bool,
    /// Offsets of the cells, two bytes each.
    offsets: &'p [u8],
    last_child: Option<u64>,
}

impl<'p> Page<'p> {
    fn read(number: u64, bytes: &'p [u8]) -> Option<Self> {
        // The first page begins with the header of the file.
        let mut cursor = Cursor(bytes.get(if number == 1 { 100 } else { 0 }..)?);
        let (is_interior, is_index) = match cursor.byte()? {
            2 => (true, true),
            5 => (true, false),
            10 => (false, true),
            13 => (false, false),
            _ => return None,
        };
        cursor.take(2)?;
        let n_cells = usize::from(cursor.be_u16()?);
        cursor.take(3)?;
        let last_child = match is_interior {
            true => Some(cursor.be_u32()?.into()),
            false => None,
        };
        Some(Self {
            bytes,
            is_interior,
            is_index,
            offsets: cursor.take(2 * n_cells)?,
            last_child,
        })
    }

    fn cells(&self) -> impl Iterator<Item = Cursor<'p>> {
        let bytes = self.bytes;
        let offsets = self.offsets.as_chunks::<2>().0.iter();
        offsets.filter_map(move |&offset| {
            let offset = usize::from(u16::from_be_bytes(offset));
            bytes.get(offset..).map(Cursor)
        })
    }
}
