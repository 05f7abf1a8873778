//! Lists the terms of the index with their counts.
//!
//! Terms sorted alphabetically are handed on as they are read, however many there are. When they are sorted by a
//! count, a heap keeps only the terms of the page.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use ken_core::{FIELDS, Field, FieldKind};
use ken_engine::{TermCount, TermList};
use serde::{Deserialize, Serialize};

use super::{Error, SCHEMA, Service, is_complete};
use crate::terms::pattern;

/// The number of terms when they are sorted by a count and the request has no limit.
const DEFAULT_LIMIT: usize = 100;

/// A request for terms. The default asks for all terms of the text fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TermRequest {
    /// `start`, `pat*ern`, `/regular expression/`, `~word` or `~word~2`.
    pub pattern: String,
    /// The names of the fields; all text fields if empty.
    pub fields: Vec<String>,
    /// Whether each field is counted separately.
    pub by_field: bool,
    /// What the terms are sorted by.
    pub sort: TermOrder,
    /// The most terms; 0 for all. If absent: all in alphabetical order, a hundred when sorted by a count.
    pub limit: Option<usize>,
    /// Milliseconds after which the listing ends with what it has found; no deadline if absent.
    pub deadline_ms: Option<u64>,
}

/// What terms are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermOrder {
    /// The alphabet.
    #[default]
    Term,
    /// The number of documents with the term, highest first.
    Documents,
    /// The number of occurrences, highest first.
    Occurrences,
}

/// A term of the index. Rows are ordered by term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermRow {
    /// The term.
    pub term: String,
    /// The field, if each is counted separately.
    pub field: Option<Field>,
    /// The number of documents with the term.
    pub documents: u64,
    /// The number of occurrences.
    pub occurrences: u64,
}

#[derive(Serialize)]
struct RowForm<'a> {
    documents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    occurrences: u64,
    term: &'a str,
    v: u32,
}

impl TermRow {
    fn of(count: TermCount<'_>) -> Self {
        Self {
            term: count.term.to_owned(),
            field: count.field,
            documents: count.documents,
            occurrences: count.occurrences,
        }
    }
}

impl Service<'_> {
    /// Returns the JSON form of a row.
    pub fn term_form<'a>(&'a self, row: &'a TermRow) -> impl Serialize + 'a {
        RowForm {
            documents: row.documents,
            field: row.field.map(|field| self.names.name(field)),
            occurrences: row.occurrences,
            term: &row.term,
            v: SCHEMA,
        }
    }

    /// Calls `each` with the terms that a request asks for, in order. Returns whether no deadline or cancellation has ended
    /// the listing.
    ///
    /// # Errors
    /// Fails if the pattern has a mistake, if a field has no terms, if the index cannot be read, or if `each` fails.
    pub fn each_term<E: From<Error>>(
        &self,
        request: &TermRequest,
        each: &mut dyn FnMut(&TermRow) -> Result<(), E>,
    ) -> Result<bool, E> {
        let limits = self.limits(request.deadline_ms);
        let fields = self.term_fields(&request.fields)?;
        let first = fields.first().copied().unwrap_or(Field::Body);
        let pattern = pattern(&request.pattern, first, self.context.analyze);
        let pattern = pattern.map_err(Error::from)?;
        let list = TermList {
            fields: &fields,
            pattern: &pattern,
            by_field: request.by_field,
            limits: limits.as_ref(),
        };
        let default = match request.sort {
            TermOrder::Term => 0,
            _ => DEFAULT_LIMIT,
        };
        let limit = match request.limit.unwrap_or(default) {
            0 => usize::MAX,
            limit => limit,
        };
        match request.sort {
            TermOrder::Term => self.in_order(&list, limit, each)?,
            sort => self
                .by_count(&list, sort, limit)?
                .iter()
                .try_for_each(each)?,
        }
        Ok(is_complete(limits.as_ref()))
    }

    /// Returns the fields with these names, or all text fields.
    fn term_fields(&self, names: &[String]) -> Result<Vec<Field>, Error> {
        if names.is_empty() {
            let text = FIELDS.iter().filter(|info| info.kind == FieldKind::Text);
            return Ok(text.map(|info| info.field).collect());
        }
        let field = |name: &String| {
            let field = self.names.field(name);
            let kind = field.map(|field| field.info().kind);
            let has_terms = matches!(
                kind,
                Some(FieldKind::Text | FieldKind::Keyword | FieldKind::Path)
            );
            field.filter(|_| has_terms).ok_or_else(|| Error::NoTerms {
                field: name.clone(),
                is_known: field.is_some(),
            })
        };
        let mut fields = names.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        fields.sort_unstable();
        fields.dedup();
        Ok(fields)
    }

    fn in_order<E: From<Error>>(
        &self,
        list: &TermList<'_>,
        limit: usize,
        each: &mut dyn FnMut(&TermRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = limit;
        let mut result = Ok(());
        let listed = self.snapshot.terms().list(list, &mut |count| {
            left -= 1;
            result = each(&TermRow::of(count));
            match result {
                Ok(()) if left > 0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        listed.map_err(Error::from)?;
        result
    }

    /// Returns the terms with the highest counts.
    fn by_count(
        &self,
        list: &TermList<'_>,
        sort: TermOrder,
        limit: usize,
    ) -> Result<Vec<TermRow>, Error> {
        // The least of the kept terms is on top: the smallest count, then the last in the alphabet.
        let mut best: BinaryHeap<Reverse<(u64, Reverse<TermRow>)>> = BinaryHeap::new();
        self.snapshot.terms().list(list, &mut |count| {
            let key = match sort {
                TermOrder::Occurrences => count.occurrences,
                _ => count.documents,
            };
            let is_full = best.len() >= limit;
            // Terms come in order, so of two with the same count the later one loses.
            if is_full && best.peek().is_some_and(|least| key <= least.0.0) {
                return ControlFlow::Continue(());
            }
            if is_full {
                best.pop();
            }
            best.push(Reverse((key, Reverse(TermRow::of(count)))));
            ControlFlow::Continue(())
        })?;
        let sorted = best.into_sorted_vec().into_iter();
        Ok(sorted.map(|Reverse((_, Reverse(row)))| row).collect())
    }
}
