//! Documents with most of the words, where no document has all of them.
//!
//! A question in plain words ("what is the guest wifi password") has words that no answer has. Words that only serve the
//! sentence and words that no document has are left out first. If still no document has the rest, all words but one are
//! enough, and then any of them; the ranking puts first what has most.

use std::sync::Arc;

use ken_core::{Pattern, Plan, Span, Word};
use ken_engine::{Limits, Request, Source};
use serde::Serialize;

use super::Error;

/// With more words, all but one of them are not tried.
const MAX_WORDS: usize = 8;
/// With more words, a query is a text: each word would be a search of its own.
const MAX_ALL_WORDS: usize = 32;

/// How many of the words of a query the hits have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Matched {
    /// All of them.
    #[default]
    All,
    /// All but those that only serve the sentence, that no document has, or one of the others.
    Most,
    /// Some of them.
    Any,
}

/// A query in which some words need not match.
#[derive(Clone, Debug)]
pub(super) struct Relaxed {
    pub(super) plan: Plan,
    pub(super) matched: Matched,
    /// The words that no document has.
    pub(super) missing: Vec<String>,
}

/// Returns plans that find more than one without hits, the strictest first, with the words that no document has. There are
/// none if the query has no two words without a field.
///
/// # Errors
/// Fails if the index cannot be read.
pub(super) fn relaxed(
    source: &dyn Source,
    plan: &Plan,
    limits: Option<&Arc<Limits>>,
) -> Result<Vec<Relaxed>, Error> {
    let Plan::And(parts) = plan else {
        return Ok(Vec::new());
    };
    let (words, rest): (Vec<Plan>, Vec<Plan>) = parts.iter().cloned().partition(is_bare_word);
    if !(2..=MAX_ALL_WORDS).contains(&words.len()) {
        return Ok(Vec::new());
    }
    let is_missing = |word: &Plan| -> Result<bool, Error> {
        let request = Request {
            limit: 1,
            counted: false,
            limits,
            ..Request::new(word)
        };
        Ok(source.find(&request)?.hits.is_empty())
    };
    // Where one of several words is enough, function words get a weight.
    let Plan::Or(weighed) = source.expand(&Plan::Or(words), limits)? else {
        return Ok(Vec::new());
    };
    let (mut content, mut missing) = (Vec::new(), Vec::new());
    for word in &weighed {
        match word {
            Plan::Word(of) if is_missing(word)? => {
                missing.extend(text(of));
            }
            Plan::Word(_) => content.push(word.clone()),
            _ => {}
        }
    }
    if limits.is_some_and(|limits| limits.ended_early()) {
        return Ok(Vec::new());
    }
    let with_rest = |words: Plan| Plan::And([vec![words], rest.clone()].concat());
    let step = |words: Plan, matched| Relaxed {
        plan: with_rest(words),
        matched,
        missing: missing.clone(),
    };
    let mut steps = Vec::new();
    if !content.is_empty() && content.len() < weighed.len() {
        steps.push(step(Plan::And(content.clone()), Matched::Most));
    }
    if (3..=MAX_WORDS).contains(&content.len()) {
        let without = |number: usize| {
            let mut others = content.clone();
            others.remove(number);
            Plan::And(others)
        };
        let all_but_one = (0..content.len()).map(without).collect();
        steps.push(step(Plan::Or(all_but_one), Matched::Most));
    }
    if content.len() > 1 {
        steps.push(step(Plan::Or(content), Matched::Any));
    }
    Ok(steps)
}

/// Returns whether a part is a plain word: phrases, wildcards and expressions always hold.
fn is_bare_word(plan: &Plan) -> bool {
    matches!(plan, Plan::Word(word) if word.field.is_none() && text(word).is_some())
}

/// Returns the word as the query has it, if it is one term.
fn text(word: &Word) -> Option<String> {
    match &word.forms.first()?.span {
        Span::Match(Pattern::Term(term) | Pattern::Stem(term)) => Some(term.clone()),
        _ => None,
    }
}
