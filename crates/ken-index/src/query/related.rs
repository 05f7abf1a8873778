//! Messages that are related to the documents that a query finds.

use std::sync::Arc;

use tantivy::collector::DocSetCollector;
use tantivy::query::{EnableScoring, Query, Weight};

use super::Scoring;
use super::selection::{Selection, without_searcher};
use crate::DocAddress;
use crate::doc_address::AddressParts;
use crate::mail::links;
use crate::parallel;

/// The kind of relation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relation {
    /// Documents inside the found one: attached files and messages, and everything in these.
    Carries,
    /// Messages in the same thread.
    Thread,
}

#[derive(Debug)]
pub(super) struct RelatedQuery {
    pub(super) of: Box<dyn Query>,
    pub(super) relation: Relation,
    pub(super) scoring: Arc<Scoring>,
}

impl Clone for RelatedQuery {
    fn clone(&self) -> Self {
        Self {
            of: self.of.box_clone(),
            relation: self.relation,
            scoring: Arc::clone(&self.scoring),
        }
    }
}

impl Query for RelatedQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let searcher = scoring.searcher().ok_or_else(without_searcher)?;
        let limits = self.scoring.limits.as_deref();
        let found = parallel::search(searcher, &*self.of, &DocSetCollector, limits)?;
        let found = found.into_iter().map(DocAddress::of_engine);
        let columns = &self.scoring.columns;
        let related = match self.relation {
            Relation::Carries => links::carriers(searcher, columns.file, found, limits)?,
            Relation::Thread => links::threads(searcher, columns, found, limits)?,
        };
        Selection(related).weight(scoring)
    }
}
