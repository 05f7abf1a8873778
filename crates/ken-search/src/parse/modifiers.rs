//! Modifiers after a closing quote, which change how words are compared. The letters and rules are Recoll's
//! (`wasaparserdriver.cpp`): any order, no spaces, and a number is a weight.
//!
//! `"annual rep"*`, `"a b"~3`, `"a b"po5`, `"Word"C`, `"word"l2.5`.

use std::ops::Range;

use super::error::QueryError;
use super::tree::{Modifiers, Nearness, Phrase, Piece};

/// The distance of words that are near each other; the default of Xapian and Recoll.
pub(super) const DEFAULT_DISTANCE: u32 = 10;

/// A phrase with what follows its closing quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    pub(super) phrase: Phrase,
    pub(super) modifiers: Modifiers,
    /// The range of a weight.
    pub(super) weight: Option<Range<usize>>,
    /// Where the phrase and its modifiers end.
    pub(super) end: usize,
}

/// Reads what follows the quote that ends before `at`.
///
/// # Errors
/// Fails if letters or signs that mean nothing there follow the quote immediately.
pub(super) fn quoted(pieces: Vec<Piece>, query: &str, at: usize) -> Result<Quoted, QueryError> {
    let prefix_last = query[at..].starts_with('*');
    let at = at + usize::from(prefix_last);
    let plain = Quoted {
        phrase: Phrase {
            pieces,
            prefix_last,
            near: None,
        },
        modifiers: Modifiers::default(),
        weight: None,
        end: at,
    };
    let stuck = stuck(&plain, query);
    match all(&plain, query, stuck.end) {
        Some(read) => Ok(read),
        None if is_meant(&query[stuck.clone()]) => Err(QueryError {
            query: query.to_owned(),
            message: format!("{:?} does not modify a phrase", &query[stuck.clone()]),
            hint: Some(
                "~2, o, p, C, D, l, e, s, x or a weight do; put a space before a word".into(),
            ),
            at: stuck,
        }),
        None => Ok(plain),
    }
}

/// Returns the range of the text that immediately follows a phrase.
fn stuck(plain: &Quoted, query: &str) -> Range<usize> {
    let rest = &query[plain.end..];
    let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '^' | '"' | '(');
    plain.end..plain.end + rest.find(ends).unwrap_or(rest.len())
}

/// Returns whether text after a quote is meant as modifiers, even if wrong, and is neither punctuation nor a word of a
/// script without spaces.
fn is_meant(stuck: &str) -> bool {
    stuck.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '~')
}

fn all(plain: &Quoted, query: &str, end: usize) -> Option<Quoted> {
    let mut read = plain.clone();
    let mut slop = None;
    let mut unordered = false;
    while let Some(letter) = query[read.end..end].chars().next() {
        let after = read.end + letter.len_utf8();
        read.end = after;
        match letter {
            '~' | 'o' => {
                let digits = query[after..end].bytes().take_while(u8::is_ascii_digit);
                read.end = after + digits.count();
                slop = Some(match &query[after..read.end] {
                    "" if letter == 'o' => DEFAULT_DISTANCE,
                    digits => digits.parse().ok()?,
                });
            }
            'p' => unordered = true,
            'C' => read.modifiers.case = true,
            'D' => read.modifiers.diacritics = true,
            'l' => read.modifiers.unstemmed = true,
            'e' => read.modifiers = read.modifiers.exact(),
            's' => read.modifiers.no_synonyms = true,
            'x' => read.modifiers.expand = true,
            '0'..='9' if read.weight.is_none() => {
                let rest = query[after..end].bytes();
                let digits = rest.take_while(|byte| byte.is_ascii_digit() || *byte == b'.');
                read.end = after + digits.count();
                read.weight = Some(after - 1..read.end);
            }
            _ => return None,
        }
    }
    if slop.is_some() || unordered {
        read.phrase.near = Some(Nearness {
            slop: slop.unwrap_or(DEFAULT_DISTANCE),
            ordered: !unordered,
        });
    }
    Some(read)
}

impl Modifiers {
    /// Returns these modifiers, with every setting that compares words as written.
    fn exact(self) -> Self {
        Self {
            case: true,
            diacritics: true,
            unstemmed: true,
            ..self
        }
    }

    /// Returns the letters for these modifiers.
    pub(super) fn letters(self) -> String {
        let letters = self.named().into_iter().filter(|(_, _, set)| *set);
        letters.map(|(letter, ..)| letter).collect()
    }

    /// Returns the letter, name and state of each modifier.
    pub(super) fn named(self) -> [(char, &'static str, bool); 5] {
        [
            ('C', "case", self.case),
            ('D', "diacritics", self.diacritics),
            ('l', "unstemmed", self.unstemmed),
            ('s', "no-synonyms", self.no_synonyms),
            ('x', "expand", self.expand),
        ]
    }
}
