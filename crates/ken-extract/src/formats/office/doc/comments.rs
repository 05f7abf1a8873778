//! Finds the authors of comments (MS-DOC 2.8.4, 2.8.6 and 2.9.103).

use std::collections::HashMap;

use super::fib::Fib;
use crate::structure::cursor::Cursor;

/// Bytes of what is known of a comment: initials, the number of its author, and more.
const DESCRIPTOR_BYTES: usize = 30;
const INITIALS_BYTES: usize = 20;
/// Longer names are none.
const MAX_NAME_UNITS: u16 = 255;

/// Returns the authors of comments by the position of each comment in the part of comments.
pub(super) fn authors(fib: &Fib, table: &[u8]) -> HashMap<usize, String> {
    read(fib, table).unwrap_or_default()
}

fn read(fib: &Fib, table: &[u8]) -> Option<HashMap<usize, String>> {
    let names = names(fib.comment_authors.of(table)?);
    let starts = fib.comment_texts.of(table)?.as_chunks::<4>().0;
    let references = fib.comments.of(table)?;
    // Positions, one more than comments, precede the descriptors.
    let n_comments = references.len().checked_sub(4)? / (4 + DESCRIPTOR_BYTES);
    let descriptors = references.get(4 * (n_comments + 1)..)?;
    let descriptors = descriptors.chunks_exact(DESCRIPTOR_BYTES);
    let author = |descriptor: &[u8]| {
        let number = Cursor(descriptor.get(INITIALS_BYTES..)?).le_u16()?;
        names.get(usize::from(number)).cloned()
    };
    let authors = starts
        .iter()
        .zip(descriptors)
        .filter_map(|(start, descriptor)| {
            Some((u32::from_le_bytes(*start) as usize, author(descriptor)?))
        });
    Some(authors.collect())
}

/// Reads texts, each behind the number of its characters.
fn names(bytes: &[u8]) -> Vec<String> {
    let mut cursor = Cursor(bytes);
    let mut names = Vec::new();
    while let Some(n_units) = cursor.le_u16().filter(|n_units| *n_units <= MAX_NAME_UNITS) {
        let Some(name) = cursor.take(2 * usize::from(n_units)) else {
            break;
        };
        let units = name.as_chunks::<2>().0.iter().copied();
        names.push(String::from_utf16_lossy(
            &units.map(u16::from_le_bytes).collect::<Vec<_>>(),
        ));
    }
    names
}
