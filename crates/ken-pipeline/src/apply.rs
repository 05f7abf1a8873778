//! From an extracted document to the record that the index keeps.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_core::{Document, Field, FileKey, Location};
use ken_extract::helper::ocr;
use ken_index::{FileState, Record};

use crate::Progress;
use crate::budget::Budget;
use crate::writer::LazyWriter;

/// Smaller documents are not counted: they are as many as threads.
const LARGE_BYTES: usize = 1 << 20;

/// What all documents of a file share.
#[derive(Debug)]
pub(crate) struct FileFacts<'a> {
    pub(crate) path: &'a Path,
    pub(crate) key: FileKey,
    pub(crate) mtime_seconds: i64,
}

/// Hands documents to the index.
pub(crate) struct Applier<'r> {
    pub(crate) writer: &'r LazyWriter,
    /// For large documents, of which the index holds several copies while it takes one in.
    pub(crate) documents: Arc<Budget>,
    pub(crate) progress: &'r Progress,
}

impl Applier<'_> {
    /// Adds a document of a file; `state` is set on the file's own document, the last one.
    pub(crate) fn add(
        &self,
        file: &FileFacts<'_>,
        state: Option<FileState>,
        mut document: Document,
    ) -> Result<(), ken_index::Error> {
        complete(&mut document, file);
        if ocr::is_textless(&document) && !crate::ocr::is_done(&document) {
            document.join_text(Field::Is, crate::ocr::TEXTLESS);
        }
        self.progress.documents.fetch_add(1, Ordering::Relaxed);
        if document.failure.is_some() {
            self.progress.failures.fetch_add(1, Ordering::Relaxed);
        }
        let n_bytes = document.memory_bytes();
        let _share = (n_bytes >= LARGE_BYTES).then(|| self.documents.take(n_bytes));
        self.writer.get()?.add(Record {
            location: Location {
                path: file.path.to_path_buf(),
                ipath: document.ipath.clone(),
            },
            key: file.key,
            state,
            document,
        })
    }

    /// Deletes all documents of a file that were added before.
    pub(crate) fn delete(&self, key: FileKey) -> Result<(), ken_index::Error> {
        self.writer.get()?.delete(key);
        Ok(())
    }
}

/// Sets what only the walk knows, and the date that every document has.
fn complete(document: &mut Document, file: &FileFacts<'_>) {
    if document.ipath.is_root() || document.number(Field::Modified).is_none() {
        document
            .fields
            .retain(|(field, _)| *field != Field::Modified);
        document.add_number(Field::Modified, file.mtime_seconds);
    }
    if document.number(Field::Date).is_none() {
        let modified = document.number(Field::Modified).unwrap_or_default();
        document.add_number(Field::Date, modified);
    }
    // One value each: these are columns, and sorting reads the first.
    for field in [Field::Date, Field::Size, Field::Created, Field::Pages] {
        keep_first(document, field);
    }
}

fn keep_first(document: &mut Document, field: Field) {
    let mut seen = false;
    document
        .fields
        .retain(|(other, _)| *other != field || !std::mem::replace(&mut seen, true));
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind};

    use super::*;

    fn facts() -> FileFacts<'static> {
        FileFacts {
            path: Path::new("/d/a.txt"),
            key: FileKey(1),
            mtime_seconds: 5,
        }
    }

    #[test]
    fn every_document_has_one_date() {
        let mut own = Document::new(Ipath::root(), "text/plain", Kind::Document);
        own.add_number(Field::Modified, 1);
        complete(&mut own, &facts());
        assert_eq!(
            own.number(Field::Modified),
            Some(5),
            "the file system knows best"
        );
        assert_eq!(own.number(Field::Date), Some(5));

        let mut member = Document::new(Ipath::root().child("m"), "text/plain", Kind::Document);
        member.add_number(Field::Modified, 2);
        member.add_number(Field::Date, 3);
        member.add_number(Field::Date, 4);
        complete(&mut member, &facts());
        assert_eq!(member.number(Field::Modified), Some(2));
        let dates = member
            .fields
            .iter()
            .filter(|(field, _)| *field == Field::Date);
        assert_eq!(dates.count(), 1);
        assert_eq!(member.number(Field::Date), Some(3));
    }
}
