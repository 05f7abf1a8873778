//! Turns plain text, such as a pasted sentence or a message, into a query without operators, for `--any` and `--all`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use ken_core::Field;

use crate::analyze::Analyze;
use crate::parse::{Clause, MAX_CLAUSES, QueryError, Tree, Value};
use crate::spans::outermost;

/// The most times that one word of the text counts, so that a long text makes no long query.
const MAX_TIMES: usize = 16;

/// Returns the tree that asks for any of the words. A word that the text has twice counts twice.
///
/// Analysis splits the words, so `and/or` is two words and a sentence without spaces has all its words. The ending
/// after an apostrophe is not a word.
pub fn any(text: &str, analyze: Analyze) -> Result<Tree, QueryError> {
    let found = outermost(Field::Body, text, analyze).into_iter();
    let ranges: Vec<Range<usize>> = found.map(|(bytes, _)| bytes).collect();
    let words = (0..ranges.len()).filter(|number| !is_rest(text, &ranges, *number));
    let words: Vec<&str> = words.map(|number| &text[ranges[number].clone()]).collect();
    tree(words.into_iter(), usize::MAX, Tree::or)
}

/// Returns the tree of [`any`], limited to the number of words that a query may have, and how many words were left
/// out. It keeps the words that the fewest documents have.
///
/// # Errors
/// Fails if `n_documents` does.
pub fn rarest<E>(
    tree: Tree,
    analyze: Analyze,
    n_documents: &mut dyn FnMut(&str) -> Result<u64, E>,
) -> Result<(Tree, usize), E> {
    let Tree::Or(parts) = tree else {
        return Ok((tree, 0));
    };
    let words: BTreeSet<String> = parts.iter().filter_map(word).collect();
    if words.len() <= MAX_CLAUSES {
        return Ok((Tree::Or(parts), 0));
    }
    let left_out = words.len() - MAX_CLAUSES;
    let mut counted = Vec::new();
    for word in words {
        let mut term = String::new();
        analyze(Field::Body, &word, &mut |found, _, bytes| {
            if term.is_empty() || bytes == (0..word.len()) {
                found.clone_into(&mut term);
            }
        });
        let count = n_documents(&term)?;
        // A word that no document has as written hardly has other forms.
        counted.push((count == 0, count, word));
    }
    counted.sort_unstable();
    let kept = counted.into_iter().take(MAX_CLAUSES);
    let kept: HashSet<String> = kept.map(|(.., word)| word).collect();
    let parts = parts.into_iter();
    let parts = parts.filter(|part| word(part).is_some_and(|word| kept.contains(&word)));
    Ok((Tree::Or(parts.collect()), left_out))
}

/// Returns the word of a part, in small letters.
fn word(part: &Tree) -> Option<String> {
    match part {
        Tree::Clause(clause) => match &clause.value {
            Value::Word(word) => Some(word.to_lowercase()),
            _ => None,
        },
        _ => None,
    }
}

/// What follows the apostrophe in contractions.
const ENDINGS: &[&str] = &["s", "t", "d", "ll", "m", "re", "ve"];

/// Abbreviations that analysis takes for one word.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e."];

/// Returns whether a word is the end of a contraction (`Anna's`, `don't`) or a letter of `e.g.` or `i.e.`. Single
/// letters are rare in texts, so they would pass for the subject.
fn is_rest(text: &str, ranges: &[Range<usize>], number: usize) -> bool {
    let word = |number: usize| ranges.get(number).map(|bytes| &text[bytes.clone()]);
    let between = |left: usize| Some(&text[ranges.get(left)?.end..ranges.get(left + 1)?.start]);
    let is = |left: usize, abbreviation: &[(&str, &str)]| {
        let words = word(left).zip(word(left + 1));
        between(left) == Some(".") && words.is_some_and(|words| abbreviation.contains(&words))
    };
    let of_example = |left| {
        is(left, &[("e", "g"), ("i", "e")])
            || word(left).is_some_and(|of| ABBREVIATIONS.contains(&of))
    };
    let before = number.checked_sub(1);
    let apostrophe = before
        .and_then(between)
        .is_some_and(|of| matches!(of, "'" | "’" | "ʼ"));
    apostrophe && word(number).is_some_and(|word| ENDINGS.contains(&word))
        || of_example(number)
        || before.is_some_and(of_example)
}

/// Returns the tree that asks for all of the words. The parts of one written word, such as `well-known`, must follow
/// each other.
pub fn all(text: &str) -> Result<Tree, QueryError> {
    tree(text.split_whitespace(), MAX_CLAUSES, Tree::and)
}

fn tree<'a>(
    words: impl Iterator<Item = &'a str>,
    most: usize,
    list: fn(Vec<Tree>) -> Tree,
) -> Result<Tree, QueryError> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    let mut indexes: HashMap<String, usize> = HashMap::new();
    for word in words {
        match indexes.entry(word.to_lowercase()) {
            Entry::Occupied(entry) => counts[*entry.get()].1 += 1,
            Entry::Vacant(entry) => {
                entry.insert(counts.len());
                counts.push((word, 1));
            }
        }
    }
    if counts.is_empty() {
        return Err(failure("the text has no words".into()));
    }
    if counts.len() > most {
        let hint = "--any searches for the rarest of them";
        return Err(QueryError {
            hint: Some(hint.to_owned()),
            ..failure(format!("the text has more than {most} different words"))
        });
    }
    Ok(list(counts.into_iter().flat_map(parts).collect()))
}

/// Returns the word as often as the text has it. A weight would say that the word matters more, which is wrong for the
/// `of` of a sentence.
fn parts((word, count): (&str, usize)) -> impl Iterator<Item = Tree> {
    let word = Tree::Clause(Clause::new(None, Value::Word(word.to_owned())));
    std::iter::repeat_n(word, count.min(MAX_TIMES))
}

fn failure(message: String) -> QueryError {
    QueryError {
        query: String::new(),
        at: 0..0,
        message,
        hint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of ASCII letters.
    fn analyze(_: Field, text: &str, each: &mut dyn FnMut(&str, u32, Range<usize>)) {
        let mut at = 0;
        for (number, word) in (0..).zip(text.split(|c: char| !c.is_ascii_alphabetic())) {
            if !word.is_empty() {
                each(&word.to_lowercase(), number, at..at + word.len());
            }
            at += word.len() + 1;
        }
    }

    fn read(text: &str) -> String {
        any(text, analyze).map_or_else(|error| error.message, |tree| tree.to_string())
    }

    #[test]
    fn a_word_counts_as_often_as_it_stands_there() {
        assert_eq!(read("Of cats, of dogs"), r#"(or "Of" "Of" "cats" "dogs")"#);
        let many = "cat ".repeat(50);
        assert_eq!(read(&many).matches("cat").count(), MAX_TIMES);
        assert_eq!(read("..."), "the text has no words");
    }

    #[test]
    fn of_many_words_the_rarest_are_looked_for() {
        let letters = |n: usize| ["e", "t", "a", "o", "i", "n", "s", "r", "h", "l"][n];
        let spell = |n: usize| {
            [n / 1000, n / 100 % 10, n / 10 % 10, n % 10]
                .map(letters)
                .concat()
        };
        let names: Vec<String> = (0..2000).map(spell).collect();
        let text = format!("{} {}", names[1500], names.join(" "));
        let tree = any(&text, analyze).unwrap();
        // The later words are the rarer; the last hundred are in no document.
        let of = |term: &str| names.iter().position(|name| name == term).unwrap_or(0);
        let count = |term: &str| 1900_u64.saturating_sub(of(term) as u64);
        let found = rarest(tree, analyze, &mut |term| Ok::<_, ()>(count(term)));
        let (tree, left_out) = found.unwrap();
        assert_eq!(left_out, 2000 - MAX_CLAUSES);
        let Tree::Or(parts) = tree else { panic!() };
        // One word is in the text twice.
        assert_eq!(parts.len(), MAX_CLAUSES + 1);
        let first = parts.iter().filter_map(word).map(|word| of(&word)).min();
        assert_eq!(first, Some(1900 - MAX_CLAUSES));
    }

    #[test]
    fn ends_of_contractions_and_abbreviations_are_no_words() {
        assert_eq!(read("Anna's"), r#""Anna""#);
        assert_eq!(read("they'll see 'd"), r#"(or "they" "see" "d")"#);
        assert_eq!(read("cats (e.g. lions)"), r#"(or "cats" "lions")"#);
        assert_eq!(read("vitamin e, g"), r#"(or "vitamin" "e" "g")"#);
    }
}
