//! Adds other ways to write a word: `10kg` and `10 kg`, `RFC2822` and `RFC 2822`, `1000000` and `1,000,000`, `1.2.3`
//! and `v1.2.3`, `co-operation` and `cooperation`, the start of a hash. Each becomes a form of the word.
//!
//! Analysis makes a phrase of a number with signs in it, so it does not matter which signs they are. Variants cost the
//! index nothing, and only those queries that hold such a word. Documents with the spelling of the query rank first.

mod compounds;
mod numbers;

use ken_core::{FieldKind, Form, Pattern, Plan, Span, Word};

use super::{Context, clause};
use crate::parse::{Clause, Phrase, Piece, Tree, Value};
use numbers::{are_groups, is_name, is_number};

/// The most letters of a first part that may be written apart: `wi fi`. Analysis joins as many before a hyphen.
const PREFIX_LETTERS: usize = 3;
/// The least letters of both parts.
const JOINED_LETTERS: usize = 4;

/// Frequent words that are no part of the next one.
const WORDS: &str = " a all an and any are as at be but by can did do for get had has he her him his how i if in into is it its \
    may me my new no nor not now of off old one or our out own see she so the to too two up us use was way we who why \
    with you your der die das und ein im zu am es er le la les de des du un une et el los las en il lo di da ";

/// Returns the plan of a clause, extended by the other ways to write its words.
pub(super) fn with_variants(plan: Plan, of: &Clause, context: &Context) -> Plan {
    let Plan::Word(mut word) = plan else {
        return plan;
    };
    let Some(text) = text(of) else {
        return Plan::Word(word);
    };
    let compounds = compounds::spellings(text).into_iter();
    for other in compounds.chain(numbers::spellings(text)) {
        let value = match of.value {
            Value::Word(_) if !other.contains([' ', '_']) => Value::Word(other),
            _ => phrase(other),
        };
        add(&mut word, value, of, context);
    }
    if let (Value::Word(_), Some(inner)) = (&of.value, compounds::within(text)) {
        add(&mut word, Value::Word(inner.to_owned()), of, context);
    }
    if is_short_hash(text) {
        let span = Span::Match(Pattern::Prefix(text.to_ascii_lowercase()));
        word.forms.push(Form::literal(span));
    }
    Plan::Word(word)
}

fn phrase(text: String) -> Value {
    Value::Phrase(Phrase {
        pieces: vec![Piece::Text(text)],
        prefix_last: false,
        near: None,
    })
}

/// Adds another way to write a word.
fn add(word: &mut Word, value: Value, of: &Clause, context: &Context) {
    let of = Clause {
        value,
        ..of.clone()
    };
    let Some(Plan::Word(other)) = clause(&of, context) else {
        return;
    };
    for form in other.forms {
        if !word
            .forms
            .iter()
            .any(|known| is_same(&known.span, &form.span))
        {
            word.forms.push(Form {
                derived: true,
                ..form
            });
        }
    }
}

/// Returns whether two spans find the same, except for other forms of a word.
fn is_same(one: &Span, other: &Span) -> bool {
    match (one, other) {
        (
            Span::Match(Pattern::Term(one) | Pattern::Stem(one)),
            Span::Match(Pattern::Term(other)),
        ) => one == other,
        _ => one == other,
    }
}

/// Returns the plan of one of several words that must all match, where the word may be joined with a neighbour: `RFC
/// 2822` finds `RFC2822`, `wi fi` finds `wifi`, and `1 000 000` finds `1000000`. (The index has the parts of `10kg`.)
pub(super) fn with_neighbours(plan: Plan, parts: &[Tree], at: usize, context: &Context) -> Plan {
    let Plan::Word(mut word) = plan else {
        return plan;
    };
    let Some((field, _)) = parts.get(at).and_then(plain) else {
        return Plan::Word(word);
    };
    let neighbour = |number: usize| {
        let of = parts.get(number).and_then(plain);
        of.filter(|of| of.0 == field).map(|(_, text)| text)
    };
    let starts = [at.checked_sub(1), Some(at)];
    let pairs = starts.into_iter().flatten().filter_map(|start| {
        let (first, second) = (neighbour(start)?, neighbour(start + 1)?);
        may_be_one(first, second).then(|| [first, second].concat())
    });
    let number = number_of_groups(&neighbour, at);
    let grouped = number.iter().flat_map(|number| numbers::spellings(number));
    for joined in pairs.chain(grouped).chain(number.clone()) {
        let of = Clause::new(field, Value::Word(String::new()));
        add(&mut word, phrase(joined), &of, context);
    }
    Plan::Word(word)
}

/// Returns whether two words may be one: a name and its number, or a short first part and its word.
fn may_be_one(first: &str, second: &str) -> bool {
    let is_version = |word: &str| word.split(['.', '-']).all(is_number);
    is_name(first) && is_version(second) || is_prefix(first, second)
}

fn is_prefix(first: &str, second: &str) -> bool {
    let n_letters = |word: &str| word.chars().count();
    let is_frequent = |word: &str| WORDS.contains(&format!(" {} ", word.to_lowercase()));
    let all_letters = |word: &str| word.chars().all(char::is_alphabetic);
    n_letters(first) <= PREFIX_LETTERS
        && n_letters(second) > 1
        && n_letters(first) + n_letters(second) >= JOINED_LETTERS
        && all_letters(first)
        && all_letters(second)
        && !is_frequent(first)
        && !is_frequent(second)
}

/// Returns the number of which a word is a group, written as one word.
fn number_of_groups<'a>(word: &dyn Fn(usize) -> Option<&'a str>, at: usize) -> Option<String> {
    let is_group =
        |number: &usize| word(*number).is_some_and(|text| text.len() == 3 && is_number(text));
    let end = (at + 1..).take_while(is_group).last().unwrap_or(at);
    let mut start = at;
    while is_group(&start) && start > 0 && word(start - 1).is_some_and(is_number) {
        start -= 1;
    }
    let groups: Vec<&str> = (start..=end).filter_map(word).collect();
    let (first, others) = groups.split_first()?;
    let is_one = !others.is_empty() && are_groups(first, others);
    is_one.then(|| groups.concat())
}

/// Returns the field and text of a single word.
fn plain(tree: &Tree) -> Option<(Option<ken_core::Field>, &str)> {
    match tree {
        Tree::Clause(of) if matches!(of.value, Value::Word(_)) => Some((of.field, text(of)?)),
        _ => None,
    }
}

/// Returns the text of a clause that has other spellings.
fn text(of: &Clause) -> Option<&str> {
    let is_text = |field: ken_core::Field| field.info().kind == FieldKind::Text;
    if of.modifiers.case || of.modifiers.diacritics || !of.field.is_none_or(is_text) {
        return None;
    }
    match &of.value {
        Value::Word(text) => Some(text),
        Value::Phrase(phrase) if phrase.near.is_none() && !phrase.prefix_last => phrase.literal(),
        _ => None,
    }
}

/// Returns whether a word is the start of a hash. People name commits by seven or more of its forty digits.
fn is_short_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    (7..40).contains(&word.len()) && is_hex && n_digits > 0 && n_digits < word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_may_be_one_word() {
        for (first, second, expected) in [
            ("RFC", "2822", true),
            ("python", "3.11", true),
            ("ISO", "8859-1", true),
            ("wi", "fi", true),
            ("e", "mail", true),
            ("Sci", "Fi", true),
            ("in", "to", false),
            ("the", "me", false),
            ("of", "ten", false),
            ("data", "base", false),
            ("a", "1", false),
        ] {
            assert_eq!(may_be_one(first, second), expected, "{first} {second}");
        }
    }

    #[test]
    fn groups_are_one_number() {
        let words = ["about", "1", "000", "000", "of", "12", "2000", "345"];
        let word = |at: usize| words.get(at).copied();
        let found = (0..words.len()).map(|at| number_of_groups(&word, at).unwrap_or_default());
        let found: Vec<String> = found.collect();
        assert_eq!(found.join(","), ",1000000,1000000,1000000,,,,");
    }
}
