//! The dictionary of a commit.

use std::ops::ControlFlow;
use std::sync::Arc;

use ken_core::{Field, Pattern};
use ken_engine::{Error, Limits, Similar, TermCount, TermList, Terms};

use super::Snapshot;
use crate::dictionary::{self, Matcher};

impl Terms for Snapshot {
    fn frequent(
        &self,
        field: Field,
        pattern: &Pattern,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<(Vec<(String, u64)>, usize), Error> {
        let column = self.columns.of(field);
        let segments = self.searcher.segment_readers();
        let limits = limits.map(|limits| &**limits);
        dictionary::frequent(segments, &self.shortcuts, column, pattern, limit, limits)
            .map_err(|e| self.error(e))
    }

    fn list(
        &self,
        list: &TermList<'_>,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        Matcher::new(list.pattern)
            .and_then(|matcher| dictionary::each(&self.dictionaries, list, &matcher, each))
            .map_err(|e| self.error(e))
    }

    fn similar(
        &self,
        fields: &[Field],
        word: &str,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Similar>, Error> {
        let limits = limits.map(|limits| &**limits);
        dictionary::similar(&self.dictionaries, fields, word, limit, limits)
            .map_err(|e| self.error(e))
    }

    fn n_documents_with(&self, field: Field, term: &str) -> Result<u64, Error> {
        self.dictionaries
            .n_documents(field, term)
            .map_err(|e| self.error(e))
    }
}
