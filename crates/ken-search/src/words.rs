//! Text that is no query: the words as they stand, without operators, as `--any` and `--all` take
//! it. A pasted sentence or a mail is such a text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ken_core::Field;

use crate::parse::{Boost, Clause, MAX_CLAUSES, QueryError, Tree, Value};
use crate::plan::{Analyze, outermost};

/// Returns the tree that asks for any of the words; one that stands there twice counts twice.
///
/// The words are those of the analysis, so that `and/or` is two and a sentence without blanks as
/// many as it has.
pub fn any(text: &str, analyze: Analyze) -> Result<Tree, QueryError> {
    let words = outermost(Field::Body, text, analyze);
    tree(words.into_iter().map(|(bytes, _)| &text[bytes]), Tree::or)
}

/// Returns the tree that asks for all of the words. What is written in one, like `well-known`,
/// must stand together.
pub fn all(text: &str) -> Result<Tree, QueryError> {
    tree(text.split_whitespace(), Tree::and)
}

fn tree<'a>(
    words: impl Iterator<Item = &'a str>,
    list: fn(Vec<Tree>) -> Tree,
) -> Result<Tree, QueryError> {
    let mut counts: Vec<(&str, u32)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for word in words {
        match places.entry(word.to_lowercase()) {
            Entry::Occupied(place) => counts[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(counts.len());
                counts.push((word, 1));
            }
        }
    }
    if counts.is_empty() {
        return Err(failure("the text has no words".into()));
    }
    if counts.len() > MAX_CLAUSES {
        let message = format!("the text has more than {MAX_CLAUSES} different words");
        return Err(failure(message));
    }
    Ok(list(counts.into_iter().map(part).collect()))
}

fn part((word, count): (&str, u32)) -> Tree {
    let word = Tree::Clause(Clause::new(None, Value::Word(word.to_owned())));
    match count {
        1 => word,
        // Weights have an end, and a word that often is no word of its text.
        count => Tree::Boost(Box::new(word), Boost(count.min(1000) * 1000)),
    }
}

fn failure(message: String) -> QueryError {
    QueryError {
        query: String::new(),
        at: 0..0,
        message,
        hint: None,
    }
}
