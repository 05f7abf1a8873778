//! "Did you mean": suggests similar queries for one that found little, and counts their documents.
//!
//! A word that the index does not have is replaced by the term most like it. Two words are joined, or one is split,
//! where the index has the result. A suggestion is a whole query that was tried: it finds more than the original.

use ken_core::{FIELDS, Field, FieldKind, FieldNames};
use serde::Serialize;

use crate::parse::{Clause, Phrase, Piece, Tree, Value};
use crate::plan::Analyze;

/// A query that finds more than this needs no suggestions.
pub const LITTLE: usize = 4;
/// The most queries that are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// The most unknown words of a query that are misspellings; with more of them the query is something else.
const MAX_WORDS: usize = 4;
/// The most words of a query in which two words are joined, as each pair costs a search.
const MAX_JOINED: usize = 16;
/// The shortest half of a word that is split, in characters.
const MIN_HALF: usize = 2;

/// What the index knows.
pub trait Vocabulary {
    /// Why the index cannot be searched.
    type Error;

    /// Returns how many documents have a term in one of the fields.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn n_documents(&self, fields: &[Field], term: &str) -> Result<u64, Self::Error>;

    /// Returns the terms of the fields that are most like a word, best first.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn similar(&self, fields: &[Field], term: &str) -> Result<Vec<String>, Self::Error>;

    /// Returns how many documents a query finds.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn n_found(&self, tree: &Tree) -> Result<usize, Self::Error>;
}

/// A query that may have been meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// How many documents the query finds.
    pub documents: usize,
    /// The query.
    pub query: String,
}

/// Returns the suggestions for a query that found `n_found` documents.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn suggest<V: Vocabulary>(
    tree: &Tree,
    n_found: usize,
    vocabulary: &V,
    names: &FieldNames,
    analyze: Analyze,
) -> Result<Vec<Suggestion>, V::Error> {
    if n_found > LITTLE {
        return Ok(Vec::new());
    }
    let mut suggestions: Vec<Suggestion> = Vec::new();
    for candidate in candidates(tree, vocabulary, analyze)? {
        let query = candidate.to_query(names);
        if suggestions.iter().any(|known| known.query == query) {
            continue;
        }
        let documents = vocabulary.n_found(&candidate)?;
        if documents > n_found {
            suggestions.push(Suggestion { query, documents });
        }
        if suggestions.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    Ok(suggestions)
}

/// Returns queries with other words, likeliest first.
fn candidates<V: Vocabulary>(
    tree: &Tree,
    vocabulary: &V,
    analyze: Analyze,
) -> Result<Vec<Tree>, V::Error> {
    let mut words = Vec::new();
    each_word(tree, &mut |word| words.push(word));
    let mut unknown = Vec::new();
    for word in &words {
        let Some(term) = single_term(word, analyze) else {
            continue;
        };
        if vocabulary.n_documents(&word.fields(), &term)? == 0 {
            unknown.push((word, term));
        }
    }
    let mut queries = match words.len() {
        ..=MAX_JOINED => joined(tree),
        _ => Vec::new(),
    };
    if unknown.is_empty() || unknown.len() > MAX_WORDS {
        return Ok(queries);
    }
    let mut options = Vec::new();
    for (word, term) in &unknown {
        let mut similar = vocabulary.similar(&word.fields(), term)?;
        similar.truncate(MAX_SUGGESTIONS);
        options.push(similar);
    }
    let replaced = |choice: &[usize]| {
        let mut tree = tree.clone();
        for (((word, _), options), choice) in unknown.iter().zip(&options).zip(choice) {
            if let Some(to) = options.get(*choice).or(options.first()) {
                tree = with_word(&tree, &word.text, to);
            }
        }
        tree
    };
    if options.iter().any(|of| !of.is_empty()) {
        let best = vec![0; options.len()];
        queries.push(replaced(&best));
        for (at, of) in options.iter().enumerate() {
            for other in 1..of.len() {
                let mut choice = best.clone();
                choice[at] = other;
                queries.push(replaced(&choice));
            }
        }
    }
    for (word, term) in &unknown {
        if let Some((left, right)) = split(&word.fields(), term, vocabulary)? {
            queries.push(with_split(tree, &word.text, &format!("{left} {right}")));
        }
    }
    queries.retain(|query| query != tree);
    Ok(queries)
}

/// A word of the query.
struct Word {
    field: Option<Field>,
    text: String,
}

impl Word {
    fn fields(&self) -> Vec<Field> {
        match self.field {
            Some(field) => vec![field],
            None => FIELDS
                .iter()
                .filter(|info| info.kind == FieldKind::Text && info.weight > 0.0)
                .map(|info| info.field)
                .collect(),
        }
    }
}

/// Returns the term of a word that has exactly one term.
fn single_term(word: &Word, analyze: Analyze) -> Option<String> {
    let field = word.field.unwrap_or(Field::Body);
    let mut terms = Vec::new();
    analyze(field, &word.text, &mut |term, _, _| {
        terms.push(term.to_owned())
    });
    terms.pop().filter(|_| terms.is_empty())
}

/// Calls `each` with the text words that a query asks for, without excluded words, patterns and values of keyword
/// fields.
fn each_word(tree: &Tree, each: &mut dyn FnMut(Word)) {
    match tree {
        Tree::Clause(clause) => {
            let is_text = |field: Field| field.info().kind == FieldKind::Text;
            let texts: Vec<&str> = match &clause.value {
                _ if !clause.field.is_none_or(is_text) => Vec::new(),
                Value::Word(text) => vec![text],
                Value::Phrase(phrase) => phrase_words(phrase).collect(),
                _ => Vec::new(),
            };
            for text in texts {
                each(Word {
                    field: clause.field,
                    text: text.to_owned(),
                });
            }
        }
        Tree::And(parts) | Tree::Or(parts) | Tree::Near(parts, _) => {
            parts.iter().for_each(|part| each_word(part, each));
        }
        Tree::Xor(left, right) => {
            each_word(left, each);
            each_word(right, each);
        }
        Tree::Boost(part, _) | Tree::Thread(part) | Tree::Part(part) => each_word(part, each),
        Tree::All | Tree::Not(_) => {}
    }
}

fn phrase_words(phrase: &Phrase) -> impl Iterator<Item = &str> {
    let texts = phrase.pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.split_whitespace()),
        _ => None,
    });
    texts.flatten()
}

/// Returns the query with each clause changed by `change`, except excluded clauses.
fn mapped(tree: &Tree, change: &dyn Fn(&Clause) -> Clause) -> Tree {
    let all = |parts: &[Tree]| parts.iter().map(|part| mapped(part, change)).collect();
    match tree {
        Tree::Clause(clause) => Tree::Clause(change(clause)),
        Tree::And(parts) => Tree::And(all(parts)),
        Tree::Or(parts) => Tree::Or(all(parts)),
        Tree::Near(parts, nearness) => Tree::Near(all(parts), *nearness),
        Tree::Xor(left, right) => Tree::Xor(
            Box::new(mapped(left, change)),
            Box::new(mapped(right, change)),
        ),
        Tree::Boost(part, boost) => Tree::Boost(Box::new(mapped(part, change)), *boost),
        Tree::Thread(part) => Tree::Thread(Box::new(mapped(part, change))),
        Tree::Part(part) => Tree::Part(Box::new(mapped(part, change))),
        Tree::All | Tree::Not(_) => tree.clone(),
    }
}

/// Returns the query with one word replaced by another.
fn with_word(tree: &Tree, from: &str, to: &str) -> Tree {
    let in_text = |text: &str| {
        let words = text.split_whitespace();
        let words: Vec<&str> = words
            .map(|word| if word == from { to } else { word })
            .collect();
        words.join(" ")
    };
    mapped(tree, &|clause| {
        let value = match &clause.value {
            Value::Word(text) if text == from => Value::Word(to.to_owned()),
            Value::Phrase(phrase) if phrase_words(phrase).any(|word| word == from) => {
                let pieces = phrase.pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => Piece::Text(in_text(text)),
                    piece => piece.clone(),
                });
                Value::Phrase(Phrase {
                    pieces: pieces.collect(),
                    ..phrase.clone()
                })
            }
            value => value.clone(),
        };
        Clause {
            value,
            ..clause.clone()
        }
    })
}

/// Returns the query with a single word replaced by two words, one after the other.
fn with_split(tree: &Tree, from: &str, to: &str) -> Tree {
    mapped(tree, &|clause| match &clause.value {
        Value::Word(text) if text == from => {
            let phrase = Phrase {
                pieces: vec![Piece::Text(to.to_owned())],
                prefix_last: false,
                near: None,
            };
            Clause::new(clause.field, Value::Phrase(phrase))
        }
        _ => clause.clone(),
    })
}

/// Returns the queries in which two neighbouring words are joined.
fn joined(tree: &Tree) -> Vec<Tree> {
    let Tree::And(parts) = tree else {
        return Vec::new();
    };
    let word = |tree: &Tree| match tree {
        Tree::Clause(Clause {
            field: None,
            value: Value::Word(text),
            ..
        }) => Some(text.clone()),
        _ => None,
    };
    let pair = |at: usize| {
        let text = word(&parts[at])? + &word(&parts[at + 1])?;
        let mut parts = parts.clone();
        parts[at] = Tree::Clause(Clause::new(None, Value::Word(text)));
        parts.remove(at + 1);
        Some(Tree::and(parts))
    };
    (0..parts.len().saturating_sub(1))
        .filter_map(pair)
        .collect()
}

/// Splits a word into two words, such that the rarer of them is as frequent as possible.
fn split<V: Vocabulary>(
    fields: &[Field],
    term: &str,
    vocabulary: &V,
) -> Result<Option<(String, String)>, V::Error> {
    let mut best = (0, None);
    let length = term.chars().count();
    for (number, (at, _)) in term.char_indices().enumerate() {
        if number < MIN_HALF || length - number < MIN_HALF {
            continue;
        }
        let (left, right) = term.split_at(at);
        let left_count = vocabulary.n_documents(fields, left)?;
        if left_count > best.0 {
            let count = left_count.min(vocabulary.n_documents(fields, right)?);
            if count > best.0 {
                best = (count, Some((left.to_owned(), right.to_owned())));
            }
        }
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;
    use crate::parse::parse;

    /// An index of these words, in which a query finds as many documents as it has words, and the number of queries
    /// tried.
    struct Words(&'static [&'static str], Cell<usize>);

    impl Vocabulary for Words {
        type Error = Infallible;

        fn n_documents(&self, _: &[Field], term: &str) -> Result<u64, Infallible> {
            Ok(u64::from(self.0.contains(&term)) * 7)
        }

        fn similar(&self, _: &[Field], term: &str) -> Result<Vec<String>, Infallible> {
            let near = |word: &&&str| strsim::osa_distance(word, term) == 1;
            Ok(self
                .0
                .iter()
                .filter(near)
                .map(|word| (*word).to_owned())
                .collect())
        }

        fn n_found(&self, tree: &Tree) -> Result<usize, Infallible> {
            self.1.set(self.1.get() + 1);
            assert!(self.1.get() <= 12, "too many queries are tried");
            let mut words = Vec::new();
            each_word(tree, &mut |word| words.push(word.text));
            let known = words.iter().all(|word| self.0.contains(&word.as_str()));
            Ok(if known { words.len() } else { 0 })
        }
    }

    fn suggested(query: &str) -> Vec<String> {
        const WORDS: &[&str] = &["budget", "gadget", "report", "data", "base", "database"];
        let words = Words(WORDS, Cell::default());
        let analyze: Analyze = |_, text, each| {
            if text.chars().all(char::is_alphanumeric) {
                each(&text.to_lowercase(), 0, 0..text.len());
            }
        };
        let Ok(tree) = parse(query) else {
            panic!("{query}");
        };
        let Ok(found) = suggest(&tree, 0, &words, &FieldNames::TABLE, analyze);
        found.into_iter().map(|of| of.query).collect()
    }

    #[test]
    fn words_that_are_unknown_are_replaced() {
        assert_eq!(suggested("buget report"), ["budget report"]);
        assert_eq!(
            suggested("title:Buget OR raport"),
            ["title:budget OR report"]
        );
        assert_eq!(suggested("\"buget report\""), ["\"budget report\""]);
        assert_eq!(suggested("bugget"), ["budget"]);
    }

    #[test]
    fn words_are_joined_and_split() {
        assert_eq!(suggested("dat abase"), ["database", "data base"]);
        assert_eq!(suggested("budgetreport"), ["\"budget report\""]);
    }

    #[test]
    fn a_text_as_a_query_costs_no_query_for_each_word() {
        let text = "report data ".repeat(50);
        assert!(suggested(&text).is_empty());
        assert_eq!(suggested(&format!("{text} buget")).len(), 1);
    }

    #[test]
    fn what_is_no_misspelling_stays() {
        for query in [
            "budget",
            "-buget",
            "buget*",
            "/buget/",
            "ext:buget",
            "buget~1",
            "zzzzzz",
            "bu-get",
        ] {
            assert!(
                suggested(query).is_empty(),
                "{query}: {:?}",
                suggested(query)
            );
        }
    }
}
