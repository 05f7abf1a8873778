//! A plan as a query of OpenSearch.
//!
//! Every part of the query is exact, or wider than the part of the plan. A wider one is allowed where documents must match
//! it among others; ken then looks at what the whole query finds. Below a negation it would lose documents, so there ken looks
//! first, and the documents that match take the place of the part.

mod score;
mod spans;

use std::cell::RefCell;

use ken_core::{Field, Pattern, Plan, Span, Word};
use ken_engine::{Error, Limits};
use serde_json::{Value, json};

use super::counts::{fields_of, has};
use super::local::mark;
use super::{ClusterSource, filter, ids_query, local};
use crate::layout;
use crate::location;
use crate::pattern::{self, Query};

/// The most values of a column that ken looks at for a pattern of whole values.
const MAX_LISTED: u64 = 200_000;
/// The most states of an expression over paths, each byte of which is two letters.
const MAX_STATES: usize = 100_000;
/// The most values of a relation, such as messages that carry something.
pub(super) const MAX_RELATED: usize = 65_000;
/// The maximum share of all documents that may be below a folder whose name counts; see `ken-index`.
const MOST_BELOW: f64 = 1.0 / 3.0;

pub(super) use score::scored;

/// Translates the parts of one plan.
pub(super) struct Translator<'s> {
    source: &'s ClusterSource,
    limits: Option<&'s Limits>,
    /// The queries of what depends on other documents.
    relations: RefCell<Vec<Value>>,
}

/// A translated plan.
pub(super) struct Translated {
    pub(super) query: Query,
    /// The plan for documents on this machine: what depends on other documents is a mark.
    pub(super) local: Plan,
}

impl<'s> Translator<'s> {
    pub(super) fn new(source: &'s ClusterSource, limits: Option<&'s Limits>) -> Self {
        Self {
            source,
            limits,
            relations: RefCell::default(),
        }
    }

    /// Returns the queries of the relations of the plan, by their numbers.
    pub(super) fn into_relations(self) -> Vec<Value> {
        self.relations.into_inner()
    }

    pub(super) fn plan(&self, plan: &Plan) -> Result<Translated, Error> {
        let as_it_is = |query| {
            Ok(Translated {
                query,
                local: plan.clone(),
            })
        };
        match plan {
            Plan::All => as_it_is(Query::all()),
            Plan::Nothing => as_it_is(Query::nothing()),
            Plan::Word(word) => as_it_is(self.word(word)?),
            Plan::Match {
                field: Field::Is,
                pattern: Pattern::Term(state),
            } if state == "duplicate" => self.relation(self.duplicates()?),
            Plan::Match { field, pattern } => as_it_is(self.pattern(*field, pattern)?),
            Plan::Span { field, span } => as_it_is(self.span(*field, span)?),
            Plan::Range { field, from, to } => as_it_is(Query::exact(numbers(*field, from, to))),
            Plan::And(parts) => self.and(parts),
            Plan::Or(parts) => self.or(parts),
            Plan::Xor(left, right) => {
                let (left, right) = (self.exactly(left)?, self.exactly(right)?);
                let both = |one: &Value, other: &Value| json!({ "bool": { "filter": [one], "must_not": [other] } });
                let either = [both(&left.0, &right.0), both(&right.0, &left.0)];
                Ok(Translated {
                    query: Query::exact(any_of(&either)),
                    local: Plan::Xor(Box::new(left.1), Box::new(right.1)),
                })
            }
            Plan::Not(part) => {
                let (json, local) = self.exactly(part)?;
                Ok(Translated {
                    query: Query::exact(json!({ "bool": { "must_not": [json] } })),
                    local: Plan::Not(Box::new(local)),
                })
            }
            Plan::Weight(weight, part) => {
                let part = self.plan(part)?;
                Ok(Translated {
                    local: Plan::Weight(*weight, Box::new(part.local)),
                    ..part
                })
            }
            Plan::Filter(part) => {
                let part = self.plan(part)?;
                Ok(Translated {
                    local: Plan::Filter(Box::new(part.local)),
                    ..part
                })
            }
            Plan::Prefer(part) => Ok(Translated {
                query: Query::all(),
                local: Plan::Prefer(Box::new(self.plan(part)?.local)),
            }),
            Plan::Carrier(part) => {
                let (json, _) = self.exactly(part)?;
                self.relation(self.source.carriers(&json, self.limits)?)
            }
            Plan::Thread(part) => {
                let (json, _) = self.exactly(part)?;
                self.relation(self.source.thread_query(&json, self.limits)?)
            }
        }
    }

    /// Returns the query that finds exactly what a plan finds, with the plan for this machine.
    fn exactly(&self, plan: &Plan) -> Result<(Value, Plan), Error> {
        let part = self.plan(plan)?;
        if part.query.is_exact {
            return Ok((part.query.json, part.local));
        }
        let ids = self.source.checked(plan, self.limits)?;
        Ok((ids_query(&ids), part.local))
    }

    fn relation(&self, query: Value) -> Result<Translated, Error> {
        let mut relations = self.relations.borrow_mut();
        let local = Plan::Match {
            field: local::MARK,
            pattern: Pattern::Any(vec![mark(relations.len())]),
        };
        relations.push(query.clone());
        Ok(Translated {
            query: Query::exact(query),
            local,
        })
    }

    fn and(&self, parts: &[Plan]) -> Result<Translated, Error> {
        let mut queries = Vec::new();
        let mut locals = Vec::new();
        let mut is_exact = true;
        for part in parts {
            let translated = self.plan(part)?;
            is_exact &= translated.query.is_exact;
            if !matches!(part, Plan::Prefer(_)) {
                queries.push(translated.query.json);
            }
            locals.push(translated.local);
        }
        let json = match queries.is_empty() {
            true => Query::all().json,
            false => filter(&queries),
        };
        Ok(Translated {
            query: Query { json, is_exact },
            local: Plan::And(locals),
        })
    }

    fn or(&self, parts: &[Plan]) -> Result<Translated, Error> {
        let parts = parts.iter().map(|part| self.plan(part));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let queries = parts.iter().map(|part| part.query.clone()).collect();
        Ok(Translated {
            query: either(queries),
            local: Plan::Or(parts.into_iter().map(|part| part.local).collect()),
        })
    }

    fn word(&self, word: &Word) -> Result<Query, Error> {
        let mut queries = Vec::new();
        for form in &word.forms {
            for field in fields_of(word) {
                queries.push(self.span(field, &form.span)?);
            }
        }
        if let Some(names) = self.folders(word)? {
            queries.push(Query::exact(names));
        }
        Ok(either(queries))
    }

    /// Returns the query for names of folders that a word has; none if they do not count.
    fn folders(&self, word: &Word) -> Result<Option<Value>, Error> {
        let term = |span: &Span| match span {
            Span::Match(Pattern::Term(term) | Pattern::Stem(term)) => Some(layout::term(term)),
            _ => None,
        };
        let terms: Vec<String> = word
            .forms
            .iter()
            .filter_map(|form| term(&form.span))
            .collect();
        if !word.folders || terms.is_empty() {
            return Ok(None);
        }
        // As the ranking estimates it: the names are taken for independent.
        let queries = terms
            .iter()
            .map(|term| json!({ "term": { layout::FOLDER: term } }));
        let counts = self.source.counts_of((0..).zip(queries).collect())?;
        let all = self.source.n_documents.max(1) as f64;
        let none: f64 = counts.iter().map(|(_, n)| 1.0 - *n as f64 / all).product();
        let names = json!({ "terms": { layout::FOLDER: terms } });
        Ok((1.0 - none <= MOST_BELOW).then_some(names))
    }

    fn pattern(&self, field: Field, pattern: &Pattern) -> Result<Query, Error> {
        if let Some(test) = ken_index::value_test(pattern)? {
            return self.values(field, &test);
        }
        if field == Field::Path {
            return Ok(path(pattern));
        }
        check(pattern)?;
        Ok(pattern::query(&layout::terms(field), pattern, &has(field)))
    }

    /// What looks at whole values looks at each value once, if there are not too many.
    fn values(&self, field: Field, test: &ken_index::ValueTest) -> Result<Query, Error> {
        let at = layout::values(field);
        let all = Query::all().json;
        if !field.has_column() || self.source.n_values(&at)? > MAX_LISTED {
            return Ok(Query::wider(all));
        }
        let mut found = Vec::new();
        self.source
            .each_value(&at, &all, self.limits, &mut |value, _| {
                if test(value) {
                    found.push(value.to_owned());
                }
            })?;
        Ok(match found.len() {
            0 => Query::nothing(),
            n if n <= MAX_RELATED => Query::exact(json!({ "terms": { at: found } })),
            _ => Query::wider(all),
        })
    }

    /// Returns the query for documents with a duplicate.
    fn duplicates(&self) -> Result<Value, Error> {
        let mut contents = Vec::new();
        self.source.each_value(
            "content",
            &Query::all().json,
            self.limits,
            &mut |value, n| {
                if n > 1 {
                    contents.push(value.to_owned());
                }
            },
        )?;
        related("content", &contents)
    }
}

/// Returns the query for documents with one of some values.
pub(super) fn related(field: &str, values: &[String]) -> Result<Value, Error> {
    if values.len() > MAX_RELATED {
        return Err(Error::Query(format!(
            "it depends on {} other documents, more than {MAX_RELATED}",
            values.len()
        )));
    }
    Ok(json!({ "terms": { field: values } }))
}

/// Returns the query for a pattern of paths: an expression over the digits of locations.
fn path(pattern: &Pattern) -> Query {
    let regex = ken_index::location_expression(pattern);
    match regex.and_then(|regex| location::locations(&regex)) {
        Some(regex) => Query::exact(json!({ "regexp": { "loc": {
            "value": regex,
            "flags": "NONE",
            "rewrite": "constant_score",
            "max_determinized_states": MAX_STATES,
        } } })),
        None => Query::wider(Query::all().json),
    }
}

/// Fails if an expression is wrong or takes too much memory.
fn check(pattern: &Pattern) -> Result<(), Error> {
    match pattern {
        Pattern::Regex(regex) => match ken_core::expression::compile(regex) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Query(format!("{regex:?}: {error}"))),
        },
        _ => Ok(()),
    }
}

fn numbers(field: Field, from: &std::ops::Bound<i64>, to: &std::ops::Bound<i64>) -> Value {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let mut ends = serde_json::Map::new();
    match from {
        Included(n) => _ = ends.insert("gte".to_owned(), json!(n)),
        Excluded(n) => _ = ends.insert("gt".to_owned(), json!(n)),
        Unbounded => {}
    }
    match to {
        Included(n) => _ = ends.insert("lte".to_owned(), json!(n)),
        Excluded(n) => _ = ends.insert("lt".to_owned(), json!(n)),
        Unbounded => {}
    }
    match ends.is_empty() {
        true => json!({ "exists": { "field": layout::number(field) } }),
        false => json!({ "range": { layout::number(field): ends } }),
    }
}

fn any_of(parts: &[Value]) -> Value {
    json!({ "bool": { "should": parts, "minimum_should_match": 1 } })
}

/// Returns a query for documents that match one of several; it is exact if all are.
fn either(queries: Vec<Query>) -> Query {
    let is_exact = queries.iter().all(|query| query.is_exact);
    let mut parts: Vec<Value> = queries.into_iter().map(|query| query.json).collect();
    parts.retain(|part| *part != Query::nothing().json);
    Query {
        json: match parts.len() {
            0 => Query::nothing().json,
            1 => parts.remove(0),
            _ => any_of(&parts),
        },
        is_exact,
    }
}

fn all_of(queries: Vec<Query>) -> Value {
    let parts: Vec<Value> = queries.into_iter().map(|query| query.json).collect();
    filter(&parts)
}
