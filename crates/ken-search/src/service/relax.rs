//! Documents with most of the words, where hardly any document has all of them.
//!
//! A question in plain words ("what is the guest wifi password") has words that no answer has. Words that only serve the
//! sentence are never required. Where a page of hits is not full with the documents that have all other words, any of the
//! words is enough, and the ranking puts first what has most of them: among many documents a few long ones have any three
//! words somewhere.

use std::sync::Arc;

use ken_core::{Pattern, Plan, Span, Word};
use ken_engine::{Limits, Request, Source};
use serde::{Deserialize, Serialize};

use super::Error;

/// With more words, a query is a text: each word would be a search of its own.
const MAX_WORDS: usize = 32;
/// So many documents with all words are enough.
pub(super) const ENOUGH: usize = 10;
/// So many words that only serve make a sentence of words.
const SENTENCE: usize = 2;
/// With fewer words, one document with all of them is enough.
const MANY_WORDS: usize = 3;

/// When documents with some of the words are found too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relax {
    /// Never: all words are required, also those that only serve the sentence.
    #[default]
    Never,
    /// If no document has all words.
    None,
    /// If hardly any document has all words, and hits are in order of relevance.
    Few,
    /// As [`Relax::Few`], and always where the words are a sentence: its answer seldom has all of them.
    Sentence,
}

impl Relax {
    /// Returns whether `total` documents with all of `n_words` words are so few that others are looked for.
    pub(super) fn are_few(self, total: usize, n_words: usize) -> bool {
        match self {
            Self::Never => false,
            Self::Few | Self::Sentence if n_words >= MANY_WORDS => total < ENOUGH,
            Self::None | Self::Few | Self::Sentence => total == 0,
        }
    }
}

/// How many of the words of a query the hits have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Matched {
    /// All of them, but for words that only serve the sentence.
    #[default]
    All,
    /// All that any document has.
    Most,
    /// Some of them.
    Any,
}

/// A query in which some words need not match.
#[derive(Clone, Debug)]
pub(super) struct Relaxed {
    pub(super) plan: Plan,
    pub(super) matched: Matched,
    /// How many words are required, if all are.
    pub(super) n_words: usize,
    /// The words that no document has.
    pub(super) missing: Vec<String>,
}

/// The parts of a query of plain words.
pub(super) struct PlainWords {
    /// All words in the order of the query, weighed.
    words: Vec<Plan>,
    content: Vec<Plan>,
    /// Words that only serve the sentence, weighed.
    serving: Vec<Plan>,
    /// What always holds: filters, phrases, excluded words.
    rest: Vec<Plan>,
}

impl PlainWords {
    /// Returns the parts of a plan; `None` if it has too many words without a field, none, or only one that says something.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(super) fn of(
        source: &dyn Source,
        plan: &Plan,
        relax: Relax,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Option<Self>, Error> {
        let Plan::And(parts) = plan else {
            return Ok(None);
        };
        let (words, rest): (Vec<Plan>, Vec<Plan>) = parts.iter().cloned().partition(is_bare_word);
        if parts.len() < 2 || !(1..=MAX_WORDS).contains(&words.len()) {
            return Ok(None);
        }
        let n_words = words.len();
        let said = rest.iter().filter(|part| is_text(part)).cloned();
        // Where one of several words is enough, function words get a weight.
        let alternatives = Plan::Or(words.into_iter().chain(said).collect());
        let Plan::Or(mut weighed) = source.expand(&alternatives, limits)? else {
            return Ok(None);
        };
        weighed.truncate(n_words);
        if n_words == 1 && weighed.iter().all(is_bare_word) {
            return Ok(None);
        }
        // On a page, names of folders may have some of several words.
        let n_content = weighed.iter().filter(|word| is_bare_word(word)).count();
        for word in &mut weighed {
            if let Plan::Word(word) = word {
                word.folders = relax >= Relax::Few && n_content > 1;
            }
        }
        let mut content: Vec<Plan> = Vec::new();
        let mut serving = Vec::new();
        for word in &weighed {
            match is_bare_word(word) {
                true if content.contains(word) => {}
                true => content.push(word.clone()),
                false => serving.push(word.clone()),
            }
        }
        Ok(Some(Self {
            words: weighed,
            content,
            serving,
            rest,
        }))
    }

    /// Returns the query in which words that only serve the sentence are not required.
    pub(super) fn strict(&self) -> Plan {
        let required = |word: &Plan| match is_bare_word(word) {
            true => word.clone(),
            false => Plan::Prefer(Box::new(word.clone())),
        };
        let words = self.words.iter().map(required);
        Plan::And(words.chain(self.rest.iter().cloned()).collect())
    }

    /// Returns how many words say something.
    pub(super) fn n_words(&self) -> usize {
        self.content.len()
    }

    /// Returns whether the words are a sentence, not a list of what a document has.
    pub(super) fn are_sentence(&self) -> bool {
        self.serving.len() >= SENTENCE
    }

    /// Returns plans that find more, the strictest first. There are none if only one word says something.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(super) fn relaxed(
        self,
        source: &dyn Source,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Relaxed>, Error> {
        let (mut content, mut missing) = (Vec::new(), Vec::new());
        for word in self.content {
            let request = Request {
                limit: 1,
                counted: false,
                limits,
                ..Request::new(&word)
            };
            match source.find(&request)?.hits.is_empty() {
                true => missing.extend(text(&word)),
                false => content.push(word),
            }
        }
        if limits.is_some_and(|limits| limits.ended_early()) || content.is_empty() {
            return Ok(Vec::new());
        }
        let preferred = |word: &Plan| Plan::Prefer(Box::new(word.clone()));
        let serving: Vec<Plan> = self.serving.iter().map(preferred).collect();
        let n_words = content.len();
        let step = |words: Plan, matched| Relaxed {
            n_words,
            plan: match self.rest.is_empty() {
                true => words,
                false => Plan::And([vec![words], self.rest.clone()].concat()),
            },
            matched,
            missing: missing.clone(),
        };
        let mut steps = Vec::new();
        if !missing.is_empty() {
            let all = Plan::And([&content[..], &serving].concat());
            steps.push(step(all, Matched::Most));
        }
        if content.len() > 1 {
            steps.push(step(Plan::Or(content), Matched::Any));
        }
        Ok(steps)
    }
}

/// Returns whether a part asks for text: a word or a phrase, but no filter and nothing that is excluded.
fn is_text(plan: &Plan) -> bool {
    matches!(plan, Plan::Word(Word { field: None, .. }))
}

/// Returns whether a part is a plain word: phrases, wildcards and expressions always hold.
fn is_bare_word(plan: &Plan) -> bool {
    text(plan).is_some()
}

/// Returns the word as the query has it, if it is one term and has no field.
fn text(plan: &Plan) -> Option<String> {
    let Plan::Word(Word {
        field: None, forms, ..
    }) = plan
    else {
        return None;
    };
    match &forms.first()?.span {
        Span::Match(Pattern::Term(term) | Pattern::Stem(term)) => Some(term.clone()),
        _ => None,
    }
}
