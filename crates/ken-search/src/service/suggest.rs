//! "Did you mean", for the words of the index.

use std::sync::Arc;

use ken_core::Field;
use ken_engine::{Limits, Request};

use super::{Error, Service, is_complete, reached};
use crate::parse::Tree;
use crate::plan::plan;
use crate::spelling::{self, Suggestion, Vocabulary};

/// The most similar terms that are tried.
const MAX_SIMILAR: usize = 3;

impl Service<'_> {
    /// Returns suggestions for a query that found this number of documents. There are none once limits are reached: how
    /// many documents a query finds is not known then.
    pub(super) fn suggestions(
        &self,
        tree: &Tree,
        n_found: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Suggestion>, Error> {
        if reached(limits) {
            return Ok(Vec::new());
        }
        let words = Words {
            service: self,
            limits,
        };
        let found = spelling::suggest(tree, n_found, &words, &self.names, self.context.analyze)?;
        Ok(match is_complete(limits) {
            true => found,
            false => Vec::new(),
        })
    }
}

/// The words of the index, within the limits of a search.
struct Words<'a> {
    service: &'a Service<'a>,
    limits: Option<&'a Arc<Limits>>,
}

impl Vocabulary for Words<'_> {
    type Error = Error;

    fn n_documents(&self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let terms = self.service.snapshot.terms();
        let mut most = 0;
        for field in fields.iter().take_while(|_| !reached(self.limits)) {
            most = terms.n_documents_with(*field, term)?.max(most);
        }
        Ok(most)
    }

    fn similar(&self, fields: &[Field], term: &str) -> Result<Vec<String>, Error> {
        let terms = self.service.snapshot.terms();
        let found = terms.similar(fields, term, MAX_SIMILAR, self.limits)?;
        Ok(found.into_iter().map(|similar| similar.term).collect())
    }

    fn n_found(&self, tree: &Tree) -> Result<usize, Error> {
        let plan = plan(tree, &self.service.context);
        let request = Request {
            limit: 0,
            limits: self.limits,
            ..Request::new(&plan)
        };
        Ok(self.service.snapshot.find(&request)?.total)
    }
}
