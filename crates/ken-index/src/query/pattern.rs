//! The query for a pattern that may match many terms: it finds every document with one of them, all
//! with the same score, since a frequent ending says nothing about relevance.

use std::sync::Arc;

use ken_core::Pattern;
use tantivy::index::SegmentReader;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, TantivyError};
use tantivy_common::BitSet;

use crate::dictionary::Matcher;
use crate::dictionary::Shortcuts;
use crate::limits::Limits;

/// Documents in which a column has a term that the pattern matches.
#[derive(Clone, Debug)]
pub(super) struct PatternQuery {
    pub(super) column: Column,
    pub(super) pattern: Pattern,
    pub(super) shortcuts: Arc<Shortcuts>,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Query for PatternQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(PatternWeight {
            column: self.column,
            matcher: Matcher::new(&self.pattern)?,
            shortcuts: Arc::clone(&self.shortcuts),
            limits: self.limits.clone(),
        }))
    }
}

struct PatternWeight {
    column: Column,
    matcher: Matcher,
    shortcuts: Arc<Shortcuts>,
    limits: Option<Arc<Limits>>,
}

impl Weight for PatternWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(index) = self.shortcuts.index(reader, self.column)? else {
            return Ok(Box::new(EmptyScorer));
        };
        let mut found = BitSet::with_max_value(reader.max_doc());
        let shortcut = self.shortcuts.of(reader, self.column);
        let limits = self.limits.as_deref();
        self.matcher.each_info(&index, shortcut, limits, |info| {
            let mut postings =
                index.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            while !postings.docs().is_empty() {
                for doc in postings.docs() {
                    found.insert(*doc);
                }
                postings.advance();
            }
            Ok(())
        })?;
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.seek(doc) == doc {
            Ok(Explanation::new("one of several terms", 1.0))
        } else {
            Err(TantivyError::InvalidArgument("no such term".to_owned()))
        }
    }
}
