//! A query that may be asked for a document it has already passed.
//!
//! Tantivy 0.27 subtracts a part by asking it for the first document of the rest, wherever the part
//! stands; a phrase then breaks its own contract (an assertion in debug builds).

use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score};

#[derive(Debug)]
pub(super) struct Guard(pub(super) Box<dyn Query>);

impl Clone for Guard {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for Guard {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(GuardWeight(self.0.weight(scoring)?)))
    }
}

struct GuardWeight(Box<dyn Weight>);

impl Weight for GuardWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(Guarded(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(reader, doc)
    }
}

struct Guarded(Box<dyn Scorer>);

// `seek_danger` stays the trait's own, which asks only for what lies ahead.
impl DocSet for Guarded {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        match self.0.doc() {
            doc if doc >= target => doc,
            _ => self.0.seek(target),
        }
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for Guarded {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
