//! The last word of a query that is still being typed counts as the beginning of a word too.

use std::collections::HashMap;
use std::sync::Arc;

use ken_core::{FIELDS, Field, FieldKind, Form, Pattern, Plan, Span, Word};
use ken_engine::{Limits, Source};

use super::Error;
use crate::parse::{Tree, Value};

/// The most words that a beginning stands for; the most frequent count.
const MAX_WORDS: usize = 64;
/// The weight of a word that only begins as the query ends.
const WEIGHT: f32 = 0.5;

/// Adds the words that begin with the last word of a query to the plan of that word. A query whose end is no word, but a
/// space, a quote or an operator, stays as it is.
///
/// # Errors
/// Fails if the index cannot be read.
pub(super) fn complete_last(
    source: &dyn Source,
    (query, tree): (&str, &Tree),
    plan: &mut Plan,
    limits: Option<&Arc<Limits>>,
) -> Result<(), Error> {
    if !last_text(tree).is_some_and(|text| query.ends_with(text)) {
        return Ok(());
    }
    let Some(word) = last_word(plan) else {
        return Ok(());
    };
    let Some(Span::Match(Pattern::Term(start) | Pattern::Stem(start))) =
        word.forms.first().map(|form| &form.span)
    else {
        return Ok(());
    };
    let words = beginning_with(source, word, start, limits)?;
    if !words.is_empty() {
        word.forms.push(Form {
            span: Span::Match(Pattern::Any(words)),
            weight: WEIGHT,
            derived: true,
        });
    }
    Ok(())
}

/// Returns the word at the end of a query.
fn last_text(tree: &Tree) -> Option<&str> {
    match tree {
        Tree::And(parts) | Tree::Or(parts) => last_text(parts.last()?),
        Tree::Clause(clause) => match &clause.value {
            Value::Word(text) if !text.is_empty() => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn last_word(plan: &mut Plan) -> Option<&mut Word> {
    match plan {
        Plan::And(parts) | Plan::Or(parts) => last_word(parts.last_mut()?),
        Plan::Word(word) => Some(word),
        _ => None,
    }
}

/// Returns the most frequent words with this beginning, without the beginning itself.
fn beginning_with(
    source: &dyn Source,
    word: &Word,
    start: &str,
    limits: Option<&Arc<Limits>>,
) -> Result<Vec<String>, Error> {
    let pattern = Pattern::Prefix(start.to_owned());
    let fields = FIELDS.iter().map(|row| row.field);
    let is_searched = |field: &Field| field.info().kind == FieldKind::Text && word.looks_in(*field);
    let mut counts: HashMap<String, u64> = HashMap::new();
    for field in fields.filter(is_searched) {
        let (terms, _) = source
            .terms()
            .frequent(field, &pattern, MAX_WORDS + 1, limits)?;
        for (term, n_documents) in terms {
            *counts.entry(term).or_default() += n_documents;
        }
    }
    counts.remove(start);
    let mut words: Vec<(String, u64)> = counts.into_iter().collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    words.truncate(MAX_WORDS);
    Ok(words.into_iter().map(|(word, _)| word).collect())
}
