//! Finds terms that a word may have been meant to be, for "did you mean".
//!
//! The dictionary is traversed together with the Levenshtein automaton of the word, so that no
//! separate list of words is needed, and every suggestion exists in the index. Most mistakes affect
//! one letter (F. Damerau, "A technique for computer detection and correction of spelling errors",
//! 1964), so two are only tried if one yields nothing, and only for terms with the same first
//! letter.

use std::collections::BTreeMap;

use ken_core::{Field, Pattern};
use ken_engine::Similar;

use super::{Dictionaries, Matcher};
use crate::limits::{Limits, Pace};

/// Minimum length of a word for suggestions: too much is similar to shorter ones.
const MIN_LENGTH: usize = 3;
/// Minimum length of a word for suggestions with two mistakes.
const MIN_LENGTH_FOR_TWO: usize = 6;

/// Returns the terms most like `word` in these fields, the best first: nearest, then most frequent.
pub(crate) fn similar(
    dictionaries: &Dictionaries,
    fields: &[Field],
    word: &str,
    limit: usize,
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<Similar>> {
    let length = word.chars().count();
    if length < MIN_LENGTH || word.chars().any(|c| !c.is_alphabetic()) {
        return Ok(Vec::new());
    }
    for distance in 1..=2 {
        if distance == 2 && length < MIN_LENGTH_FOR_TWO {
            break;
        }
        let found = at_distance(dictionaries, fields, word, distance, limits)?;
        if !found.is_empty() {
            return Ok(best(found, distance, limit));
        }
    }
    Ok(Vec::new())
}

fn at_distance(
    dictionaries: &Dictionaries,
    fields: &[Field],
    word: &str,
    distance: u8,
    limits: Option<&Limits>,
) -> tantivy::Result<BTreeMap<String, u64>> {
    let matcher = Matcher::new(&Pattern::Fuzzy(word.to_owned(), distance))?;
    let start = match distance {
        1 => "",
        _ => &word[..word.chars().next().map_or(0, char::len_utf8)],
    };
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for field in fields {
        let mut of_field: BTreeMap<String, u64> = BTreeMap::new();
        for segment in 0..dictionaries.segments().len() {
            let index = dictionaries.of(*field, segment)?;
            let mut pace = Pace::default();
            let mut cursor = matcher.cursor_from(index, start, limits)?;
            while !pace.step(limits) && cursor.advance() {
                let Ok(term) = std::str::from_utf8(cursor.term()) else {
                    continue;
                };
                let documents = u64::from(cursor.info().doc_freq);
                match of_field.get_mut(term) {
                    Some(sum) => *sum += documents,
                    None if term != word => _ = of_field.insert(term.to_owned(), documents),
                    None => {}
                }
            }
        }
        for (term, documents) in of_field {
            let known = most.entry(term).or_default();
            *known = documents.max(*known);
        }
    }
    Ok(most)
}

fn best(found: BTreeMap<String, u64>, distance: u8, limit: usize) -> Vec<Similar> {
    let mut all: Vec<Similar> = found
        .into_iter()
        .map(|(term, documents)| Similar {
            term,
            distance,
            documents,
        })
        .collect();
    all.sort_by(|a, b| {
        let order = b.documents.cmp(&a.documents);
        order.then_with(|| a.term.cmp(&b.term))
    });
    all.truncate(limit);
    all
}
