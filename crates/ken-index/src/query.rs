//! From the plan to the engine's query.

use std::ops::Bound;

use ken_core::{Field, FieldKind, Plan};
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur, PhrasePrefixQuery,
    PhraseQuery, Query, RangeQuery, TermQuery,
};
use tantivy::schema::IndexRecordOption;

use crate::schema::Columns;

/// The engine expands the last word of a phrase into at most this many terms. Its own default is
/// 50, which silently loses documents.
const MAX_PHRASE_EXPANSIONS: u32 = 100_000;

/// Returns the engine's query for a plan.
pub(crate) fn build(columns: &Columns, plan: &Plan) -> Box<dyn Query> {
    match plan {
        Plan::All => Box::new(AllQuery),
        Plan::Nothing => Box::new(EmptyQuery),
        Plan::Term { field, term } => term_query(columns, *field, term),
        Plan::Prefix { field, prefix } => prefix_query(columns, *field, prefix),
        Plan::Phrase {
            field,
            terms,
            prefix_last,
        } => phrase(columns, *field, terms, *prefix_last),
        Plan::Range { field, from, to } => {
            let column = columns.of(*field);
            let end = |bound: &Bound<i64>| bound.map(|n| Term::from_field_i64(column, n));
            Box::new(RangeQuery::new(end(from), end(to)))
        }
        Plan::And(parts) => and(columns, parts),
        Plan::Or(parts) => {
            let parts = parts
                .iter()
                .map(|part| (Occur::Should, build(columns, part)));
            Box::new(BooleanQuery::new(parts.collect()))
        }
        Plan::Not(_) => and(columns, std::slice::from_ref(plan)),
        Plan::Weight(weight, part) => Box::new(BoostQuery::new(build(columns, part), *weight)),
        Plan::Filter(part) => Box::new(ConstScoreQuery::new(build(columns, part), 0.0)),
    }
}

/// The engine wants something to subtract from: a conjunction of negations starts with all.
fn and(columns: &Columns, parts: &[Plan]) -> Box<dyn Query> {
    let mut clauses = Vec::with_capacity(parts.len() + 1);
    for part in parts {
        clauses.push(match part {
            Plan::Not(negated) => (Occur::MustNot, build(columns, negated)),
            _ => (Occur::Must, build(columns, part)),
        });
    }
    if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
        let all = ConstScoreQuery::new(Box::new(AllQuery), 0.0);
        clauses.push((Occur::Must, Box::new(all)));
    }
    Box::new(BooleanQuery::new(clauses))
}

fn term_query(columns: &Columns, field: Field, term: &str) -> Box<dyn Query> {
    let option = match field.info().kind {
        FieldKind::Text => IndexRecordOption::WithFreqs,
        _ => IndexRecordOption::Basic,
    };
    let term = Term::from_field_text(columns.of(field), term);
    Box::new(TermQuery::new(term, option))
}

/// A prefix is the range of terms from it up to the next string that does not start so.
fn prefix_query(columns: &Columns, field: Field, prefix: &str) -> Box<dyn Query> {
    let column = columns.of(field);
    let from = Bound::Included(Term::from_field_text(column, prefix));
    let to = match successor(prefix) {
        Some(next) => Bound::Excluded(Term::from_field_text(column, &next)),
        None => Bound::Unbounded,
    };
    Box::new(RangeQuery::new(from, to))
}

/// Returns the first string after all strings that start with `prefix`.
fn successor(prefix: &str) -> Option<String> {
    let mut stem = prefix.to_owned();
    while let Some(last) = stem.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            stem.push(next);
            return Some(stem);
        }
    }
    None
}

fn phrase(
    columns: &Columns,
    field: Field,
    terms: &[(u32, String)],
    prefix_last: bool,
) -> Box<dyn Query> {
    match terms {
        [] => return Box::new(EmptyQuery),
        [(_, only)] if prefix_last => return prefix_query(columns, field, only),
        [(_, only)] => return term_query(columns, field, only),
        _ => {}
    }
    let column = columns.of(field);
    let terms = terms
        .iter()
        .map(|(position, term)| (*position as usize, Term::from_field_text(column, term)))
        .collect();
    if prefix_last {
        let mut query = PhrasePrefixQuery::new_with_offset(terms);
        query.set_max_expansions(MAX_PHRASE_EXPANSIONS);
        Box::new(query)
    } else {
        Box::new(PhraseQuery::new_with_offset(terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_end_the_range_of_a_prefix() {
        assert_eq!(successor("ab").as_deref(), Some("ac"));
        assert_eq!(successor("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(successor("\u{d7ff}").as_deref(), Some("\u{e000}"));
        assert_eq!(successor("\u{10ffff}"), None);
        assert_eq!(successor(""), None);
    }
}
