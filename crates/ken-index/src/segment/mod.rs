//! Builds segments: converts documents to the engine's files, on the thread that adds them.
//!
//! Tantivy's own builder has one table for all fields, whose terms point to chains of small blocks;
//! this builder takes about half of its time. The files are in the engine's format ([`engine`]
//! writes terms and postings), so reading and merging treat them like any others.
//!
//! Postings that memory has no room for go to disk and are read once, when the segment is finished
//! (see [`spill`]).

mod batch;
mod documents;
mod engine;
mod postings;
mod spill;
mod terms;
#[cfg(test)]
mod tests;
mod thresholds;
mod width;

use std::io;
use std::path::{Path, PathBuf};

use ken_core::{Field, TEXT_SEPARATOR};
use memchr::memmem;
use tantivy::directory::TerminatingWrite;
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::SegmentComponent;
use tantivy::schema::{Field as Column, IndexRecordOption, OwnedValue};
use tantivy::store::StoreWriter;
use tantivy::{DocId, Index, Segment, SegmentMeta, TantivyError};

use self::batch::Batch;
use self::documents::{Detail, Documents};
use self::engine::{FieldFiles, Files};
pub(crate) use self::postings::VALUE_GAP;
use self::postings::{Postings, Room, Sink};
use self::spill::Spill;
pub(crate) use self::thresholds::Thresholds;
use crate::analysis;
use crate::columns::sketch::Sketch;
use crate::dictionary::{ListWriter, Small};
use crate::record::Row;
use crate::schema::Columns;

/// Maximum number of parts: they are read side by side, each through its own buffer.
const MAX_PARTS: usize = 64;

/// Size of the terms of texts in memory from which their dictionaries have lists
/// ([`crate::dictionary`]).
const MANY_TERMS_BYTES: usize = 8 << 20;

/// A segment under construction.
pub(crate) struct SegmentBuilder {
    segment: Segment,
    thresholds: Thresholds,
    n_docs: DocId,
    /// By column; none for columns that are not searched by terms.
    postings: Vec<Option<Postings>>,
    /// Postings that were written out to this folder.
    spill: Option<Spill>,
    folder: PathBuf,
    batch: Box<Batch>,
    /// Memory for writing postings out, reused each time.
    room: Room,
    columns: FastFieldsWriter,
    /// The reported size of the columns without any documents: memory that is allocated but not
    /// written to.
    columns_room: usize,
    store: StoreWriter,
}

impl SegmentBuilder {
    /// Starts a segment of the index; postings that memory has no room for go to the folder.
    pub(crate) fn new(
        index: &Index,
        folder: &Path,
        thresholds: Thresholds,
    ) -> Result<Self, TantivyError> {
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
            Some(Postings::new(detail, entry.has_fieldnorms(), thresholds))
        });
        let columns = FastFieldsWriter::from_schema_and_tokenizer_manager(
            &schema,
            index.fast_field_tokenizer().clone(),
        )?;
        Ok(Self {
            thresholds,
            n_docs: 0,
            postings: postings.collect(),
            spill: None,
            folder: folder.to_path_buf(),
            batch: Box::new(Batch::new()),
            room: Room::default(),
            columns_room: columns.mem_usage(),
            columns,
            store,
            segment,
        })
    }

    /// Adds a document, and frees its row.
    pub(crate) fn add(&mut self, mut row: Row, columns: &Columns) -> Result<(), TantivyError> {
        let doc = self.n_docs;
        let mut sketch = Sketch::new();
        for (column, value) in row.searched() {
            let Some(postings) = &mut self.postings[column.field_id() as usize] else {
                continue;
            };
            match value {
                // Each text of a body is a value of its own, so that no phrase matches over two.
                OwnedValue::Str(text) if *column == columns.of(Field::Body) => {
                    for text in texts(text) {
                        let mut tokens = postings.value(doc, &mut self.batch);
                        analysis::analyze(Field::Body, text, |term, position, _| {
                            sketch.word(term.as_bytes());
                            tokens.token(term.as_bytes(), position);
                        });
                        tokens.end();
                    }
                }
                OwnedValue::Str(text) => {
                    let mut tokens = postings.value(doc, &mut self.batch);
                    let field = columns.field(*column).unwrap_or(Field::Body);
                    analysis::analyze(field, text, |term, position, _| {
                        tokens.token(term.as_bytes(), position);
                    });
                    tokens.end();
                }
                OwnedValue::U64(number) => {
                    let mut tokens = postings.value(doc, &mut self.batch);
                    tokens.token(&number.to_be_bytes(), 0);
                    tokens.end();
                }
                _ => postings.value(doc, &mut self.batch).end(),
            }
        }
        if let Some(sketch) = sketch.finish() {
            row.push(columns.sketch, sketch);
        }
        self.columns.add_document(&row)?;
        self.store.store(&row, &columns.schema)?;
        self.n_docs += 1;
        Ok(())
    }

    /// Reduces the segment's memory below `limit`, if it is above and this is possible, by writing
    /// postings out. Returns whether the memory is below the limit.
    pub(crate) fn fit(&mut self, limit: usize) -> Result<bool, TantivyError> {
        let postings = || self.postings.iter().flatten();
        let sum = |bytes: fn(&Postings) -> usize| postings().map(bytes).sum::<usize>();
        let n_occurrences = sum(Postings::occurrence_bytes);
        let n_postings =
            sum(Postings::memory_bytes) + sum(Postings::ordering_bytes) + n_occurrences;
        // Without kept memory, since nothing of it would be freed.
        let is_large = n_postings >= self.thresholds.part_bytes;
        let n_spare = self.room.bytes().saturating_sub(n_occurrences) + sum(Postings::spare_bytes);
        let n_norms = sum(Postings::norms_bytes);
        let others = self.columns.mem_usage() - self.columns_room + self.store.mem_usage();
        let kept = others + n_norms;
        let is_full = n_postings + n_spare + kept >= limit;
        if !is_full && !is_large {
            return Ok(true);
        }
        let n_parts = self.spill.as_ref().map_or(0, Spill::n_parts);
        if is_full && kept * 2 > limit || n_parts + 1 >= MAX_PARTS {
            return Ok(false);
        }
        self.write_out(limit)?;
        Ok(true)
    }

    /// Writes the postings so far to disk. The memory for it is kept for the next time: allocating
    /// it again from the system, which clears it, would take a twentieth of the time for source
    /// code. A segment without room for a whole part within `limit` keeps none, and frees what it
    /// no longer needs before it writes.
    fn write_out(&mut self, limit: usize) -> Result<(), TantivyError> {
        let n_kept = match limit > self.thresholds.part_bytes {
            true => limit / 4,
            false => 0,
        };
        if n_kept == 0 {
            let postings = self.postings.iter_mut().flatten();
            postings.for_each(Postings::forget_table);
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            None => {
                let spill = Spill::new(
                    &self.folder,
                    self.postings.len(),
                    self.thresholds.block_bytes,
                )?;
                self.spill.insert(spill)
            }
        };
        let columns = self.postings.iter_mut().enumerate();
        let columns = columns.filter_map(|(column, postings)| {
            let postings = postings.as_mut().filter(|postings| !postings.is_empty())?;
            Some((column, postings))
        });
        spill.write(columns, &mut self.room)?;
        self.room.keep(n_kept);
        let mut left = n_kept;
        for postings in self.postings.iter_mut().flatten() {
            left = left.saturating_sub(postings.clear(left));
        }
        Ok(())
    }

    /// Writes the files of the segment; the engine owns them once it takes them in.
    pub(crate) fn finish(mut self) -> Result<SegmentMeta, TantivyError> {
        let has_many_terms = self.has_many_terms();
        if self.spill.is_some() {
            self.write_out(0)?;
        }
        self.write_norms()?;
        // Before steps that take memory, since it holds large buffers if there was a large
        // document.
        self.store.close()?;
        let norms = FieldNormReaders::open(self.segment.open_read(SegmentComponent::FieldNorms)?)?;
        // A segment without the list is searched through its dictionary, and the end of the run
        // tries again.
        let mut lists = match has_many_terms {
            true => ListWriter::create(&self.folder, self.segment.id(), Small::default()).ok(),
            false => None,
        };
        let mut files = Files::open(&self.segment)?;
        for (id, postings) in self.postings.into_iter().enumerate() {
            let spill = self.spill.as_ref().filter(|spill| spill.has(id));
            let Some(mut postings) = postings.filter(|own| !own.is_empty() || spill.is_some())
            else {
                continue;
            };
            let column = Column::from_field_id(id as u32);
            let norms = norms.get_field(column)?;
            let has_positions = postings.detail() == Detail::Positions;
            let mut field = ListedField {
                files: files.field(column, has_positions, postings.n_tokens(), norms)?,
                lists: lists.take_if(|_| has_positions),
            };
            match spill {
                Some(spill) => spill.merge(id, postings.detail(), &mut field)?,
                None => {
                    postings.forget_table();
                    postings.write(&mut self.room, &mut field)?;
                }
            }
            field.files.close()?;
            if let Some(mut of_field) = field.lists {
                lists = of_field.end_field(column).is_ok().then_some(of_field);
            }
        }
        files.close()?;
        let _ = lists.map(ListWriter::finish);
        drop((self.room, self.spill));
        let mut file = self.segment.open_write(SegmentComponent::FastFields)?;
        self.columns.serialize(&mut file, None)?;
        file.terminate()?;
        Ok(self.segment.with_max_doc(self.n_docs).meta().clone())
    }

    /// Returns whether its dictionaries are large enough to need lists of their terms.
    fn has_many_terms(&self) -> bool {
        let texts = self.postings.iter().flatten();
        let texts = texts.filter(|postings| postings.detail() == Detail::Positions);
        self.spill.is_some() || texts.map(Postings::term_bytes).sum::<usize>() >= MANY_TERMS_BYTES
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

/// A field of the engine's files, with the list of its terms.
struct ListedField<'s> {
    files: FieldFiles<'s>,
    /// The list of its terms, if there is one.
    lists: Option<ListWriter>,
}

impl Sink for ListedField<'_> {
    fn term(&mut self, term: &[u8], n_docs: u32) -> io::Result<()> {
        if let Some(lists) = &mut self.lists
            && lists.term(term).is_err()
        {
            self.lists = None;
        }
        self.files.term(term, n_docs)
    }

    #[inline]
    fn documents(&mut self, documents: &Documents) -> io::Result<()> {
        self.files.documents(documents)
    }

    fn end_term(&mut self) -> io::Result<()> {
        self.files.end_term()
    }
}

/// Returns the texts of a body.
pub(crate) fn texts(body: &str) -> impl Iterator<Item = &str> {
    let ends = memmem::find_iter(body.as_bytes(), TEXT_SEPARATOR);
    let mut start = 0;
    ends.chain([body.len()]).map(move |end| {
        let text = &body[start..end];
        start = end + TEXT_SEPARATOR.len();
        text
    })
}
