//! "Did you mean", for the words of the index.

use ken_core::{Field, Order};

use super::{Error, Service};
use crate::parse::Tree;
use crate::plan::plan;
use crate::spelling::{self, Suggestion, Vocabulary};

/// The most similar terms that are tried.
const MAX_SIMILAR: usize = 3;

impl Service<'_> {
    /// Returns suggestions for a query that found this number of documents.
    pub(super) fn suggestions(
        &self,
        tree: &Tree,
        n_found: usize,
    ) -> Result<Vec<Suggestion>, Error> {
        spelling::suggest(tree, n_found, self, &self.names, self.context.analyze)
    }
}

impl Vocabulary for Service<'_> {
    type Error = Error;

    fn n_documents(&self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut most = 0;
        for field in fields {
            most = self
                .snapshot
                .terms()
                .n_documents_with(*field, term)?
                .max(most);
        }
        Ok(most)
    }

    fn similar(&self, fields: &[Field], term: &str) -> Result<Vec<String>, Error> {
        let found = self.snapshot.terms().similar(fields, term, MAX_SIMILAR)?;
        Ok(found.into_iter().map(|similar| similar.term).collect())
    }

    fn n_found(&self, tree: &Tree) -> Result<usize, Error> {
        let plan = self.snapshot.expand(&plan(tree, &self.context))?;
        Ok(self.snapshot.run(&plan, Order::default(), 0, 0)?.total)
    }
}
