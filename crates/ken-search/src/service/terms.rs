//! The terms of the index, and how often they are there.
//!
//! Sorted by term they are handed on as they are read, however many there are. Sorted by a count, those of the page are
//! kept in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use ken_core::{FIELDS, Field, FieldKind};
use ken_engine::{TermCount, TermList};
use serde::{Deserialize, Serialize};

use super::{Error, SCHEMA, Service};
use crate::terms::pattern;

/// Terms that are handed on when they are sorted by a count and the request has no limit.
const DEFAULT_LIMIT: usize = 100;

/// A question for terms. The default asks for all of the text fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TermRequest {
    /// `start`, `pat*ern`, `/regular expression/`, `~word` or `~word~2`.
    pub pattern: String,
    /// Names of the fields; all text fields if there are none.
    pub fields: Vec<String>,
    /// Whether each field is counted on its own.
    pub by_field: bool,
    /// What the terms are sorted by.
    pub sort: TermOrder,
    /// How many; 0 for all. If absent, all sorted by term, and a hundred sorted by a count.
    pub limit: Option<usize>,
}

/// What terms are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermOrder {
    /// Their letters.
    #[default]
    Term,
    /// How many documents have them, the most first.
    Documents,
    /// How often they are there, the most first.
    Occurrences,
}

/// A term of the index. The order is that of the terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermRow {
    /// The term.
    pub term: String,
    /// Its field, if each is counted on its own.
    pub field: Option<Field>,
    /// How many documents have it.
    pub documents: u64,
    /// How often it is there.
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
    /// Returns the row of a term as it is written.
    pub fn term_form<'a>(&'a self, row: &'a TermRow) -> impl Serialize + 'a {
        RowForm {
            documents: row.documents,
            field: row.field.map(|field| self.names.name(field)),
            occurrences: row.occurrences,
            term: &row.term,
            v: SCHEMA,
        }
    }

    /// Hands on the terms that a request asks for, in order.
    ///
    /// # Errors
    /// Fails if the pattern has a mistake, a field has no terms or the index cannot be read, or where `each` fails.
    pub fn each_term<E: From<Error>>(
        &self,
        request: &TermRequest,
        each: &mut dyn FnMut(&TermRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let fields = self.term_fields(&request.fields)?;
        let first = fields.first().copied().unwrap_or(Field::Body);
        let pattern = pattern(&request.pattern, first, self.context.analyze);
        let pattern = pattern.map_err(Error::from)?;
        let list = TermList {
            fields: &fields,
            pattern: &pattern,
            by_field: request.by_field,
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
            TermOrder::Term => self.in_order(&list, limit, each),
            sort => self.by_count(&list, sort, limit)?.iter().try_for_each(each),
        }
    }

    /// Returns the fields of these names, or all text fields.
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
        // The least of those that are kept is on top: the smaller count, then the later term.
        let mut best: BinaryHeap<Reverse<(u64, Reverse<TermRow>)>> = BinaryHeap::new();
        self.snapshot.terms().list(list, &mut |count| {
            let key = match sort {
                TermOrder::Occurrences => count.occurrences,
                _ => count.documents,
            };
            let is_full = best.len() >= limit;
            // Terms come in order, so one with the same count is a later one.
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
