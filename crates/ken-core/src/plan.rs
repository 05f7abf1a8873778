//! The plan of a query: what an engine is asked, in no engine's words.
//!
//! Search makes it from the syntax tree after analysis: every text here is a term as it stands
//! in the index. An engine (the embedded one, or a cluster) turns it into its own query.

use std::fmt;
use std::ops::Bound as StdBound;

use serde::{Deserialize, Serialize};

use crate::Field;

/// An end of a range.
pub type Bound<T> = StdBound<T>;

/// What an engine is asked. Prints as an s-expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Every document.
    All,
    /// No document.
    Nothing,
    /// Documents in which the field holds the term.
    Term {
        /// Where to look.
        field: Field,
        /// The term, analysed.
        term: String,
    },
    /// Documents in which the field holds a term that starts so.
    Prefix {
        /// Where to look.
        field: Field,
        /// The start of the terms, analysed.
        prefix: String,
    },
    /// Documents in which the field holds the terms at these relative positions.
    Phrase {
        /// Where to look.
        field: Field,
        /// The terms, analysed, with their positions from the first on.
        terms: Vec<(u32, String)>,
        /// Whether the last term stands for all terms that start so.
        prefix_last: bool,
    },
    /// Documents whose number in the field lies between the ends.
    Range {
        /// A date, size or number.
        field: Field,
        /// Lower end.
        from: Bound<i64>,
        /// Upper end.
        to: Bound<i64>,
    },
    /// Documents for which all parts hold.
    And(Vec<Self>),
    /// Documents for which one part or more holds.
    Or(Vec<Self>),
    /// Documents for which the part does not hold.
    Not(Box<Self>),
    /// The part, its score multiplied.
    Weight(f32, Box<Self>),
    /// The part, which selects and does not score.
    Filter(Box<Self>),
}

/// By what hits are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortKey {
    /// Best first.
    #[default]
    Relevance,
    /// Newest first.
    Date,
    /// Largest first.
    Size,
    /// By the bytes of the path, upwards.
    Path,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// By what.
    pub key: SortKey,
    /// The other way round than the key's own direction.
    pub reverse: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("(all)"),
            Self::Nothing => f.write_str("(nothing)"),
            Self::Term { field, term } => write!(f, "({} {term:?})", field.name()),
            Self::Prefix { field, prefix } => write!(f, "(prefix {} {prefix:?})", field.name()),
            Self::Phrase {
                field,
                terms,
                prefix_last,
            } => {
                f.write_str(if *prefix_last {
                    "(phrase-prefix "
                } else {
                    "(phrase "
                })?;
                f.write_str(field.name())?;
                for (position, term) in terms {
                    write!(f, " {position}:{term:?}")?;
                }
                f.write_str(")")
            }
            Self::Range { field, from, to } => {
                write!(f, "(range {} ", field.name())?;
                match from {
                    Bound::Included(n) => write!(f, "[{n} ")?,
                    Bound::Excluded(n) => write!(f, "]{n} ")?,
                    Bound::Unbounded => f.write_str("* ")?,
                }
                match to {
                    Bound::Included(n) => write!(f, "{n}])"),
                    Bound::Excluded(n) => write!(f, "{n}[)"),
                    Bound::Unbounded => f.write_str("*)"),
                }
            }
            Self::And(parts) => list(f, "and", parts),
            Self::Or(parts) => list(f, "or", parts),
            Self::Not(part) => write!(f, "(not {part})"),
            Self::Weight(weight, part) => write!(f, "(weight {weight} {part})"),
            Self::Filter(part) => write!(f, "(filter {part})"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, parts: &[Plan]) -> fmt::Result {
    write!(f, "({name}")?;
    for part in parts {
        write!(f, " {part}")?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_print_as_s_expressions() {
        let plan = Plan::And(vec![
            Plan::Weight(
                3.0,
                Box::new(Plan::Term {
                    field: Field::Title,
                    term: "budget".into(),
                }),
            ),
            Plan::Not(Box::new(Plan::Range {
                field: Field::Size,
                from: Bound::Excluded(5),
                to: Bound::Unbounded,
            })),
        ]);
        assert_eq!(
            plan.to_string(),
            r#"(and (weight 3 (title "budget")) (not (range size ]5 *)))"#
        );
    }
}
