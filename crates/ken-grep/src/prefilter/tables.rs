//! The tables of an index for `ken grep`, kept open between searches.
//!
//! A server keeps one [`IndexTables`] for each index. Each search requests the tables of the latest
//! commit, which reads the metadata of the commit and reopens files only if these changed. A
//! command opens them once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ken_core::Token;
use ken_engine::Meta;
use ken_index::layout::ngrams_folder;
use ken_ngram::{OpenSegments, Row, Segment};
use ken_walk::Listings;

use super::segment_table::LazySegmentTable;

/// Opens a file of an index.
pub type Map = fn(&Path) -> std::io::Result<ken_ngram::Bytes>;

/// The tables of an index, opened when they are first needed and reopened after a commit.
pub struct IndexTables {
    index: PathBuf,
    map: Map,
    open: Mutex<Option<Arc<OpenTables>>>,
}

/// The tables of one commit.
pub(super) struct OpenTables {
    index: PathBuf,
    map: Map,
    pub(super) meta: Meta,
    pub(super) ngrams: OpenSegments,
    /// Whether all n-gram segments in the commit are there.
    pub(super) is_complete: bool,
    /// The segments that may know a file.
    segment_table: LazySegmentTable,
    listings: OnceLock<Option<Listings>>,
}

impl IndexTables {
    /// Creates the tables for the folder of an index; opens nothing.
    pub fn new(index: &Path) -> Self {
        Self::opened_by(index, ken_index::map)
    }

    /// Creates the tables for the folder of an index, with a function that opens its files.
    pub fn opened_by(index: &Path, map: Map) -> Self {
        Self {
            index: index.to_path_buf(),
            map,
            open: Mutex::default(),
        }
    }

    /// Marks the n-gram segments that searches found damaged, so that the next run reads their files
    /// again. Returns their paths.
    pub fn note_damage(&self) -> Vec<PathBuf> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.as_ref().map(|tables| tables.ngrams.found_damaged());
        let folder = ngrams_folder(&self.index);
        let found = found.into_iter().flatten();
        let noted = found.map(|number| {
            // Whoever may only read the index finds the damage again.
            let _ = ken_ngram::note_damage(&folder, number);
            ken_ngram::segment_path(&folder, number)
        });
        noted.collect()
    }

    /// Returns the tables of the latest commit.
    pub(super) fn latest(&self) -> Result<Arc<OpenTables>, ken_engine::Error> {
        let meta = ken_index::read_meta(&self.index)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match &*open {
            Some(tables) if tables.meta == meta => Ok(Arc::clone(tables)),
            _ => {
                let tables = Arc::new(OpenTables::of(&self.index, self.map, meta)?);
                *open = Some(Arc::clone(&tables));
                Ok(tables)
            }
        }
    }
}

impl OpenTables {
    fn of(index: &Path, map: Map, meta: Meta) -> Result<Self, ken_engine::Error> {
        let ngrams = ken_ngram::open(&ngrams_folder(index), map)?;
        Ok(Self {
            index: index.to_path_buf(),
            map,
            is_complete: has_all(&ngrams, &meta),
            meta,
            ngrams,
            segment_table: LazySegmentTable::default(),
            listings: OnceLock::new(),
        })
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.ngrams.segments
    }

    /// Returns whether the rows of all segments are as they were written; reads them, once.
    pub(super) fn has_sound_rows(&self) -> bool {
        self.segments().iter().all(Segment::has_sound_rows)
    }

    /// Returns whether a segment was found damaged.
    pub(super) fn is_damaged(&self) -> bool {
        self.segments().iter().any(Segment::is_damaged)
    }

    /// Returns the rows of a file, each with the number of its segment.
    pub(super) fn rows(&self, key: u64) -> impl Iterator<Item = (Row, usize)> + Clone {
        let segments = self.segments();
        let table = self.segment_table.get(segments);
        let all = 0..segments.len();
        let holding = all.filter(move |segment| table.is_none_or(|of| of.may_know(*segment, key)));
        holding.flat_map(move |segment| segments[segment].of(key).map(move |row| (row, segment)))
    }

    /// Returns the listings of folders, if the index has them.
    pub(super) fn listings(&self) -> Option<&Listings> {
        let open = || Listings::open(&self.index, self.meta.hasher, self.map);
        self.listings.get_or_init(open).as_ref()
    }

    /// Returns the hash of a file's stamp in the form of the rows.
    pub(super) fn stamp_hash(&self, stamp: &ken_core::Stamp) -> u64 {
        Token::stamp_hash(stamp.token(&self.meta.hasher, 0))
    }
}

/// Returns whether all n-gram segments in a commit are there.
pub(super) fn has_all(ngrams: &OpenSegments, meta: &Meta) -> bool {
    let named = meta.ngram_files.as_ref();
    named.is_some_and(|named| ngrams.missing(named).is_empty())
}
