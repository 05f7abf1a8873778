//! Finds the positions of a term at which it is written as required: `"Word"C`.
//!
//! Terms are folded, and separate terms for each way of writing would make the index larger for
//! rare queries. Instead, the text is read again, but only of documents that match the query in
//! folded form. If a word stands alone in the text as often as its term has positions, these
//! occurrences correspond to the positions in order, and the text need not be analysed.

use std::borrow::Cow;

use ken_core::{Field, FieldKind, Written};
use tantivy::DocId;
use tantivy::index::SegmentReader;
use tantivy::schema::Field as Column;
use tantivy::store::StoreReader;

use crate::analysis::{self, Form, alone};
use crate::store::body;
use crate::store::values::{self, StoredValue};

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

    /// Returns the term's positions in a document at which it has the form; none if the document
    /// cannot be read.
    pub(super) fn positions(&self, doc: DocId, form: &Written, held: &[u32]) -> Vec<u32> {
        let form = Form::new(form);
        if held.is_empty() {
            return Vec::new();
        }
        let Ok(document) = self.store.get_document_bytes(doc) else {
            return Vec::new();
        };
        let Some(texts) = self.texts(&document) else {
            return Vec::new();
        };
        // Most texts have the word only in another form, and analysing them would take several
        // times longer.
        if !texts.iter().any(|text| form.may_be_in(text)) {
            return Vec::new();
        }
        self.in_order(&texts, &form, held)
            .unwrap_or_else(|| self.analyzed(&texts, &form))
    }

    /// Returns the field's texts in a stored document; none if it is damaged.
    fn texts<'a>(&self, document: &'a [u8]) -> Option<Vec<Cow<'a, str>>> {
        let values = values::values(document)?.into_iter();
        let own = values.filter(|(column, _)| *column == self.column);
        own.map(|(_, value)| match value {
            StoredValue::Text(text) => Some(Cow::Borrowed(text)),
            // Several threads search segments already.
            StoredValue::Bytes(packed) => body::unpacked(packed, 1).map(Cow::Owned),
            StoredValue::Signed(_) => None,
        })
        .collect()
    }

    /// Returns `None` if not all positions belong to words that stand alone.
    fn in_order(&self, texts: &[Cow<'_, str>], form: &Form<'_>, held: &[u32]) -> Option<Vec<u32>> {
        let term = form.term().filter(|term| alone::is_plain(term))?;
        if self.field.info().kind != FieldKind::Text {
            return None;
        }
        let mut n_occurrences = 0;
        let mut found = Vec::new();
        for text in texts {
            let all_count = alone::occurrences(text, term, |range| {
                if form.fits(term, &text[range]) {
                    found.extend(held.get(n_occurrences));
                }
                n_occurrences += 1;
            });
            if !all_count {
                return None;
            }
        }
        (n_occurrences == held.len()).then_some(found)
    }

    fn analyzed(&self, texts: &[Cow<'_, str>], form: &Form<'_>) -> Vec<u32> {
        let mut found = Vec::new();
        // As when the segment was built: a border before the first value, and one after each.
        let mut base = 1;
        for text in texts {
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
