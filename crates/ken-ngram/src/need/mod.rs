//! What a text must hold for a regular expression to match in it.
//!
//! Of each part of an expression is known: all the strings it matches, if they are few; else what
//! its matches begin and end with, and what is needed of the text in any case. This is the method of
//! Cox, "Regular expression matching with a trigram index" (2012), on whole strings instead of
//! trigrams, so that it does not depend on which n-grams are kept. Case and classes are what
//! `regex-syntax` makes of them: a letter that ignores case is a class of all its forms.

mod facts;
#[cfg(test)]
mod tests;
mod wide;

use std::collections::BTreeSet;

use regex_syntax::hir::Hir;

use self::facts::Reader;
use self::wide::Wide;
use crate::ngram::has_ngrams;

/// Strings that a text may have to hold.
type Strings = BTreeSet<Vec<u8>>;

/// What a text must hold; more than it says may be needed, never less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any text may match.
    Anything,
    /// No text matches.
    Nothing,
    /// These bytes in a row.
    Bytes(Vec<u8>),
    /// All of these.
    All(Vec<Self>),
    /// One of these, at least.
    Any(Vec<Self>),
}

impl Need {
    /// Returns what a match of the expression needs.
    pub fn of(expression: &Hir) -> Self {
        Self::of_any(std::slice::from_ref(expression))
    }

    /// Returns what a match of one of the expressions needs.
    ///
    /// A class such as `\d` has too many characters to be all known, few of them ASCII. A match either has ASCII in the
    /// place of all such classes, or holds one of the others somewhere.
    pub fn of_any(expressions: &[Hir]) -> Self {
        let of = |wide| {
            let mut reader = Reader::new(wide);
            let needs = expressions.iter().map(|expression| reader.need(expression));
            needs.fold(Self::Nothing, Self::or)
        };
        let all = of(Wide::All);
        let pairs = wide::pairs(expressions);
        if pairs.is_empty() {
            return all;
        }
        match of(Wide::Ascii) {
            // Then what all need says that there is one of the others.
            Self::Nothing => all,
            ascii => ascii.or(Self::one_of(&pairs).and(all)),
        }
    }

    /// Returns how many strings there are in it.
    pub(crate) fn n_strings(&self) -> usize {
        match self {
            Self::Anything | Self::Nothing => 0,
            Self::Bytes(_) => 1,
            Self::All(needs) | Self::Any(needs) => needs.iter().map(Self::n_strings).sum(),
        }
    }

    /// Returns how many of them must be looked for at least, that any text is ruled out.
    pub(crate) fn least_strings(&self) -> usize {
        match self {
            Self::Anything | Self::Nothing => 0,
            Self::Bytes(_) => 1,
            Self::All(needs) => needs.iter().map(Self::least_strings).min().unwrap_or(0),
            Self::Any(needs) => needs.iter().map(Self::least_strings).sum(),
        }
    }

    /// Returns whether a text of ASCII lacks it.
    pub fn is_beyond_ascii(&self) -> bool {
        match self {
            Self::Anything => false,
            Self::Nothing => true,
            Self::Bytes(bytes) => !bytes.is_ascii(),
            Self::All(needs) => needs.iter().any(Self::is_beyond_ascii),
            Self::Any(needs) => needs.iter().all(Self::is_beyond_ascii),
        }
    }

    /// Needs both.
    #[must_use]
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, need) | (need, Self::Anything) => need,
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::All(mut all), need) | (need, Self::All(mut all)) => {
                all.push(need);
                Self::All(all)
            }
            (one, other) if one == other => one,
            (one, other) => Self::All(vec![one, other]),
        }
    }

    /// Needs one of the two.
    #[must_use]
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, _) | (_, Self::Anything) => Self::Anything,
            (Self::Nothing, need) | (need, Self::Nothing) => need,
            (Self::Any(mut any), Self::Any(more)) => {
                any.extend(more);
                Self::Any(any)
            }
            (Self::Any(mut any), need) | (need, Self::Any(mut any)) => {
                any.push(need);
                Self::Any(any)
            }
            (one, other) if one == other => one,
            (one, other) => Self::Any(vec![one, other]),
        }
    }

    /// Returns the need of one of these strings.
    fn one_of(strings: &Strings) -> Self {
        if strings.iter().any(|string| !has_ngrams(string)) {
            return Self::Anything;
        }
        let needs = strings.iter().map(|string| Self::Bytes(string.clone()));
        needs.fold(Self::Nothing, Self::or)
    }
}
