//! Finds the large first letters of paragraphs (MS-DOC 2.6.2, `sprmPDcs`): each is a paragraph of its own, which the rest of its word
//! follows.

use std::collections::HashSet;

use super::fib::Fib;
use super::pieces;
use super::sections::skip_value;
use crate::structure::cursor::Cursor;

/// The property *drop cap*.
const DROP_CAP: u16 = 0x442c;
/// The low bits of its value say where the letter stands; 0 is no drop cap.
const KIND: u16 = 0x07;
const PAGE_BYTES: usize = 512;
const RUN_BYTES: usize = 13;
/// More than a book has chapters.
const MAX_DROP_CAPS: usize = 1000;

/// Returns the positions of the marks that end such paragraphs.
pub(super) fn ends(fib: &Fib, main: &[u8], table: &[u8]) -> HashSet<usize> {
    let Some(pages) = fib.paragraph_pages.of(table) else {
        return HashSet::new();
    };
    // Offsets, one more than pages, precede the numbers of pages.
    let n_pages = pages.len().saturating_sub(4) / 8;
    let numbers = pages
        .get(4 * (n_pages + 1)..)
        .unwrap_or_default()
        .as_chunks::<4>()
        .0;
    let mut offsets = Vec::new();
    for number in numbers {
        let start = (u32::from_le_bytes(*number) & 0x003f_ffff) as usize * PAGE_BYTES;
        if let Some(page) = main.get(start..).and_then(|rest| rest.get(..PAGE_BYTES)) {
            add_ends(page, &mut offsets);
        }
        if offsets.len() > MAX_DROP_CAPS {
            return HashSet::new();
        }
    }
    pieces::positions(fib, table, &offsets)
}

/// Adds the offsets at which paragraphs of one page of properties end, if they are drop caps (MS-DOC 2.9.174).
fn add_ends(page: &[u8], offsets: &mut Vec<usize>) {
    let n_runs = usize::from(page[PAGE_BYTES - 1]);
    let Some(runs) = page.get(4 * (n_runs + 1)..4 * (n_runs + 1) + RUN_BYTES * n_runs) else {
        return;
    };
    let ends = page[4..].as_chunks::<4>().0;
    for (run, end) in runs.chunks_exact(RUN_BYTES).zip(ends) {
        let properties = page.get(usize::from(run[0]) * 2..).unwrap_or_default();
        if run[0] != 0 && is_drop_cap(properties) == Some(true) {
            offsets.push(u32::from_le_bytes(*end) as usize);
        }
    }
}

fn is_drop_cap(bytes: &[u8]) -> Option<bool> {
    let mut cursor = Cursor(bytes);
    // Their length in words, or behind a zero; a style precedes them.
    let n_bytes = match cursor.byte()? {
        0 => 2 * usize::from(cursor.byte()?),
        n_words => 2 * usize::from(n_words) - 1,
    };
    let mut properties = Cursor(cursor.take(n_bytes)?);
    properties.take(2)?;
    loop {
        let property = properties.le_u16()?;
        if property == DROP_CAP {
            return Some(properties.le_u16()? & KIND != 0);
        }
        skip_value(&mut properties, property)?;
    }
}
