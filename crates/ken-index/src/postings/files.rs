//! Finds the documents of a file by its key.
//!
//! A term is the first half of a key, which halves the dictionary: half a key is as good as random,
//! and few keys in a segment share it. Each document is compared with the whole key, in the column.

use std::path::PathBuf;

use ken_core::{FileKey, Location};
use tantivy::columnar::Column as Keys;
use tantivy::index::InvertedIndexReader;
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use crate::schema::{KEY, LOCATION};

/// Returns the number from which the term of a file is made.
pub(crate) fn half(key: FileKey) -> u64 {
    key.0 >> 32
}

/// Calls `each` with the documents of some files in a segment, including deleted ones, each with
/// the value of its file.
pub(crate) fn each_document<T: Copy>(
    segment: &SegmentReader,
    file: Column,
    keys: impl IntoIterator<Item = (FileKey, T)>,
    each: impl FnMut(DocId, T),
) -> tantivy::Result<()> {
    let terms = segment.inverted_index(file)?;
    let column = segment.fast_fields().u64(KEY)?;
    each_among(&terms, file, &column, keys, each)
}

/// Does the same, given the postings and the keys of a segment: opening these takes longer than
/// looking up a file.
pub(crate) fn each_among<T: Copy>(
    terms: &InvertedIndexReader,
    file: Column,
    of_documents: &Keys<u64>,
    keys: impl IntoIterator<Item = (FileKey, T)>,
    mut each: impl FnMut(DocId, T),
) -> tantivy::Result<()> {
    for (key, with) in keys {
        let term = Term::from_field_u64(file, half(key));
        let Some(mut postings) = terms.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if of_documents.first(doc) == Some(key.0) {
                each(doc, with);
            }
            postings.advance();
        }
    }
    Ok(())
}

/// Looks up the unknown paths of some files that a segment has documents of.
///
/// Reads the dictionary of locations once, in order: separate look-ups would unpack the same block
/// repeatedly.
pub(crate) fn paths(
    segment: &SegmentReader,
    file: Column,
    keys: &[FileKey],
    paths: &mut [Option<PathBuf>],
) -> tantivy::Result<()> {
    let Some(locations) = segment.fast_fields().bytes(LOCATION)? else {
        return Ok(());
    };
    let mut wanted: Vec<(u64, usize)> = Vec::new();
    let unknown = keys
        .iter()
        .enumerate()
        .filter(|(at, _)| paths[*at].is_none());
    each_document(
        segment,
        file,
        unknown.map(|(at, key)| (*key, at)),
        |doc, at| {
            if !segment.is_deleted(doc) && wanted.last().is_none_or(|(_, last)| *last != at) {
                wanted.extend(locations.ords().first(doc).map(|number| (number, at)));
            }
        },
    )?;
    wanted.sort_unstable();
    let numbers: Vec<u64> = wanted.iter().map(|(number, _)| *number).collect();
    let mut wanted = wanted.into_iter();
    locations
        .dictionary()
        .sorted_ords_to_term_cb(&numbers, |location| {
            if let Some((_, at)) = wanted.next() {
                paths[at] = Some(Location::from_bytes(location).path);
            }
        })?;
    Ok(())
}
