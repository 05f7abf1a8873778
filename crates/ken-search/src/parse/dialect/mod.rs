//! The query languages of Recoll, mu and notmuch, each parsed strictly into the same tree as ken's own.
//!
//! Only syntax and precedence are theirs; the meaning of words in the index is ken's. An operator that ken does not
//! support is refused by name and not searched for as a word. `docs/dialects.md` lists every operator with its form in
//! ken's own language, and a test compares the two trees.
//!
//! Sources: Recoll's manual 1.34 ("The query language"), `mu-query(7)` of mu 1.8, `notmuch-search-terms(7)` of notmuch
//! 0.37, and the answers of these programs.

mod logic;
mod mail;
mod mu;
mod notmuch;
mod recoll;
mod words;

use std::ops::Range;

use super::error::QueryError;
use super::names::Names;
use super::parser::{self, MAX_BYTES};
use super::tree::Tree;
pub use recoll::recoll_words;
use serde::{Deserialize, Serialize};
pub use words::without_forms;

/// A query language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)] // the names say it
pub enum Syntax {
    #[default]
    Ken,
    Recoll,
    Mu,
    Notmuch,
}

impl Syntax {
    /// Parses a query in this language that uses only the built-in fields.
    ///
    /// # Errors
    /// Fails as [`super::parse`] does, and for operators without an equivalent in ken.
    pub fn parse(self, query: &str) -> Result<Tree, QueryError> {
        self.parse_with(query, Names::default())
    }

    /// Parses a query in this language that may use custom fields and, in ken's own language, saved queries.
    ///
    /// # Errors
    /// Fails as [`Syntax::parse`] does.
    pub fn parse_with(self, query: &str, names: Names<'_>) -> Result<Tree, QueryError> {
        if query.len() > MAX_BYTES {
            return Err(parser::too_long());
        }
        match self {
            Self::Ken => parser::parse_with(query, names),
            Self::Recoll => recoll::parse(query),
            Self::Mu => mu::parse(query),
            Self::Notmuch => notmuch::parse(query, names),
        }
    }
}

/// Returns the error for a mistake in part of the query.
fn fault(query: &str, at: Range<usize>, message: impl Into<String>, hint: &str) -> QueryError {
    parser::failure(query, at, message.into(), Some(hint.to_owned()))
}

/// Returns where the next thing at or after `at` begins.
fn skip_spaces(query: &str, at: usize) -> usize {
    let rest = &query[at..];
    at + rest.len() - rest.trim_start().len()
}

/// Returns where the run of characters from `at` ends; it holds neither spaces nor any of `stops`.
fn end_of_run(query: &str, at: usize, stops: &[char]) -> usize {
    let rest = &query[at..];
    let end = rest.find(|c: char| c.is_whitespace() || stops.contains(&c));
    at + end.unwrap_or(rest.len())
}
