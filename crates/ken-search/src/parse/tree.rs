//! The syntax tree: what was asked, checked, and independent of clock, place and index.

use ken_core::{Bound, Field};

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
    And(Vec<Tree>),
    /// Documents that match one part or more; two parts or more.
    Or(Vec<Tree>),
    /// Documents that do not match the part.
    Not(Box<Tree>),
}

/// A value and where to look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Where to look; `None` for a word that stands alone.
    pub field: Option<Field>,
    /// What to look for.
    pub value: Value,
}

/// What a clause looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word of a text field, or the whole value of a keyword or path field.
    Word(String),
    /// What starts so.
    Prefix(String),
    /// Words one after the other; only in text fields.
    Phrase {
        /// The words.
        text: String,
        /// Whether the last word stands for all words that start so.
        prefix_last: bool,
    },
    /// Sizes in bytes, or numbers.
    Numbers(Bound<i64>, Bound<i64>),
    /// Dates; an end stands for its whole day, month or year.
    Dates(Bound<When>, Bound<When>),
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
