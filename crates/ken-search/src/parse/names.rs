//! What the names in a query mean: saved queries, fields, and what a database of notmuch adds to queries in its language,
//! names of its own and facts that no message has.
//!
//! With such a database, a tag is what the database says: states of messages are tags only if they were given as such.

use std::collections::BTreeMap;
use std::fmt;

use ken_core::FieldNames;

use super::tree::Tree;

/// Saved queries by name: `query:name`.
pub type Saved = BTreeMap<String, String>;

/// What the names in a query mean.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Saved queries, `query:name`.
    pub saved: &'a Saved,
    /// The fields of the index that is searched.
    pub fields: &'a FieldNames,
    /// Whether `5/6/2024` is a day in May rather than in June.
    pub month_first: bool,
    /// The database of notmuch that a query in its language is for, if any.
    pub database: Option<&'a dyn Database>,
    /// How many expressions of the database the query is inside of; see [`Database::expression`].
    pub nested: usize,
}

impl Default for Names<'_> {
    /// Returns no saved queries, and only the built-in fields.
    fn default() -> Self {
        const NONE: &Saved = &Saved::new();
        Self {
            saved: NONE,
            fields: &FieldNames::TABLE,
            month_first: false,
            database: None,
            nested: 0,
        }
    }
}

/// What a part of a query asks the database for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// The messages of a thread, by its number in the database: `thread:0123456789abcdef`.
    Thread(&'a str),
    /// The messages that changed between two revisions: `lastmod:1..-2`.
    Revisions(&'a str),
    /// The messages with a property: `property:key=value`, or `property:/REGEX/` of such pairs.
    Property(&'a str),
}

/// A database of notmuch.
pub trait Database: fmt::Debug + Send + Sync {
    /// Returns the saved query of a name.
    fn query(&self, name: &str) -> Option<String>;

    /// Returns the identifiers of messages; none if the question has no meaning.
    fn ids(&self, of: Asked<'_>) -> Option<Vec<String>>;

    /// Returns the tree of a query in notmuch's second language, `sexp:"(and a b)"`. Expressions hold queries in the usual
    /// language, which hold expressions: names that lead to each other end at a depth of [`Names::nested`].
    ///
    /// # Errors
    /// Fails with a sentence about the mistake.
    fn expression(&self, text: &str, names: Names<'_>) -> Result<Tree, String>;
}
