//! The rows of the catalogue: the files in a commit, with their stamps.

use std::collections::BTreeSet;
use std::hash::Hasher;

use ken_core::{FileKey, FileRow, KeyHasher, Location, Token};
use siphasher::sip::SipHasher13;
use tantivy::SegmentReader;
use tantivy::columnar::Column;

use crate::schema::{IDENTITY, KEY, LOCATION, STAMP};

/// Calls `each` with the rows of a segment, each with whether it is from an own document: one for
/// each file's own document, and one without a token for each file that has parts here. The caller
/// drops the latter where the file's own document exists.
pub(crate) fn read(
    segment: &SegmentReader,
    each: &mut dyn FnMut(FileRow, bool),
) -> tantivy::Result<()> {
    let columns = segment.fast_fields();
    let keys = columns.u64(KEY)?;
    let tokens = columns.u64(STAMP)?;
    let identities = columns.u64(IDENTITY)?;
    let mut parts: BTreeSet<u64> = BTreeSet::new();
    let mut last_part = None;
    for doc in segment.doc_ids_alive() {
        let Some(key) = keys.first(doc) else { continue };
        match tokens.first(doc) {
            Some(token) => {
                let row = FileRow {
                    key: FileKey(key),
                    token: Token::from_number(token),
                    identity: number(&identities, doc),
                };
                each(row, true);
            }
            // The parts of a file are mostly adjacent.
            None if last_part == Some(key) => {}
            None => {
                last_part = Some(key);
                parts.insert(key);
            }
        }
    }
    for key in parts {
        let row = FileRow {
            key: FileKey(key),
            token: Token::UNFINISHED,
            identity: 0,
        };
        each(row, false);
    }
    Ok(())
}

/// Returns the files with a document that occurs more than once, by its location; sorted.
pub(crate) fn duplicated(
    segments: &[SegmentReader],
    hasher: &KeyHasher,
) -> tantivy::Result<Vec<FileKey>> {
    let mut files = BTreeSet::new();
    // Hashes of the locations, since the dictionaries of segments differ.
    let mut all: Vec<u64> = Vec::new();
    for segment in segments {
        let twice = each_location(segment, &mut |location| all.push(hash(location)))?;
        files.extend(twice.iter().map(|location| file_of(location, hasher)));
    }
    all.sort_unstable();
    let twice: BTreeSet<u64> = all
        .windows(2)
        .filter(|two| two[0] == two[1])
        .map(|two| two[0])
        .collect();
    drop(all);
    if !twice.is_empty() {
        for segment in segments {
            each_location(segment, &mut |location| {
                if twice.contains(&hash(location)) {
                    files.insert(file_of(location, hasher));
                }
            })?;
        }
    }
    Ok(files.into_iter().collect())
}

/// Calls `each` with the locations of a segment's documents, and returns those that several
/// documents have.
fn each_location(
    segment: &SegmentReader,
    each: &mut dyn FnMut(&[u8]),
) -> tantivy::Result<Vec<Vec<u8>>> {
    let Some(locations) = segment.fast_fields().bytes(LOCATION)? else {
        return Ok(Vec::new());
    };
    let of = |doc| locations.ords().first(doc);
    let mut numbers: Vec<u64> = segment.doc_ids_alive().filter_map(of).collect();
    numbers.sort_unstable();
    let pairs = numbers.windows(2).filter(|two| two[0] == two[1]);
    let twice: BTreeSet<u64> = pairs.map(|two| two[0]).collect();
    numbers.dedup();
    let mut several = Vec::new();
    let mut next = numbers.iter();
    locations
        .dictionary()
        .sorted_ords_to_term_cb(&numbers, |location| {
            each(location);
            if next.next().is_some_and(|number| twice.contains(number)) {
                several.push(location.to_vec());
            }
        })?;
    Ok(several)
}

fn hash(location: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(location);
    hasher.finish()
}

fn file_of(location: &[u8], hasher: &KeyHasher) -> FileKey {
    hasher.key(&Location::from_bytes(location).path)
}

fn number(column: &Column<u64>, doc: u32) -> u64 {
    column.first(doc).unwrap_or(0)
}

/// Sorts rows by key and keeps one for each file, preferably one with a token.
pub(crate) fn unite(rows: &mut Vec<FileRow>) {
    rows.sort_unstable_by_key(|row| (row.key, std::cmp::Reverse(row.token)));
    rows.dedup_by_key(|row| row.key);
}
