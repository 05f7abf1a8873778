//! The documents of a file, found by its key.
//!
//! A term is the first half of a key, which makes the dictionary half as large: half a key is as
//! good as random, and keeps little company in a segment. Each document found is compared with its
//! whole key, in the column.

use ken_core::FileKey;
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

use crate::schema::KEY;

/// Returns what the term of a file is made of.
pub(crate) fn half(key: FileKey) -> u64 {
    key.0 >> 32
}

/// Calls `each` with the documents of some files in a segment, deleted ones too, each with what
/// came with its file.
pub(crate) fn each_document<T: Copy>(
    segment: &SegmentReader,
    file: Column,
    keys: impl IntoIterator<Item = (FileKey, T)>,
    mut each: impl FnMut(DocId, T),
) -> tantivy::Result<()> {
    let terms = segment.inverted_index(file)?;
    let column = segment.fast_fields().u64(KEY)?;
    for (key, with) in keys {
        let term = Term::from_field_u64(file, half(key));
        let Some(mut postings) = terms.read_postings(&term, IndexRecordOption::Basic)? else {
            continue;
        };
        while postings.doc() != TERMINATED {
            let doc = postings.doc();
            if column.first(doc) == Some(key.0) {
                each(doc, with);
            }
            postings.advance();
        }
    }
    Ok(())
}
