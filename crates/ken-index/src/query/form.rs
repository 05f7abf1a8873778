//! Which places of a term are written as they are asked for: `"Word"C`.
//!
//! Terms are folded, and further terms for each way of writing would make the index larger for
//! what is asked rarely. So the text is read again, but only of documents that hold all that is
//! asked for with its letters folded.

use ken_core::{Field, Written};
use tantivy::index::SegmentReader;
use tantivy::schema::{Field as Column, Value as _};
use tantivy::store::StoreReader;
use tantivy::{DocId, TantivyDocument};

use crate::analysis::{self, Form};

/// The texts of one field in one segment.
pub(super) struct Texts {
    store: StoreReader,
    column: Column,
    field: Field,
}

impl Texts {
    pub(super) fn open(reader: &SegmentReader, column: Column) -> tantivy::Result<Self> {
        let field = Field::at(column.field_id() as usize);
        Ok(Self {
            store: reader.get_store_reader(1)?,
            column,
            field: field.unwrap_or(Field::Body),
        })
    }

    /// Returns the positions at which a document has the form; none if it cannot be read.
    pub(super) fn positions(&self, doc: DocId, form: &Written) -> Vec<u32> {
        let mut found = Vec::new();
        let form = Form::new(form);
        let Ok(document) = self.store.get::<TantivyDocument>(doc) else {
            return found;
        };
        // As when the segment was built: a border before the first value, and one behind each.
        let mut base = 1;
        for text in document
            .get_all(self.column)
            .filter_map(|value| value.as_str())
        {
            let mut end = base;
            analysis::analyze(self.field, text, |term, position, bytes| {
                end = base + position + 2;
                if form.fits(term, &text[bytes]) {
                    found.push(base + position);
                }
            });
            base = end;
        }
        found.dedup();
        found
    }
}
