//! The syntax tree: a checked query that depends on neither clock nor current folder nor index.

use ken_core::{Bound, Field, Glob, Whole};

use super::When;

/// A query. It prints as an s-expression; [`Tree::to_query`] returns query text.
///
/// [`Tree::and`], [`Tree::or`] and [`Tree::not`] make trees. They keep one form for each meaning: no list inside a
/// list of the same operator, no list of one part, no double negation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Every document.
    All,
    /// Documents that match the clause.
    Clause(Clause),
    /// Documents that match all of two or more parts.
    And(Vec<Self>),
    /// Documents that match at least one of two or more parts.
    Or(Vec<Self>),
    /// Documents that match one of the two and not the other.
    Xor(Box<Self>, Box<Self>),
    /// Documents that do not match the part.
    Not(Box<Self>),
    /// Documents in which one field has all parts close together. There are two parts or more, each a text clause or
    /// alternatives of text clauses.
    Near(Vec<Self>, Nearness),
    /// Documents that match the part, with the score multiplied.
    Boost(Box<Self>, Boost),
    /// All messages of the threads in which a message matches the part.
    Thread(Box<Self>),
    /// Messages with a part that matches.
    Part(Box<Self>),
}

/// How close together words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearness {
    /// The most other words between them, in sum.
    pub slop: u32,
    /// Whether the words come in the order of the query.
    pub ordered: bool,
}

/// A factor of a score, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boost(pub u32);

/// A value and the field that must have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The field; `None` for a word without a field.
    pub field: Option<Field>,
    /// What the field must have.
    pub value: Value,
    /// How words are compared. A word that begins with a capital in the query is `unstemmed` and has no other
    /// modifier; phrases of text may have all.
    pub modifiers: Modifiers,
}

/// Departures from the usual way to compare words: `"Word"C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is one letter of the language
pub struct Modifiers {
    /// Capitals and small letters differ.
    pub case: bool,
    /// Letters with and without diacritics differ.
    pub diacritics: bool,
    /// Only the written form matches, no other form of the same stem.
    pub unstemmed: bool,
    /// Synonyms do not match.
    pub no_synonyms: bool,
    /// Other forms and synonyms match inside a phrase too.
    pub expand: bool,
    /// The match is at the beginning of the field's value.
    pub at_start: bool,
    /// The match is at the end of the field's value.
    pub at_end: bool,
}

impl Clause {
    /// Returns the clause without modifiers.
    pub fn new(field: Option<Field>, value: Value) -> Self {
        let modifiers = Modifiers::default();
        Self {
            field,
            value,
            modifiers,
        }
    }
}

/// What a clause searches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word of a text field, or the whole value of a keyword or path field.
    Word(String),
    /// One of these values, as the index has them; not in text fields.
    Among(Vec<String>),
    /// Words or values with this start.
    Prefix(String),
    /// Words or values that match the pattern, which is neither a word nor a prefix.
    Glob(Glob),
    /// Words in which a regular expression matches.
    Regex(String),
    /// Whole values in which a regular expression matches; only in text fields with a column.
    Whole(Whole),
    /// Words that differ by at most this number of letters.
    Fuzzy(String, u8),
    /// Words one after the other; only in text fields.
    Phrase(Phrase),
    /// Sizes in bytes, or numbers.
    Numbers(Bound<i64>, Bound<i64>),
    /// Words or values between two others in the order of their characters; an end includes all that start with it.
    /// Ends are [`Bound::Included`] or [`Bound::Unbounded`].
    Terms(Bound<String>, Bound<String>),
    /// Dates; an end means its whole day, month or year.
    Dates(Bound<When>, Bound<When>),
}

/// Words in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The quoted pieces, at least one.
    pub pieces: Vec<Piece>,
    /// Whether the last word matches all words that start with it.
    pub prefix_last: bool,
    /// How close together the words are; `None` if each follows the other.
    pub near: Option<Nearness>,
}

/// A piece of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words as written.
    Text(String),
    /// A word that the pattern matches.
    Glob(Glob),
    /// Any one word.
    Gap,
}

impl Phrase {
    /// Returns the phrase of a text as written.
    pub fn new(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.to_owned())],
            prefix_last: false,
            near: None,
        }
    }

    /// Returns whether the phrase holds only spaces.
    pub(super) fn is_blank(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Text(text) if text.trim().is_empty()))
    }

    /// Returns the text if the phrase has nothing else.
    pub fn literal(&self) -> Option<&str> {
        match (self.pieces.as_slice(), self.prefix_last, self.near) {
            ([Piece::Text(text)], false, None) => Some(text),
            _ => None,
        }
    }
}

impl Tree {
    /// Returns the tree that asks for all parts.
    pub fn and(parts: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Self::And(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        single_or(flat, Self::And)
    }

    /// Returns the tree that asks for one part or more.
    pub fn or(parts: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Self::Or(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        single_or(flat, Self::Or)
    }

    /// Returns the tree that asks for the opposite.
    #[allow(clippy::should_implement_trait)] // `!tree` would hide what the others spell out
    pub fn not(part: Self) -> Self {
        match part {
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }
}

fn single_or(mut parts: Vec<Tree>, list: fn(Vec<Tree>) -> Tree) -> Tree {
    match parts.len() {
        1 => parts.remove(0),
        _ => list(parts),
    }
}
