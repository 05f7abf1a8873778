//! The catalogue's rows: which files a commit holds, with their stamps.

use std::collections::BTreeSet;

use ken_core::{FileKey, FileRow};
use tantivy::SegmentReader;
use tantivy::columnar::Column;

use crate::schema::{IDENTITY, KEY, STAMP};

/// Appends the rows of a segment: one for each file's own document, and one with token 0 for each
/// file that has parts here. The caller drops the latter where the file's own document exists.
pub(crate) fn read(segment: &SegmentReader, rows: &mut Vec<FileRow>) -> tantivy::Result<()> {
    let columns = segment.fast_fields();
    let keys = columns.u64(KEY)?;
    let tokens = columns.u64(STAMP)?;
    let identities = columns.u64(IDENTITY)?;
    let mut parts: BTreeSet<u64> = BTreeSet::new();
    let mut last_part = None;
    for doc in segment.doc_ids_alive() {
        let Some(key) = keys.first(doc) else { continue };
        match tokens.first(doc) {
            Some(token) => rows.push(FileRow {
                key: FileKey(key),
                token,
                identity: number(&identities, doc),
            }),
            // The parts of a file mostly stand side by side.
            None if last_part == Some(key) => {}
            None => {
                last_part = Some(key);
                parts.insert(key);
            }
        }
    }
    rows.extend(parts.into_iter().map(|key| FileRow {
        key: FileKey(key),
        token: 0,
        identity: 0,
    }));
    Ok(())
}

fn number(column: &Column<u64>, doc: u32) -> u64 {
    column.first(doc).unwrap_or(0)
}

/// Sorts rows by key and keeps one for each file: the one with a token, if there is one.
pub(crate) fn unite(rows: &mut Vec<FileRow>) {
    rows.sort_unstable_by_key(|row| (row.key, std::cmp::Reverse(row.token)));
    rows.dedup_by_key(|row| row.key);
}
