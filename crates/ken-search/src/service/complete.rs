//! The last word of a query that is still being typed counts as the beginning of a word too.

use std::collections::HashMap;
use std::sync::Arc;

use ken_core::{FIELDS, Field, FieldKind, Form, Pattern, Plan, Span, Word};
use ken_engine::{Limits, Source};

use super::Error;
use crate::parse::{Tree, Value};

/// The most words that a beginning stands for; the most frequent count.
const MAX_WORDS: usize = 64;
/// The words that count however frequent they are.
const MIN_WORDS: usize = 4;
/// The most documents of all these words together, so that a search takes about as long as one for a whole word.
const MAX_DOCUMENTS: u64 = 50_000;
/// The weight of a word that only begins as the query ends.
const WEIGHT: f32 = 0.5;
/// With fewer letters, a beginning says nothing: a tenth of all words has it, and to read them takes longer than the search.
const MIN_LETTERS: usize = 3;

/// Adds the words that begin with the last word of a query to the plan of that word. A query whose end is no word, but a
/// space, a quote or an operator, stays as it is. Behind other words, one or two letters are not required: between
/// `annual` and `annual report`, `annual r` finds what `annual` does.
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
    if is_short(start) {
        // A field or a number is meant as it stands: `from:bo`, `windows 7`.
        if word.field.is_none() && start.chars().all(char::is_alphabetic) {
            prefer_last(plan);
        }
        return Ok(());
    }
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

/// Returns whether a beginning has too few letters to mean a word. In scripts without letters, from U+2E80 on, one character
/// may be a word.
fn is_short(start: &str) -> bool {
    start.chars().count() < MIN_LETTERS && start.chars().all(|character| character < '\u{2e80}')
}

/// Lets the last word only rank documents, if another part selects them.
fn prefer_last(plan: &mut Plan) {
    match plan {
        Plan::Or(parts) => {
            if let Some(last) = parts.last_mut() {
                prefer_last(last);
            }
        }
        Plan::And(parts) => {
            let Some((last, others)) = parts.split_last_mut() else {
                return;
            };
            let selects = |part: &Plan| !matches!(part, Plan::Not(_) | Plan::Prefer(_));
            match last {
                Plan::Word(_) if others.iter().any(selects) => {
                    let word = std::mem::replace(last, Plan::All);
                    *last = Plan::Prefer(Box::new(word));
                }
                _ => prefer_last(last),
            }
        }
        _ => {}
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
    let mut n_documents = 0;
    let fits = |(at, (_, count)): &(usize, (String, u64))| {
        n_documents += count;
        *at < MIN_WORDS || *at < MAX_WORDS && n_documents <= MAX_DOCUMENTS
    };
    let words = words.into_iter().enumerate().take_while(fits);
    Ok(words.map(|(_, (word, _))| word).collect())
}
