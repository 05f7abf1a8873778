//! Text that is no query: the words as they stand, without operators, as `--any` and `--all` take
//! it. A pasted sentence or a mail is such a text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use ken_core::Field;

use crate::parse::{Clause, MAX_CLAUSES, QueryError, Tree, Value};
use crate::plan::{Analyze, outermost};

/// How often a word of the text counts at most, so that a long one makes no long query.
const MAX_TIMES: usize = 16;

/// Returns the tree that asks for any of the words; one that stands there twice counts twice.
///
/// The words are those of the analysis, so that `and/or` is two and a sentence without blanks as
/// many as it has. What is left of a word behind an apostrophe is none.
pub fn any(text: &str, analyze: Analyze) -> Result<Tree, QueryError> {
    let found = outermost(Field::Body, text, analyze).into_iter();
    let places: Vec<Range<usize>> = found.map(|(bytes, _)| bytes).collect();
    let words = (0..places.len()).filter(|number| !is_rest(text, &places, *number));
    let words: Vec<&str> = words.map(|number| &text[places[number].clone()]).collect();
    tree(words.into_iter(), Tree::or)
}

/// What is left of a word behind the apostrophe.
const ENDINGS: &[&str] = &["s", "t", "d", "ll", "m", "re", "ve"];

/// Tells the end of a contraction (`Anna's`, `don't`), and the letters of `e.g.` and `i.e.`: single
/// letters are rare in texts, so that they would be taken for what is asked about.
fn is_rest(text: &str, places: &[Range<usize>], number: usize) -> bool {
    let word = |number: usize| places.get(number).map(|bytes| &text[bytes.clone()]);
    let between = |left: usize| Some(&text[places.get(left)?.end..places.get(left + 1)?.start]);
    let is = |left: usize, abbreviation: &[(&str, &str)]| {
        let words = word(left).zip(word(left + 1));
        between(left) == Some(".") && words.is_some_and(|words| abbreviation.contains(&words))
    };
    let of_example = |left| is(left, &[("e", "g"), ("i", "e")]);
    let before = number.checked_sub(1);
    let apostrophe = before
        .and_then(between)
        .is_some_and(|of| matches!(of, "'" | "’"));
    apostrophe && word(number).is_some_and(|word| ENDINGS.contains(&word))
        || of_example(number)
        || before.is_some_and(of_example)
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
    let mut counts: Vec<(&str, usize)> = Vec::new();
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
    Ok(list(counts.into_iter().flat_map(parts).collect()))
}

/// Returns the word as often as it stands there. A weight would say that it is wanted more, which
/// the `of` of a sentence is not.
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
    fn ends_of_contractions_and_abbreviations_are_no_words() {
        assert_eq!(read("Anna's"), r#""Anna""#);
        assert_eq!(read("they'll see 'd"), r#"(or "they" "see" "d")"#);
        assert_eq!(read("cats (e.g. lions)"), r#"(or "cats" "lions")"#);
        assert_eq!(read("vitamin e, g"), r#"(or "vitamin" "e" "g")"#);
    }
}
