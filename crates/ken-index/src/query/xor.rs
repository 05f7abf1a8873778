//! The query for documents that exactly one of two parts finds.
//!
//! Written with and, or and not, it would contain each part twice, and a chain of them would double
//! with every link.
//!
//! If a part lacks documents because a limit was reached, the other's documents would wrongly be
//! found. From then on nothing is found.

use std::sync::Arc;

use tantivy::index::SegmentReader;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, TERMINATED, TantivyError};

use crate::limits::Limits;

#[derive(Debug)]
pub(super) struct XorQuery {
    pub(super) left: Box<dyn Query>,
    pub(super) right: Box<dyn Query>,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Clone for XorQuery {
    fn clone(&self) -> Self {
        Self {
            left: self.left.box_clone(),
            right: self.right.box_clone(),
            limits: self.limits.clone(),
        }
    }
}

impl Query for XorQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(XorWeight {
            left: self.left.weight(scoring)?,
            right: self.right.weight(scoring)?,
            limits: self.limits.clone(),
        }))
    }
}

struct XorWeight {
    left: Box<dyn Weight>,
    right: Box<dyn Weight>,
    limits: Option<Arc<Limits>>,
}

impl Weight for XorWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut scorer = XorScorer {
            left: self.left.scorer(reader, boost)?,
            right: self.right.scorer(reader, boost)?,
            limits: self.limits.clone(),
        };
        scorer.settle();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        // Some queries also explain documents that they do not find.
        let finds = |part: &dyn Weight| {
            let mut scorer = part.scorer(reader, 1.0)?;
            let at = scorer.doc();
            let at = if at < doc { scorer.seek(doc) } else { at };
            tantivy::Result::Ok(at == doc)
        };
        match (finds(&*self.left)?, finds(&*self.right)?) {
            (true, false) => self.left.explain(reader, doc),
            (false, true) => self.right.explain(reader, doc),
            _ => Err(TantivyError::InvalidArgument("both or neither".to_owned())),
        }
    }
}

struct XorScorer {
    left: Box<dyn Scorer>,
    right: Box<dyn Scorer>,
    limits: Option<Arc<Limits>>,
}

impl XorScorer {
    /// Skips documents that both parts have; skips to the end once a limit is reached.
    fn settle(&mut self) -> DocId {
        while self.left.doc() == self.right.doc() && self.left.doc() != TERMINATED {
            self.left.advance();
            self.right.advance();
        }
        if let Some(limits) = &self.limits
            && limits.ended_early()
        {
            self.left = Box::new(EmptyScorer);
            self.right = Box::new(EmptyScorer);
        }
        self.doc()
    }
}

impl DocSet for XorScorer {
    fn advance(&mut self) -> DocId {
        if self.left.doc() < self.right.doc() {
            self.left.advance();
        } else {
            self.right.advance();
        }
        self.settle()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for part in [&mut self.left, &mut self.right] {
            if part.doc() < target {
                part.seek(target);
            }
        }
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.left.doc().min(self.right.doc())
    }

    fn size_hint(&self) -> u32 {
        self.left.size_hint().saturating_add(self.right.size_hint())
    }
}

impl Scorer for XorScorer {
    fn score(&mut self) -> Score {
        if self.left.doc() < self.right.doc() {
            self.left.score()
        } else {
            self.right.score()
        }
    }
}
