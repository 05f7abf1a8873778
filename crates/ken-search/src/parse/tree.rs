//! The syntax tree: what was asked, checked, and independent of clock, place and index.

use ken_core::{Bound, Field, Glob};

use super::When;

/// A query. Prints as an s-expression; [`Tree::to_query`] gives query text again.
///
/// Trees are made by [`Tree::and`], [`Tree::or`] and [`Tree::not`], which keep one form for one
/// meaning: no list within a list of its sort, no list of one, no double negation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Every document.
    All,
    /// Documents that match the clause.
    Clause(Clause),
    /// Documents that match all parts; two parts or more.
    And(Vec<Self>),
    /// Documents that match one part or more; two parts or more.
    Or(Vec<Self>),
    /// Documents that match one of the two and not the other.
    Xor(Box<Self>, Box<Self>),
    /// Documents that do not match the part.
    Not(Box<Self>),
    /// Documents in which one field has all parts close together; clauses of text or
    /// alternatives of such, two parts or more.
    Near(Vec<Self>, Nearness),
    /// Documents that match the part, whose score counts so much.
    Boost(Box<Self>, Boost),
    /// Messages in one thread with those that match the part.
    Thread(Box<Self>),
    /// Messages that carry what matches the part.
    Part(Box<Self>),
}

/// How close together words stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearness {
    /// How many other words may stand between them, in sum.
    pub slop: u32,
    /// Whether they come in the order that is written.
    pub ordered: bool,
}

/// A factor of a score, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boost(pub u32);

/// A value and where to look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Where to look; `None` for a word that stands alone.
    pub field: Option<Field>,
    /// What to look for.
    pub value: Value,
    /// How words are compared. In a query a word that begins with a capital is `unstemmed`, and
    /// has no other; phrases of text may have all.
    pub modifiers: Modifiers,
}

/// How words are compared, where it is not the usual way: `"Word"C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is one letter of the language
pub struct Modifiers {
    /// Capitals and small letters differ.
    pub case: bool,
    /// Letters with and without diacritics differ.
    pub diacritics: bool,
    /// Only the form that is written, no other of the same stem.
    pub unstemmed: bool,
    /// No synonyms.
    pub no_synonyms: bool,
    /// Other forms and synonyms also inside of a phrase.
    pub expand: bool,
    /// Only at the beginning of the field's value.
    pub at_start: bool,
    /// Only at its end.
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

/// What a clause looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word of a text field, or the whole value of a keyword or path field.
    Word(String),
    /// What starts so.
    Prefix(String),
    /// What the pattern matches; neither a word nor a prefix.
    Glob(Glob),
    /// Words that hold a match of a regular expression.
    Regex(String),
    /// Words that differ by so many letters at most.
    Fuzzy(String, u8),
    /// Words one after the other; only in text fields.
    Phrase(Phrase),
    /// Sizes in bytes, or numbers.
    Numbers(Bound<i64>, Bound<i64>),
    /// Words or values between two others by their characters; an end stands for all that start
    /// so. Ends are [`Bound::Included`] or [`Bound::Unbounded`].
    Terms(Bound<String>, Bound<String>),
    /// Dates; an end stands for its whole day, month or year.
    Dates(Bound<When>, Bound<When>),
}

/// Words in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// What stands between the quotes; one piece or more.
    pub pieces: Vec<Piece>,
    /// Whether the last word stands for all words that start so.
    pub prefix_last: bool,
    /// How close together the words stand; one after the other if it is not said.
    pub near: Option<Nearness>,
}

/// A piece of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words as they stand.
    Text(String),
    /// A word that the pattern matches.
    Glob(Glob),
    /// Any one word.
    Gap,
}

impl Phrase {
    /// Returns the phrase of a text as it stands.
    pub fn new(text: &str) -> Self {
        Self {
            pieces: vec![Piece::Text(text.to_owned())],
            prefix_last: false,
            near: None,
        }
    }

    /// Returns whether there is nothing but blanks.
    pub(super) fn is_blank(&self) -> bool {
        self.pieces
            .iter()
            .all(|piece| matches!(piece, Piece::Text(text) if text.trim().is_empty()))
    }

    /// Returns the text if there is nothing else to the phrase.
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
