//! Translates plans to the queries of the engine.

mod duplicates;
mod folder;
mod form;
mod guard;
mod path;
mod pattern;
mod related;
mod selection;
mod span;
#[cfg(test)]
mod tests;
mod value;
mod word;
mod xor;

use std::ops::Bound;
use std::sync::Arc;

use ken_core::{Field, FieldKind, Pattern, Plan, Span, Word};
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, Query,
    RangeQuery, TermQuery,
};
use tantivy::schema::IndexRecordOption;

use crate::analysis::BORDER;
use crate::schema::Columns;
use duplicates::DuplicatesQuery;
use folder::FolderQuery;
use guard::Guard;
use path::PathQuery;
pub use path::location_expression;
use pattern::PatternQuery;
use related::{RelatedQuery, Relation};
pub(crate) use selection::Selection;
use span::SpanQuery;
use value::{ValueForm, ValueQuery};
pub use word::Counts;
pub(crate) use word::{Proximity, Scoring, WordsQuery};
use xor::XorQuery;

/// See [`DuplicatesQuery`].
const DUPLICATE: &str = "duplicate";

/// Returns the engine's query for a plan.
pub(crate) fn build(scoring: &Arc<Scoring>, plan: &Plan) -> Box<dyn Query> {
    let columns = &scoring.columns;
    match plan {
        Plan::All => Box::new(AllQuery),
        Plan::Nothing => Box::new(EmptyQuery),
        Plan::Word(_) | Plan::Or(_) => or(scoring, std::slice::from_ref(plan)),
        Plan::Match { field, pattern } => match_query(scoring, *field, pattern),
        Plan::Span { field, span } => span_query(scoring, *field, span),
        Plan::Range { field, from, to } => {
            let column = columns.of(*field);
            let end = |bound: &Bound<i64>| bound.map(|n| Term::from_field_i64(column, n));
            // The engine needs an end: this one follows every value.
            let from = match (from, to) {
                (Bound::Unbounded, Bound::Unbounded) => &Bound::Included(i64::MIN),
                _ => from,
            };
            Box::new(RangeQuery::new(end(from), end(to)))
        }
        Plan::And(parts) => and(scoring, parts),
        Plan::Xor(left, right) => Box::new(XorQuery {
            left: build(scoring, left),
            right: build(scoring, right),
            limits: scoring.limits.clone(),
        }),
        Plan::Not(_) | Plan::Prefer(_) => and(scoring, std::slice::from_ref(plan)),
        Plan::Weight(weight, part) => match weighted(plan) {
            Some(_) => or(scoring, std::slice::from_ref(plan)),
            None => Box::new(BoostQuery::new(build(scoring, part), *weight)),
        },
        Plan::Filter(part) => Box::new(ConstScoreQuery::new(build(scoring, part), 0.0)),
        Plan::Carrier(part) => Box::new(RelatedQuery {
            relation: Relation::Carries,
            of: build(scoring, part),
            scoring: Arc::clone(scoring),
        }),
        Plan::Thread(part) => Box::new(RelatedQuery {
            relation: Relation::Thread,
            of: build(scoring, part),
            scoring: Arc::clone(scoring),
        }),
    }
}

/// Returns the word of a plan, with its weight, if the plan is a word.
fn weighted(plan: &Plan) -> Option<(&Word, f32)> {
    match plan {
        Plan::Word(word) => Some((word, 1.0)),
        Plan::Weight(weight, part) => {
            let (word, inner) = weighted(part)?;
            Some((word, weight * inner))
        }
        _ => None,
    }
}

/// All words become one query, which knows the maximum of each; other parts stay separate.
fn or(scoring: &Arc<Scoring>, parts: &[Plan]) -> Box<dyn Query> {
    let mut words = WordsQuery::new(scoring, false);
    let mut others: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let mut waiting: Vec<&Plan> = parts.iter().rev().collect();
    while let Some(part) = waiting.pop() {
        match (weighted(part), part) {
            (Some((word, weight)), _) => words.add(word, weight),
            (None, Plan::Or(inner)) => waiting.extend(inner.iter().rev()),
            (None, part) => others.push((Occur::Should, build(scoring, part))),
        }
    }
    match (words.words.is_empty(), others.is_empty()) {
        (false, true) => return Box::new(words),
        (false, false) => others.push((Occur::Should, Box::new(words))),
        _ => {}
    }
    Box::new(BooleanQuery::new(others))
}

/// Words and parts that only select become one query. The engine needs something to subtract from,
/// so a conjunction of negations starts with all documents.
fn and(scoring: &Arc<Scoring>, parts: &[Plan]) -> Box<dyn Query> {
    let mut words = WordsQuery::new(scoring, true);
    let mut others: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for part in parts {
        match (weighted(part), part) {
            (Some((word, weight)), _) => words.add(word, weight),
            (None, Plan::Prefer(part)) => match weighted(part) {
                Some((word, weight)) => words.prefer(word, weight),
                None => others.push((Occur::Should, build(scoring, part))),
            },
            (None, Plan::Filter(part)) => words.filters.push(build(scoring, part)),
            (None, Plan::Not(part)) => words.excluded.push(Box::new(Guard {
                excluded: build(scoring, part),
                limits: scoring.limits.clone(),
            })),
            (None, part) => others.push((Occur::Must, build(scoring, part))),
        }
    }
    if !words.requires_any() {
        let filter = |query| Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>;
        let filters = std::mem::take(&mut words.filters).into_iter();
        others.extend(filters.map(|query| (Occur::Must, filter(query))));
        if !others.iter().any(|(occur, _)| *occur == Occur::Must) {
            others.push((Occur::Must, filter(Box::new(AllQuery))));
        }
        let excluded = std::mem::take(&mut words.excluded).into_iter();
        others.extend(excluded.map(|query| (Occur::MustNot, query)));
        if !words.words.is_empty() {
            words.all = false;
            others.push((Occur::Should, Box::new(words)));
        }
    } else if others.is_empty() {
        return Box::new(words);
    } else {
        others.push((Occur::Must, Box::new(words)));
    }
    Box::new(BooleanQuery::new(others))
}

/// A test of a value as it stands in a column.
pub type ValueTest = Box<dyn Fn(&str) -> bool>;

/// Returns the test of values in a column ([`crate::Shipped::columns`]) that decides a pattern of whole values or of folders;
/// none for other patterns.
///
/// # Errors
/// Fails if an expression is wrong or too large.
pub fn value_test(pattern: &Pattern) -> Result<Option<ValueTest>, ken_engine::Error> {
    let of_values = |expressions: &[String], form| -> tantivy::Result<ValueTest> {
        let test = value::Test::new(expressions, form)?;
        Ok(Box::new(move |value: &str| test.accepts(value.as_bytes())))
    };
    let test = match pattern {
        Pattern::Address(expressions) => of_values(expressions, ValueForm::Address),
        Pattern::Whole(whole) => of_values(
            std::slice::from_ref(&whole.expression),
            ValueForm::of(whole),
        ),
        Pattern::Folder(folders) => folder::Test::new(folders)
            .map(|test| Box::new(move |value: &str| test.accepts_escaped(value)) as ValueTest),
        _ => return Ok(None),
    };
    match test {
        Ok(test) => Ok(Some(test)),
        Err(error) => Err(ken_engine::Error::Query(error.to_string())),
    }
}

fn match_query(scoring: &Scoring, field: Field, pattern: &Pattern) -> Box<dyn Query> {
    if field == Field::Path {
        return Box::new(PathQuery {
            pattern: pattern.clone(),
            limits: scoring.limits.clone(),
        });
    }
    let columns = &scoring.columns;
    match pattern {
        // The only state that depends on other documents.
        Pattern::Term(term) if field == Field::Is && term == DUPLICATE => Box::new(DuplicatesQuery),
        Pattern::Term(term) | Pattern::Stem(term) => term_query(columns, field, term),
        Pattern::Border => term_query(columns, field, BORDER),
        Pattern::Address(expressions) => Box::new(ValueQuery {
            field,
            expressions: expressions.clone(),
            form: ValueForm::Address,
            limits: scoring.limits.clone(),
        }),
        Pattern::Whole(whole) => Box::new(ValueQuery {
            field,
            expressions: vec![whole.expression.clone()],
            form: ValueForm::of(whole),
            limits: scoring.limits.clone(),
        }),
        Pattern::Folder(folders) => Box::new(FolderQuery {
            folders: folders.clone(),
            limits: scoring.limits.clone(),
        }),
        Pattern::Written(_) => Box::new(SpanQuery {
            column: columns.of(field),
            span: Span::Match(pattern.clone()),
            shortcuts: Arc::clone(&scoring.shortcuts),
            limits: scoring.limits.clone(),
        }),
        // Every value of a text field has a border.
        Pattern::Prefix(prefix) if prefix.is_empty() && field.info().kind == FieldKind::Text => {
            term_query(columns, field, BORDER)
        }
        _ => Box::new(PatternQuery {
            column: columns.of(field),
            pattern: pattern.clone(),
            shortcuts: Arc::clone(&scoring.shortcuts),
            limits: scoring.limits.clone(),
        }),
    }
}

fn term_query(columns: &Columns, field: Field, term: &str) -> Box<dyn Query> {
    let option = match field.info().kind {
        FieldKind::Text => IndexRecordOption::WithFreqs,
        _ => IndexRecordOption::Basic,
    };
    let term = Term::from_field_text(columns.of(field), term);
    Box::new(TermQuery::new(term, option))
}

/// Returns the query for a prefix: the range of terms from it to the next string that does not
/// start with it.
fn span_query(scoring: &Scoring, field: Field, span: &Span) -> Box<dyn Query> {
    let column = scoring.columns.of(field);
    match span {
        Span::Match(pattern) => return match_query(scoring, field, pattern),
        Span::Phrase(terms) => match terms.as_slice() {
            [] => return Box::new(EmptyQuery),
            [(_, only)] => return match_query(scoring, field, only),
            // The engine's own query is faster where it works.
            terms => {
                let fixed = |(at, pattern): &(u32, Pattern)| match pattern {
                    Pattern::Term(term) => {
                        Some((*at as usize, Term::from_field_text(column, term)))
                    }
                    Pattern::Border => Some((*at as usize, Term::from_field_text(column, BORDER))),
                    _ => None,
                };
                if let Some(terms) = terms.iter().map(fixed).collect() {
                    return Box::new(PhraseQuery::new_with_offset(terms));
                }
            }
        },
        Span::Any(_) | Span::Near { .. } => {}
    }
    Box::new(SpanQuery {
        column,
        span: span.clone(),
        shortcuts: Arc::clone(&scoring.shortcuts),
        limits: scoring.limits.clone(),
    })
}
