//! The term dictionaries of a snapshot: which terms exist, and where their postings are.
//!
//! A dictionary belongs to one field of one segment. It is immutable and mapped, so any number of
//! threads use it in parallel. Each dictionary is opened once and then read without a lock
//! (Tantivy's own access, `SegmentReader::inverted_index`, takes a lock each time). A look-up
//! allocates nothing. `bench/run dictionary` measures it.

mod automaton;
mod cursor;
mod frequent;
mod infos;
mod list;
mod matcher;
mod plain;
mod prefix;
mod similar;
mod stream;
mod trie;

use std::io;
use std::sync::{Arc, OnceLock};

use ken_core::{Field, FieldKind};
use tantivy::index::{InvertedIndexReader, SegmentId};
use tantivy::postings::TermInfo;
use tantivy::schema::Field as Column;
use tantivy::{Searcher, SegmentReader};

use crate::directory::ReadDirectory;
use crate::schema::Columns;

use self::plain::PlainLists;
use self::trie::Tries;

pub(crate) use automaton::{RegexAutomaton, TermsAutomaton};
pub(crate) use cursor::Cursor;
pub(crate) use frequent::frequent;
pub(crate) use infos::TermInfos;
pub(crate) use list::each;
pub(crate) use matcher::{Matcher, compile};
#[cfg(any(fuzzing, test))]
pub(crate) use plain::read_terms;
pub(crate) use plain::{
    Accept, ListWriter, PlainTerms, Small, Wanted, delete, delete_others, is_sound, update,
};
pub(crate) use prefix::successor;
pub(crate) use similar::similar;
pub(crate) use trie::Trie;

/// The dictionaries of all fields and segments of one snapshot.
pub(crate) struct Dictionaries {
    segments: Vec<SegmentReader>,
    columns: Columns,
    /// By field, then by segment; opened at first use.
    opened: Vec<Vec<OnceLock<Arc<InvertedIndexReader>>>>,
}

impl Dictionaries {
    pub(crate) fn new(segments: &[SegmentReader], columns: &Columns) -> Self {
        let of_field = |_| segments.iter().map(|_| OnceLock::new()).collect();
        Self {
            segments: segments.to_vec(),
            columns: columns.clone(),
            opened: Field::all().map(of_field).collect(),
        }
    }

    /// Returns the postings of a field in a segment, with their dictionary.
    pub(crate) fn of(
        &self,
        field: Field,
        segment: usize,
    ) -> tantivy::Result<&Arc<InvertedIndexReader>> {
        let slot = &self.opened[field as usize][segment];
        if let Some(opened) = slot.get() {
            return Ok(opened);
        }
        let opened = self.segments[segment].inverted_index(self.columns.of(field))?;
        Ok(slot.get_or_init(|| opened))
    }

    /// Returns the posting info of a term in a segment.
    pub(crate) fn look_up(
        &self,
        field: Field,
        segment: usize,
        term: &str,
    ) -> tantivy::Result<Option<TermInfo>> {
        Ok(self.of(field, segment)?.terms().get(term)?)
    }

    /// Returns the number of documents with a term, including those that were deleted but not
    /// merged away yet: one look-up for each segment.
    pub(crate) fn n_documents(&self, field: Field, term: &str) -> tantivy::Result<u64> {
        let mut sum = 0;
        for segment in 0..self.segments.len() {
            if let Some(info) = self.look_up(field, segment, term)? {
                sum += u64::from(info.doc_freq);
            }
        }
        Ok(sum)
    }

    pub(crate) fn segments(&self) -> &[SegmentReader] {
        &self.segments
    }
}

/// Additional ways through the terms of a snapshot, which the engine does not have.
#[derive(Debug)]
pub(crate) struct Shortcuts {
    plain: PlainLists,
    tries: Tries,
}

impl Shortcuts {
    pub(crate) fn new(directory: ReadDirectory, searcher: &Searcher) -> Self {
        let segments = searcher.segment_readers();
        Self {
            plain: PlainLists::new(directory, segments),
            tries: Tries::new(searcher.index().directory().clone(), segments),
        }
    }

    /// Returns the shortcuts through the terms of a field in a segment.
    pub(crate) fn of(&self, segment: &SegmentReader, column: Column) -> Shortcut<'_> {
        Shortcut {
            all: self,
            segment: segment.segment_id(),
            column,
        }
    }

    /// Returns the engine's dictionary and postings of a field in a segment; `None` if it has no
    /// terms. This avoids the engine's empty dictionary, whose creation takes as long as a look-up
    /// in all segments, since it clears a megabyte.
    pub(crate) fn index(
        &self,
        segment: &SegmentReader,
        column: Column,
    ) -> tantivy::Result<Option<Arc<InvertedIndexReader>>> {
        match self.tries.is_absent(segment.segment_id(), column)? {
            true => Ok(None),
            false => segment.inverted_index(column).map(Some),
        }
    }

    /// Returns their size on disk, in addition to the engine's files.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.plain.n_bytes()
    }
}

/// Ways through the terms of a field in a segment.
#[derive(Clone, Copy)]
pub(crate) struct Shortcut<'a> {
    all: &'a Shortcuts,
    segment: SegmentId,
    column: Column,
}

impl<'a> Shortcut<'a> {
    /// Returns the terms as text, if there is a list of them.
    pub(crate) fn plain(self) -> Option<PlainTerms<'a>> {
        self.all.plain.of(self.segment, self.column)
    }

    /// Returns the terms as an automaton; `None` if there are none.
    pub(crate) fn trie(self) -> io::Result<Option<Trie>> {
        self.all.tries.of(self.segment, self.column)
    }

    /// Returns the table of posting infos; `None` if there are no terms.
    pub(crate) fn infos(self) -> io::Result<Option<TermInfos>> {
        self.all.tries.infos(self.segment, self.column)
    }
}

/// Returns whether a field has a dictionary.
pub(crate) fn has_terms(field: Field) -> bool {
    matches!(
        field.info().kind,
        FieldKind::Text | FieldKind::Keyword | FieldKind::Path
    )
}
