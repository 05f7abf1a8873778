//! Builds segments: documents to the engine's files, on the thread that adds them.
//!
//! Tantivy's own builder does the same by a table for all fields whose terms point to chains of
//! small blocks; this one takes about half of its time. The files are those of the engine, written
//! by its own serializers, so that reading and merging know no difference.

mod batch;
mod postings;
mod terms;
#[cfg(test)]
mod tests;

use ken_core::Field;
use tantivy::directory::TerminatingWrite;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::SegmentComponent;
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{Field as Column, IndexRecordOption, OwnedValue};
use tantivy::store::StoreWriter;
use tantivy::{DocId, Index, Segment, SegmentMeta, TantivyError};

use self::batch::Batch;
use self::postings::{Detail, Postings, Room};
use crate::analysis;
use crate::record::Row;
use crate::schema::Columns;

/// A segment that is being built.
pub(crate) struct SegmentBuilder {
    segment: Segment,
    n_docs: DocId,
    /// By column; none for those that are not searched by terms.
    postings: Vec<Option<Postings>>,
    batch: Box<Batch>,
    columns: FastFieldsWriter,
    store: StoreWriter,
}

impl SegmentBuilder {
    /// Starts a segment of the index.
    pub(crate) fn new(index: &Index) -> Result<Self, TantivyError> {
        let segment = index.new_segment();
        let schema = segment.schema();
        let settings = index.settings();
        let store = StoreWriter::new(
            segment.open_write(SegmentComponent::Store)?,
            settings.docstore_compression,
            settings.docstore_blocksize,
            settings.docstore_compress_dedicated_thread,
        )?;
        let postings = schema.fields().map(|(_, entry)| {
            let detail = match entry.field_type().index_record_option()? {
                IndexRecordOption::Basic => Detail::Documents,
                _ => Detail::Positions,
            };
            Some(Postings::new(detail, entry.has_fieldnorms()))
        });
        Ok(Self {
            n_docs: 0,
            postings: postings.collect(),
            batch: Box::new(Batch::new()),
            columns: FastFieldsWriter::from_schema_and_tokenizer_manager(
                &schema,
                index.fast_field_tokenizer().clone(),
            )?,
            store,
            segment,
        })
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, row: &Row, columns: &Columns) -> Result<(), TantivyError> {
        let doc = self.n_docs;
        for (column, value) in row.values() {
            let Some(postings) = &mut self.postings[column.field_id() as usize] else {
                continue;
            };
            let mut tokens = postings.value(doc, &mut self.batch);
            match value {
                OwnedValue::Str(text) => {
                    let field = columns.field(*column).unwrap_or(Field::Body);
                    analysis::analyze(field, text, |term, position, _| {
                        tokens.token(term.as_bytes(), position);
                    });
                }
                OwnedValue::U64(number) => tokens.token(&number.to_be_bytes(), 0),
                _ => {}
            }
            tokens.end();
        }
        self.columns.add_document(row)?;
        self.store.store(row, &columns.schema)?;
        self.n_docs += 1;
        Ok(())
    }

    /// Returns about how many bytes of memory it takes, with what finishing it will take.
    pub(crate) fn memory_bytes(&self) -> usize {
        let postings = self.postings.iter().flatten();
        postings.map(Postings::memory_bytes).sum::<usize>()
            + self.columns.mem_usage()
            + self.store.mem_usage()
    }

    /// Writes the files of the segment; they are the engine's when it is told of them.
    pub(crate) fn finish(mut self) -> Result<SegmentMeta, TantivyError> {
        self.write_norms()?;
        // First of all: it holds large buffers if there was a large document.
        self.store.close()?;
        let norms = FieldNormReaders::open(self.segment.open_read(SegmentComponent::FieldNorms)?)?;
        let mut serializer = InvertedIndexSerializer::open(&self.segment)?;
        let mut room = Room::default();
        for (id, postings) in self.postings.into_iter().enumerate() {
            let Some(postings) = postings.filter(|postings| !postings.is_empty()) else {
                continue;
            };
            let column = Column::from_field_id(id as u32);
            let norms = norms.get_field(column)?;
            let mut field = serializer.new_field(column, postings.n_tokens(), norms)?;
            postings.write(&mut room, &mut field)?;
            field.close()?;
        }
        serializer.close()?;
        drop(room);
        let mut file = self.segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut file, None)?;
        file.terminate()?;
        Ok(self.segment.with_max_doc(self.n_docs).meta().clone())
    }

    fn write_norms(&mut self) -> Result<(), TantivyError> {
        let file = self.segment.open_write(SegmentComponent::FieldNorms)?;
        let mut serializer = FieldNormsSerializer::from_write(file)?;
        for (id, postings) in self.postings.iter_mut().enumerate() {
            if let Some(norms) = postings.as_mut().and_then(|p| p.norms(self.n_docs)) {
                serializer.serialize_field(Column::from_field_id(id as u32), norms)?;
            }
        }
        Ok(serializer.close()?)
    }
}
