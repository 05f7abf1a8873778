//! Messages that carry what a query finds: attached files and messages, and what is inside of those.

use std::sync::Arc;

use tantivy::collector::DocSetCollector;
use tantivy::query::{EnableScoring, Query, Weight};

use super::Scoring;
use crate::links;
use crate::search::Address;
use crate::selection::{Selection, without_searcher};

#[derive(Debug)]
pub(super) struct CarrierQuery {
    pub(super) of: Box<dyn Query>,
    pub(super) scoring: Arc<Scoring>,
}

impl Clone for CarrierQuery {
    fn clone(&self) -> Self {
        Self {
            of: self.of.box_clone(),
            scoring: Arc::clone(&self.scoring),
        }
    }
}

impl Query for CarrierQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let searcher = scoring.searcher().ok_or_else(without_searcher)?;
        let found = searcher.search(&*self.of, &DocSetCollector)?;
        let found = found.into_iter().map(|at| Address {
            segment: at.segment_ord,
            doc: at.doc_id,
        });
        let carriers = links::carriers(searcher, self.scoring.columns.file, found)?;
        Selection(carriers).weight(scoring)
    }
}
