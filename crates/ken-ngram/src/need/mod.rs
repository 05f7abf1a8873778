//! Determines what a text must contain for a regular expression to match in it.
//!
//! For each part of an expression, the module knows either all strings that it matches, if they are
//! few, or the beginnings and ends of its matches and what the text needs in any case. This is the
//! method of Cox, "Regular expression matching with a trigram index" (2012), with whole strings
//! instead of trigrams, so that it does not depend on which n-grams are kept. `regex-syntax`
//! resolves case and classes: a case-insensitive letter is a class of all its forms.

mod facts;
#[cfg(test)]
mod tests;
mod wide;

use std::collections::BTreeSet;

use regex_syntax::hir::Hir;

use self::facts::Reader;
use self::wide::Wide;
use crate::ngram::has_ngrams;

/// Strings that a text may have to contain.
type Strings = BTreeSet<Vec<u8>>;

/// What a text must contain. A match may need more than this, but never less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any text may match.
    Anything,
    /// No text matches.
    Nothing,
    /// These consecutive bytes.
    Bytes(Vec<u8>),
    /// All of these.
    All(Vec<Self>),
    /// At least one of these.
    Any(Vec<Self>),
}

impl Need {
    /// Returns what a match of the expression needs.
    pub fn of(expression: &Hir) -> Self {
        Self::of_any(std::slice::from_ref(expression))
    }

    /// Returns what a match of one of the expressions needs.
    ///
    /// A class such as `\d` has too many characters to list, few of which are ASCII. A match either
    /// has ASCII in place of all such classes, or contains one of the other characters somewhere.
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
            // Otherwise all alternatives need one of the other characters.
            Self::Nothing => all,
            ascii => ascii.or(Self::one_of(&pairs).and(all)),
        }
    }

    /// Returns the number of strings in the need.
    pub(crate) fn n_strings(&self) -> usize {
        match self {
            Self::Anything | Self::Nothing => 0,
            Self::Bytes(_) => 1,
            Self::All(needs) | Self::Any(needs) => needs.iter().map(Self::n_strings).sum(),
        }
    }

    /// Returns the minimum number of strings to look up before any text is ruled out.
    pub(crate) fn least_strings(&self) -> usize {
        match self {
            Self::Anything | Self::Nothing => 0,
            Self::Bytes(_) => 1,
            Self::All(needs) => needs.iter().map(Self::least_strings).min().unwrap_or(0),
            Self::Any(needs) => needs.iter().map(Self::least_strings).sum(),
        }
    }

    /// Returns whether no ASCII text has what is needed.
    pub fn is_beyond_ascii(&self) -> bool {
        match self {
            Self::Anything => false,
            Self::Nothing => true,
            Self::Bytes(bytes) => !bytes.is_ascii(),
            Self::All(needs) => needs.iter().any(Self::is_beyond_ascii),
            Self::Any(needs) => needs.iter().all(Self::is_beyond_ascii),
        }
    }

    /// Returns the need for both.
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

    /// Returns the need for one of the two.
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
