//! Writing: records, deletions, commits.
//!
//! Each thread that adds documents builds a segment of its own, in one of the writer's *slots*. A
//! commit finishes all of them and makes everything since the last one visible, or nothing after a
//! crash.

mod deletion;
mod merge_policy;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use ken_core::FileKey;
use ken_engine::{Scope, Sequence, Sink};
use tantivy::directory::error::LockError;
use tantivy::indexer::IndexWriterOptions;
use tantivy::schema::{Document as EngineDocument, Field as Column, OwnedValue};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{Index, IndexSettings, IndexWriter, SegmentMeta, TantivyError};

use self::deletion::{Deletion, DeletionQuery};
use self::merge_policy::BoundedMerges;
use crate::dictionary::{self, Small};
use crate::directory::WriteDirectory;
use crate::meta::{Payload, read_commit};
use crate::parallel;
use crate::record::{self, Row};
use crate::schema::Columns;
use crate::segment::{SegmentBuilder, Thresholds};
use crate::store::body;
use crate::{Error, Meta, Record, error};

/// Smaller segments cost more in merging than a thread of their own brings.
const MIN_SLOT_BYTES: usize = 8 << 20;
/// Larger segments would overflow the numbers of their tables.
const MAX_SLOT_BYTES: usize = 1 << 30;

/// How a [`Writer`] works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Memory of the segments that are being built, all together, in bytes.
    pub memory_bytes: usize,
    /// Threads that add documents.
    pub threads: usize,
}

impl WriterOptions {
    /// Returns how many segments are built at once and how much memory each has: fewer segments
    /// rather than more memory than was asked for.
    fn division(self) -> (usize, usize) {
        let affordable = (self.memory_bytes / MIN_SLOT_BYTES).max(1);
        let slots = self.threads.clamp(1, affordable);
        let each = (self.memory_bytes / slots).clamp(MIN_SLOT_BYTES, MAX_SLOT_BYTES);
        (slots, each)
    }

    /// Returns how many merges run at once. At the end of a run nothing else is left to do, and all that
    /// are due together are at most about eight.
    fn merge_threads(self) -> usize {
        (self.threads / 2).clamp(1, 8)
    }
}

/// The one writer of an index. A lock that dies with the process keeps others out.
pub struct Writer {
    path: PathBuf,
    columns: Columns,
    meta: Meta,
    index: Index,
    slots: Vec<Slot>,
    slot_bytes: usize,
    /// The number of deletions so far.
    sequence: AtomicU64,
    /// The deletions since the last commit.
    deleted: Mutex<Vec<Deletion>>,
    files: WriteDirectory,
    /// See [`Sink::set_bulk`].
    deferred_merges: Arc<AtomicBool>,
    /// Keeps the list of segments, deletes, merges and commits.
    engine: RwLock<IndexWriter<NoDocument>>,
    /// The error after which nothing can be written.
    dead: OnceLock<TantivyError>,
}

/// A slot in which one segment at a time is built.
type Slot = Mutex<Option<SegmentBuilder>>;

impl Writer {
    /// Opens the index in a folder for writing; makes both if they are not there.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another process writes the index, and if the index is
    /// damaged, of another version, or cannot be written.
    pub fn open(path: &Path, options: WriterOptions) -> Result<Self, Error> {
        ken_private::create_folder(path)?;
        let engine_error = |source| error::of_opening(path, source);
        let columns = Columns::new();
        let directory = WriteDirectory::open(path).map_err(engine_error)?;
        let files = directory.clone();
        let known = Index::exists(&directory).map_err(|e| engine_error(e.into()))?;
        let index = if known {
            Index::open(directory)
        } else {
            Index::create(directory, columns.schema.clone(), settings())
        };
        let index = index.map_err(engine_error)?;
        let engine = index
            .writer_with_options(
                // Its own builder is not used: one thread, which sleeps.
                IndexWriterOptions::builder()
                    .num_merge_threads(options.merge_threads())
                    .build(),
            )
            .map_err(|error| match error {
                TantivyError::LockFailure(LockError::LockBusy, _) => {
                    Error::Busy(path.to_path_buf())
                }
                other => engine_error(other),
            })?;
        let deferred_merges = Arc::default();
        let before = index.searchable_segment_metas().unwrap_or_default();
        let before: Vec<u32> = before.iter().map(SegmentMeta::num_docs).collect();
        engine.set_merge_policy(Box::new(BoundedMerges::new(
            // A run with little to do has few threads, and the index was built by more.
            options.threads.max(parallel::n_cores()),
            options.merge_threads(),
            &before,
            &deferred_merges,
        )));
        // Read under the lock: another writer may have committed before it was ours.
        let payload = match read_commit(path, &index)? {
            Some(commit) if index.schema() == columns.schema => commit.payload,
            Some(_) => {
                return Err(Error::Damaged {
                    path: path.to_path_buf(),
                    message: "it has another schema".to_owned(),
                });
            }
            None => Payload::new(Meta::new(), 0),
        };
        files.sweep()?;
        let named = index.load_metas().map_err(engine_error)?;
        // A killed writer leaves those of segments that no commit names.
        dictionary::delete_others(path, named.segments.iter().map(SegmentMeta::id))?;
        files.trust(named.list_segment_files().into_iter());
        // A killed writer leaves files that no commit names. DeletionQuery are written to files named
        // after the number of the operation, and this writer may come to the same number.
        engine
            .garbage_collect_files()
            .wait()
            .map_err(engine_error)?;
        let (n_slots, slot_bytes) = options.division();
        Ok(Self {
            path: path.to_path_buf(),
            columns,
            index,
            slots: std::iter::repeat_with(Slot::default)
                .take(n_slots)
                .collect(),
            slot_bytes,
            sequence: AtomicU64::new(payload.sequence),
            deleted: Mutex::default(),
            meta: payload.meta,
            deferred_merges,
            engine: RwLock::new(engine),
            files,
            dead: OnceLock::new(),
        })
    }

    /// Returns the segment if it is full and was finished.
    fn add_in(
        &self,
        slot: &mut Option<SegmentBuilder>,
        row: Row,
    ) -> Result<Option<SegmentMeta>, TantivyError> {
        let builder = match slot {
            Some(builder) => builder,
            None => slot.insert(SegmentBuilder::new(
                &self.index,
                &self.path,
                Thresholds::default(),
            )?),
        };
        // The row may be large, and to make room takes memory: it is dropped here.
        builder.add(row, &self.columns)?;
        match builder.fit(self.slot_bytes)? {
            true => Ok(None),
            false => slot.take().map(SegmentBuilder::finish).transpose(),
        }
    }

    /// Finishes segments, all at once: at the end of a run they are as many as cores. Each is synced while
    /// others are built, and meanwhile something else is done.
    fn finish_all<T>(
        &self,
        builders: Vec<SegmentBuilder>,
        meanwhile: impl FnOnce() -> T,
    ) -> (Result<Vec<SegmentMeta>, TantivyError>, T) {
        std::thread::scope(|scope| {
            let finish = |builder: SegmentBuilder| {
                let segment = builder.finish()?;
                self.files.sync_early(segment.id());
                Ok(segment)
            };
            let finishing: Vec<_> = builders
                .into_iter()
                .map(|builder| scope.spawn(move || finish(builder)))
                .collect();
            let done = meanwhile();
            let segments = finishing.into_iter().map(|thread| {
                let outcome = thread.join();
                outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            (segments.collect(), done)
        })
    }

    fn commit_in(
        &self,
        engine: &mut IndexWriter<NoDocument>,
        meta: &Meta,
    ) -> Result<u64, TantivyError> {
        let mut files = std::mem::take(&mut *lock(&self.deleted));
        if !files.is_empty() {
            files.sort_unstable();
            engine.delete_query(Box::new(DeletionQuery {
                file: self.columns.file,
                files: Arc::new(files),
            }))?;
        }
        let payload = Payload::new(meta.clone(), self.sequence.load(Ordering::Relaxed));
        let mut prepared = engine.prepare_commit()?;
        prepared.set_payload(&payload.to_json());
        prepared.commit()
    }

    /// Waits for the merges that are under way, and lets the index go.
    ///
    /// # Errors
    /// Fails if a merge failed. The commits stay as they are.
    pub fn close(self) -> Result<(), Error> {
        let engine = self.engine.into_inner();
        let engine = engine.unwrap_or_else(PoisonError::into_inner);
        let closed = match self.dead.into_inner() {
            Some(source) => Err(source),
            None => engine
                .wait_merging_threads()
                .and_then(|()| dictionary::update(&self.index, &self.path, Small::default())),
        };
        closed.map_err(|source| error::engine_error(&self.path, source))
    }

    /// Returns a free slot, if possible that of this thread, so that threads do not wait for each other.
    fn free_slot(&self) -> MutexGuard<'_, Option<SegmentBuilder>> {
        let own = thread_number() % self.slots.len();
        let (before, from_own) = self.slots.split_at(own);
        let mut slots = from_own.iter().chain(before);
        let free = slots.find_map(|slot| slot.try_lock().ok());
        free.unwrap_or_else(|| lock(&self.slots[own]))
    }

    /// Hands segments that are written to the engine.
    fn take_in(&self, segments: impl IntoIterator<Item = SegmentMeta>) -> Result<(), Error> {
        let engine = read(&self.engine);
        for segment in segments {
            engine
                .add_segment(segment)
                .map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        if let Some(cause) = self.dead.get() {
            return Err(self.error(cause.clone()));
        }
        // It holds a part of a document, whose terms would be those of the next one.
        if self.slots.iter().any(Mutex::is_poisoned) {
            let cause = "a thread panicked while it added a document".to_owned();
            return Err(self.fail(TantivyError::InternalError(cause)));
        }
        Ok(())
    }

    /// Ends the writer after an error: documents may be lost that a commit must not miss.
    fn fail(&self, error: TantivyError) -> Error {
        self.error(self.dead.get_or_init(|| error).clone())
    }

    fn error(&self, source: TantivyError) -> Error {
        error::engine_error(&self.path, source)
    }
}

impl Sink for Writer {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn now(&self) -> Sequence {
        Sequence(self.sequence.load(Ordering::Relaxed))
    }

    fn add_at(&self, moment: Sequence, record: Record) -> Result<(), Error> {
        self.check()?;
        let row = record::row(record, &self.columns, moment)?;
        let mut slot = self.free_slot();
        let full = self.add_in(&mut slot, row);
        self.take_in(full.map_err(|error| self.fail(error))?)
    }

    fn delete(&self, key: FileKey, scope: Scope) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.deleted).push(Deletion {
            key,
            scope,
            sequence,
        });
    }

    fn commit_with(&self, prepare: &mut dyn FnMut() -> Result<Meta, Error>) -> Result<(), Error> {
        // All slots are held until the end. Otherwise a file's own document, which says that the
        // file is finished, might be committed from one slot without its parts in another.
        let mut slots: Vec<_> = self.slots.iter().map(lock).collect();
        self.check()?;
        let builders = slots.iter_mut().filter_map(|slot| slot.take());
        let (segments, meta) = self.finish_all(builders.collect(), prepare);
        self.take_in(segments.map_err(|error| self.fail(error))?)?;
        let meta = meta?;
        let mut engine = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        let committed = self.commit_in(&mut engine, &meta);
        committed.map(|_| ()).map_err(|error| self.fail(error))
    }

    fn set_synced(&self, synced: bool) {
        self.files.set_synced(synced);
    }

    fn set_bulk(&self, bulk: bool) {
        self.deferred_merges.store(bulk, Ordering::Relaxed);
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Self::close(*self)
    }
}

/// Returns a small number of this thread's own.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor {
            compression_level: Some(body::LEVEL),
        }),
        // The threads that build segments are as many as cores: one more only switches contexts.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// The engine's own builder is given none. It has a queue of ten thousand batches of documents, whose memory is touched
/// for each commit: with [`Row`] for documents that took 4 ms, twice, in a run for one message.
enum NoDocument {}

impl EngineDocument for NoDocument {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = std::iter::Empty<(Column, &'a OwnedValue)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_makes_fewer_segments() {
        let division = |memory_bytes, threads| {
            WriterOptions {
                memory_bytes,
                threads,
            }
            .division()
        };
        assert_eq!(division(256 << 20, 4), (4, 64 << 20));
        assert_eq!(division(32 << 20, 64), (4, 8 << 20));
        assert_eq!(division(0, 0), (1, MIN_SLOT_BYTES));
    }

    #[test]
    fn a_document_added_in_part_is_not_committed() {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions {
            memory_bytes: 30 << 20,
            threads: 2,
        };
        let writer = Writer::open(folder.path(), options).unwrap();
        writer.commit(&writer.meta().clone()).unwrap();
        let adding = std::panic::AssertUnwindSafe(|| {
            let _slot = writer.free_slot();
            panic!("in the middle of a document");
        });
        assert!(std::panic::catch_unwind(adding).is_err());
        let error = writer.commit(&writer.meta().clone()).unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
    }
}
