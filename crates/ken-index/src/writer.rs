//! Writing: batches of records, deletions, commits.
//!
//! Many threads add records at once; the engine's threads build one segment each. A commit waits
//! for them and makes everything since the last one visible, or nothing after a crash.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ken_core::{Field, FileKey};
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{IndexSettings, IndexWriter, TantivyError, Term};

use crate::directory::WriteDirectory;
use crate::record::Row;
use crate::schema::{Columns, tokenizers};
use crate::version::FORMAT;
use crate::{Error, Meta, Record};

/// The engine refuses less memory for a thread.
const MIN_ARENA_BYTES: usize = 15 << 20;
/// The engine refuses more memory for a thread.
const MAX_ARENA_BYTES: usize = (4 << 30) - (1 << 20);
/// More threads than this do not make the engine faster on one index.
const MAX_THREADS: usize = 8;

/// How a [`Writer`] works.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Memory of the segments that are being built, all together, in bytes.
    pub memory_bytes: usize,
    /// Threads that build segments.
    pub threads: usize,
}

impl WriterOptions {
    /// Returns how many threads there are and how much memory each has: fewer threads rather than
    /// more memory than was asked for.
    fn division(self) -> (usize, usize) {
        let affordable = (self.memory_bytes / MIN_ARENA_BYTES).clamp(1, MAX_THREADS);
        let threads = self.threads.clamp(1, affordable);
        let arena = (self.memory_bytes / threads).clamp(MIN_ARENA_BYTES, MAX_ARENA_BYTES);
        (threads, arena)
    }
}

/// The one writer of an index. A lock that dies with the process keeps others out.
pub struct Writer {
    path: PathBuf,
    columns: Columns,
    meta: Meta,
    /// The engine, or why it is no more.
    engine: RwLock<Result<IndexWriter<Row>, TantivyError>>,
}

impl Writer {
    /// Opens the index in a folder for writing; makes both if they are not there.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another process writes the index, and if the index is
    /// damaged, of another version, or cannot be written.
    pub fn open(path: &Path, options: WriterOptions) -> Result<Self, Error> {
        fs_err::create_dir_all(path)?;
        let engine_error = |source| Error::Engine {
            path: path.to_path_buf(),
            source,
        };
        let columns = Columns::new();
        let directory = WriteDirectory::open(path).map_err(engine_error)?;
        let known = tantivy::Index::exists(&directory).map_err(|e| engine_error(e.into()))?;
        let index = if known {
            tantivy::Index::open(directory)
        } else {
            tantivy::Index::create(directory, columns.schema.clone(), settings())
        };
        let mut index = index.map_err(engine_error)?;
        index.set_tokenizers(tokenizers());
        let (threads, arena) = options.division();
        let engine = index
            .writer_with_options(
                IndexWriterOptions::builder()
                    .num_worker_threads(threads)
                    .memory_budget_per_thread(arena)
                    .num_merge_threads(1)
                    .build(),
            )
            .map_err(|error| match error {
                TantivyError::LockFailure(LockError::LockBusy, _) => {
                    Error::Busy(path.to_path_buf())
                }
                other => engine_error(other),
            })?;
        engine.set_merge_policy(Box::new(LogMergePolicy::default()));
        // Read under the lock: another writer may have committed before it was ours.
        let meta = match read_meta(path, &index)? {
            Some(meta) if index.schema() == columns.schema => meta,
            Some(meta) => {
                return Err(Error::Damaged {
                    path: path.to_path_buf(),
                    message: format!("format {} with another schema", meta.format),
                });
            }
            None => Meta::new(),
        };
        // A killed writer leaves files that no commit names. Deletions are written to files named
        // after the number of the operation, and this writer may come to the same number.
        engine
            .garbage_collect_files()
            .wait()
            .map_err(engine_error)?;
        Ok(Self {
            path: path.to_path_buf(),
            columns,
            meta,
            engine: RwLock::new(Ok(engine)),
        })
    }

    /// Returns the meta of the last commit.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Adds a document; it is visible after the next commit.
    ///
    /// Waits while the engine's queue is full.
    ///
    /// # Errors
    /// Fails if the engine's threads died, for instance because the disk is full.
    pub fn add(&self, record: Record) -> Result<(), Error> {
        let row = record.into_row(&self.columns);
        self.ask(|engine| engine.add_document(row))
    }

    /// Deletes all documents of a file that were added before.
    pub fn delete(&self, key: FileKey) {
        let term = Term::from_field_u64(self.columns.key, key.0);
        if let Ok(engine) = &*self.read() {
            engine.delete_term(term);
        }
    }

    /// Checks that what was added will be taken in: whoever waits for that asks now and then.
    ///
    /// # Errors
    /// Fails if the engine's threads died. What waits in its queue is let go then.
    pub fn check(&self) -> Result<(), Error> {
        // The engine tells only when it is given something. No document has an empty type.
        let nothing = Term::from_field_text(self.columns.of(Field::Type), "");
        self.ask(|engine| engine.run([UserOperation::Delete(nothing)]))
    }

    /// Makes everything since the last commit visible, with this meta.
    ///
    /// # Errors
    /// Fails if anything could not be written; the last commit stays as it is, and the writer can
    /// only be dropped.
    pub fn commit(&self, meta: &Meta) -> Result<(), Error> {
        // A struct of numbers, paths and text always has a JSON form.
        let payload = serde_json::to_string(meta).unwrap_or_default();
        let commit = |engine: &mut IndexWriter<Row>| {
            let mut prepared = engine.prepare_commit()?;
            prepared.set_payload(&payload);
            prepared.commit()
        };
        let outcome = match &mut *self.write() {
            Ok(engine) => commit(engine),
            Err(cause) => Err(cause.clone()),
        };
        outcome.map(|_| ()).map_err(|source| self.bury(source))
    }

    /// Waits for the merges that are under way and lets the index go.
    ///
    /// # Errors
    /// Fails if a merge failed; the commits stay as they are.
    pub fn close(self) -> Result<(), Error> {
        let path = self.path;
        self.engine
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .and_then(IndexWriter::wait_merging_threads)
            .map_err(|source| Error::Engine { path, source })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&IndexWriter<Row>) -> tantivy::Result<T>,
    ) -> Result<(), Error> {
        let answer = match &*self.read() {
            Ok(engine) => question(engine),
            Err(cause) => Err(cause.clone()),
        };
        answer.map(|_| ()).map_err(|noticed| self.bury(noticed))
    }

    /// Ends the engine after an error, with all that waits in its queue, and returns the cause:
    /// the thread that died knows it, who notices that it is dead does not.
    fn bury(&self, noticed: TantivyError) -> Error {
        let mut engine = self.write();
        let cause = match &mut *engine {
            Ok(dead) => dead.prepare_commit().err().unwrap_or(noticed),
            Err(known) => known.clone(),
        };
        *engine = Err(cause.clone());
        self.error(cause)
    }

    fn read(&self) -> RwLockReadGuard<'_, Result<IndexWriter<Row>, TantivyError>> {
        self.engine.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Result<IndexWriter<Row>, TantivyError>> {
        self.engine.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, source: TantivyError) -> Error {
        Error::Engine {
            path: self.path.clone(),
            source,
        }
    }
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor {
            compression_level: Some(1),
        }),
        // The threads that build segments are as many as cores: one more only switches contexts.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// Reads the meta of the last commit; none before the first.
pub(crate) fn read_meta(path: &Path, index: &tantivy::Index) -> Result<Option<Meta>, Error> {
    let metas = index.load_metas().map_err(|source| Error::Engine {
        path: path.to_path_buf(),
        source,
    })?;
    let Some(payload) = metas.payload else {
        return Ok(None);
    };
    let meta: Meta = serde_json::from_str(&payload).map_err(|error| Error::Damaged {
        path: path.to_path_buf(),
        message: format!("its commit cannot be read: {error}"),
    })?;
    if meta.format != FORMAT {
        return Err(Error::Version {
            path: path.to_path_buf(),
            found: meta.format,
            expected: FORMAT,
        });
    }
    Ok(Some(meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_makes_fewer_threads() {
        let division = |memory_bytes, threads| {
            WriterOptions {
                memory_bytes,
                threads,
            }
            .division()
        };
        assert_eq!(division(256 << 20, 4), (4, 64 << 20));
        assert_eq!(division(32 << 20, 64), (2, 16 << 20));
        assert_eq!(division(0, 0), (1, MIN_ARENA_BYTES));
    }
}
