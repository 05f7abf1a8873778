//! The dictionary of a scope: terms that a document inside has, counted by searches.

use std::ops::ControlFlow;
use std::sync::Arc;

use ken_core::{Field, Pattern};
use ken_engine::{Error, Limits, Similar, TermCount, TermList, Terms};

use super::Scoped;

/// The most terms of the index that are counted for a list.
const MAX_COUNTED: usize = 5_000;

impl Terms for Scoped<'_> {
    fn frequent(
        &self,
        field: Field,
        pattern: &Pattern,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<(Vec<(String, u64)>, usize), Error> {
        let (terms, _) = self
            .inner()
            .terms()
            .frequent(field, pattern, MAX_COUNTED, limits)?;
        let mut inside = Vec::new();
        for (term, _) in terms {
            match self.count(field, &term)? {
                0 => {}
                n_documents => inside.push((term, n_documents)),
            }
            if inside.len() == limit {
                break;
            }
        }
        let n_terms = inside.len();
        Ok((inside, n_terms))
    }

    /// Lists terms with the number of documents inside that have them; a term is counted once for each of these.
    fn list(
        &self,
        list: &TermList<'_>,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut counted = 0;
        let mut result = Ok(());
        self.inner().terms().list(list, &mut |count| {
            counted += 1;
            let fields = match &count.field {
                Some(field) => std::slice::from_ref(field),
                None => list.fields,
            };
            let documents = match self.most(fields, count.term) {
                Ok(documents) => documents,
                Err(error) => {
                    result = Err(error);
                    return ControlFlow::Break(());
                }
            };
            let goes_on = match documents {
                0 => ControlFlow::Continue(()),
                documents => each(TermCount {
                    documents,
                    occurrences: documents,
                    ..count
                }),
            };
            match counted < MAX_COUNTED {
                true => goes_on,
                false => ControlFlow::Break(()),
            }
        })?;
        result
    }

    fn similar(
        &self,
        fields: &[Field],
        word: &str,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Similar>, Error> {
        let mut similar = Vec::new();
        let all = self
            .inner()
            .terms()
            .similar(fields, word, limit * 8, limits)?;
        for one in all {
            if similar.len() == limit {
                break;
            }
            let documents = self.most(fields, &one.term)?;
            if documents > 0 {
                similar.push(Similar { documents, ..one });
            }
        }
        Ok(similar)
    }

    fn n_documents_with(&self, field: Field, term: &str) -> Result<u64, Error> {
        self.count(field, term)
    }
}

impl Scoped<'_> {
    /// Returns the number of documents inside that have a term in one of the fields where most have it.
    fn most(&self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut most = 0;
        for field in fields {
            most = self.count(*field, term)?.max(most);
        }
        Ok(most)
    }
}
