//! `is:duplicate`: documents with a duplicate in the index.
//!
//! A document alone does not show this. The column of content hashes is read completely and sorted,
//! and the hashes that occur twice are then looked up. Only this query pays for it, with eight
//! bytes and some nanoseconds for each document of the index.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, Score, SegmentReader};

use super::selection::{scorer, without_searcher};
use crate::schema::CONTENT;

#[derive(Clone, Debug)]
pub(super) struct DuplicatesQuery;

impl Query for DuplicatesQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let searcher = scoring.searcher().ok_or_else(without_searcher)?;
        let mut contents = Vec::new();
        for segment in searcher.segment_readers() {
            let column = segment.fast_fields().u64(CONTENT)?;
            contents.extend(segment.doc_ids_alive().filter_map(|doc| column.first(doc)));
        }
        contents.sort_unstable();
        let several = contents
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() > 1);
        let several: Vec<u64> = several.map(|same| same[0]).collect();
        Ok(Box::new(DuplicatesWeight(several)))
    }
}

/// The sorted hashes of contents that several documents have.
struct DuplicatesWeight(Vec<u64>);

impl Weight for DuplicatesWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let column = segment.fast_fields().u64(CONTENT)?;
        let is_copy = |doc: &DocId| {
            let content = column.first(*doc);
            content.is_some_and(|content| self.0.binary_search(&content).is_ok())
        };
        Ok(scorer(
            segment,
            segment.doc_ids_alive().filter(is_copy),
            boost,
        ))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("there is a duplicate", 0.0))
    }
}
