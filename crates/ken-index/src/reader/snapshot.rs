//! One commit of an index, opened without a lock.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ken_core::Ranking;
use ken_engine::{Error, Meta};
use tantivy::columnar::BytesColumn;
use tantivy::store::StoreReader;
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, TantivyError};

use crate::columns::DocumentColumns;
use crate::dictionary::{Dictionaries, Shortcuts};
use crate::directory::ReadDirectory;
use crate::error;
use crate::meta::Commit;
use crate::open::{Access, CommitStamp, is_outdated, open_engine};
use crate::parallel;
use crate::query::{Counts, Scoring};
use crate::schema::{Columns, LOCATION};
use crate::stem::Stemming;
use crate::{check, damage};

/// The maximum number of attempts to open if the writer commits or deletes old files at the same time.
const MAX_TRIES: usize = 20;

/// The number of blocks of stored documents that are kept unpacked for each segment. Neighbours share a block, and
/// several threads may read different ones.
const CACHED_BLOCKS: usize = 8;

/// One commit of an index. It does not change while a writer makes the next ones.
pub struct Snapshot {
    path: PathBuf,
    pub(super) columns: Columns,
    /// The number of the commit.
    pub(super) commit: u64,
    pub(super) meta: Meta,
    /// The number of documents in damaged segments.
    pub(super) n_left_out: u64,
    pub(crate) searcher: Searcher,
    pub(super) dictionaries: Dictionaries,
    pub(crate) shortcuts: Arc<Shortcuts>,
    pub(super) ranking: Ranking,
    pub(super) stemming: Stemming,
    pub(super) counts: Option<Arc<dyn Counts>>,
    scoring: OnceLock<Arc<Scoring>>,
    /// The columns and stores of each segment that are read for every shown document, once they are open.
    locations: Vec<OnceLock<BytesColumn>>,
    columns_of: Vec<OnceLock<DocumentColumns>>,
    stores: Vec<OnceLock<StoreReader>>,
}

impl Snapshot {
    /// Opens the last commit of the index in a folder.
    ///
    /// # Errors
    /// Fails with [`Error::Missing`] if there is no index, or none was committed, and if the
    /// index is damaged or of another version.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_for(Access::ManyQueries, path)
    }

    /// Opens the last commit for a process that asks it a query or two and ends, which takes some per cent less time
    /// than with [`Snapshot::open`]. Up to 128 files stay open, or a fourth of those that the process may have.
    ///
    /// # Errors
    /// Fails as [`Snapshot::open`] does.
    pub fn open_for_one_query(path: &Path) -> Result<Self, Error> {
        Self::open_for(Access::OneQuery, path)
    }

    fn open_for(access: Access, path: &Path) -> Result<Self, Error> {
        let mut tries = 0;
        let mut damaged = damage::noted(path);
        loop {
            tries += 1;
            let stamp = CommitStamp::of(path);
            let (directory, index, commit) = open_engine(path, access, &damaged)?;
            let columns = Columns::new();
            if index.schema() != columns.schema {
                return Err(Error::Damaged {
                    path: path.to_path_buf(),
                    message: "it has another schema".to_owned(),
                });
            }
            let opened = Self::of(path, directory, &index, columns, commit);
            let is_outdated = match &opened {
                // The segments of a newer commit would have the number of this one.
                Ok(_) => CommitStamp::of(path) != stamp,
                Err(source) => is_outdated(source),
            };
            if is_outdated && tries < MAX_TRIES {
                continue;
            }
            let error = match opened.map_err(|source| error::engine_error(path, source)) {
                // There is no newer commit: a file is gone for good.
                Err(error) if error.is_damage() || is_outdated => error,
                opened => return opened,
            };
            // A segment that cannot be opened does not hide the others.
            let found = check::find(path, parallel::n_cores())?.1;
            if found.is_subset(&damaged) {
                return Err(error);
            }
            damaged = found;
        }
    }

    fn of(
        path: &Path,
        directory: ReadDirectory,
        index: &Index,
        columns: Columns,
        commit: Commit,
    ) -> Result<Self, TantivyError> {
        let reader: IndexReader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            // Stored documents are read by readers of our own.
            .doc_store_cache_num_blocks(0)
            .try_into()?;
        let searcher = reader.searcher();
        let segments = searcher.segment_readers();
        let locations = segments.iter().map(|_| OnceLock::new()).collect();
        let columns_of = segments.iter().map(|_| OnceLock::new()).collect();
        let stores = segments.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            path: path.to_path_buf(),
            n_left_out: directory.n_left_out(),
            dictionaries: Dictionaries::new(searcher.segment_readers(), &columns),
            shortcuts: Arc::new(Shortcuts::new(directory, &searcher)),
            columns,
            commit: commit.number,
            meta: commit.payload.meta,
            searcher,
            ranking: Ranking::default(),
            stemming: Stemming::default(),
            counts: None,
            scoring: OnceLock::new(),
            locations,
            columns_of,
            stores,
        })
    }

    /// Ranks by these weights from now on.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self.scoring = OnceLock::new();
        self
    }

    /// Ranks as if the documents were in a larger collection that has these counts. Plans must be expanded by the terms of
    /// that collection ([`crate::expand`]).
    #[must_use]
    pub fn with_counts(mut self, counts: Arc<dyn Counts>) -> Self {
        self.counts = Some(counts);
        self.scoring = OnceLock::new();
        self
    }

    /// Finds words in other forms by the rules of these languages, in place of those that the
    /// documents are in; none for no other forms.
    ///
    /// # Errors
    /// Returns the first language that has no rules.
    pub fn with_stemming(mut self, languages: &[String]) -> Result<Self, String> {
        self.stemming = Stemming::new(languages)?;
        Ok(self)
    }

    pub(super) fn scoring(&self) -> Arc<Scoring> {
        let new = || {
            let segments = self.searcher.segment_readers();
            let names = self.meta.field_names();
            let shortcuts = &self.shortcuts;
            Arc::new(Scoring::new(
                segments,
                &self.columns,
                names,
                &self.ranking,
                shortcuts,
                self.counts.as_ref(),
            ))
        };
        Arc::clone(self.scoring.get_or_init(new))
    }

    pub(super) fn location_column(&self, segment: u32) -> Result<&BytesColumn, Error> {
        let slot = &self.locations[segment as usize];
        if let Some(opened) = slot.get() {
            return Ok(opened);
        }
        let columns = self.searcher.segment_reader(segment).fast_fields();
        let column = columns.bytes(LOCATION).map_err(|e| self.error(e))?;
        let column = column.ok_or_else(|| Error::Damaged {
            path: self.path.clone(),
            message: "a segment has no locations".to_owned(),
        })?;
        Ok(slot.get_or_init(|| column))
    }

    pub(super) fn store(&self, segment: u32) -> Result<&StoreReader, Error> {
        let slot = &self.stores[segment as usize];
        if let Some(opened) = slot.get() {
            return Ok(opened);
        }
        let reader = self.searcher.segment_reader(segment);
        let opened = reader.get_store_reader(CACHED_BLOCKS);
        let opened = opened.map_err(|error| self.error(error.into()))?;
        Ok(slot.get_or_init(|| opened))
    }

    pub(super) fn uncached_store(&self, segment: u32) -> Result<StoreReader, Error> {
        let store = self.searcher.segment_reader(segment).get_store_reader(0);
        store.map_err(|error| self.error(error.into()))
    }

    pub(super) fn columns_of(&self, segment: u32) -> Result<&DocumentColumns, Error> {
        let slot = &self.columns_of[segment as usize];
        if let Some(opened) = slot.get() {
            return Ok(opened);
        }
        let reader = self.searcher.segment_reader(segment);
        let opened = DocumentColumns::open(reader).map_err(|e| self.error(e))?;
        Ok(slot.get_or_init(|| opened))
    }

    pub(super) fn error(&self, source: TantivyError) -> Error {
        match source {
            // The index is not to blame.
            TantivyError::InvalidArgument(message) => Error::Query(message),
            source => error::engine_error(&self.path, source),
        }
    }
}
