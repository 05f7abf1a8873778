//! A query whose documents are excluded from those of another.
//!
//! Tantivy 0.27 excludes a part by asking it for the first document of the rest, whatever the
//! part's position; a phrase then violates its own contract (an assertion in debug builds).
//!
//! If a part lacks documents because a limit was reached, it would exclude too few. From then on it
//! excludes all.

use std::fmt;
use std::sync::Arc;

use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, TERMINATED};

use crate::limits::Limits;

pub(super) struct Guard {
    pub(super) excluded: Box<dyn Query>,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guard({:?})", self.excluded)
    }
}

impl Clone for Guard {
    fn clone(&self) -> Self {
        Self {
            excluded: self.excluded.box_clone(),
            limits: self.limits.clone(),
        }
    }
}

impl Query for Guard {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(GuardWeight {
            excluded: self.excluded.weight(scoring)?,
            limits: self.limits.clone(),
        }))
    }
}

struct GuardWeight {
    excluded: Box<dyn Weight>,
    limits: Option<Arc<Limits>>,
}

impl Weight for GuardWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut guarded = Guarded {
            doc: 0,
            excluded: self.excluded.scorer(reader, boost)?,
            limits: self.limits.clone(),
        };
        guarded.seek(0);
        Ok(Box::new(guarded))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.excluded.explain(reader, doc)
    }
}

struct Guarded {
    doc: DocId,
    excluded: Box<dyn Scorer>,
    limits: Option<Arc<Limits>>,
}

// `seek_danger` stays the trait's own, which only asks for documents ahead.
impl DocSet for Guarded {
    fn advance(&mut self) -> DocId {
        self.seek(self.doc.saturating_add(1).min(TERMINATED))
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let doc = match self.excluded.doc() {
            doc if doc >= target => doc,
            _ => self.excluded.seek(target),
        };
        self.doc = match &self.limits {
            Some(limits) if limits.ended_early() => target,
            _ => doc,
        };
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.excluded.size_hint()
    }
}

impl Scorer for Guarded {
    fn score(&mut self) -> Score {
        self.excluded.score()
    }
}
