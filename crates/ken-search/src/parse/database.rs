//! What a database of notmuch adds to queries in its language: names of its own, and facts that no message has.
//!
//! With a database, a tag is what the database says: states of messages are tags only if they were given as such.

use std::fmt;

/// What a part of a query asks the database for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked<'a> {
    /// The messages of a thread, by its number in the database: `thread:0123456789abcdef`.
    Thread(&'a str),
    /// The messages that changed between two revisions: `lastmod:1..-2`.
    Revisions(&'a str),
    /// The messages with a property: `property:key=value`.
    Property(&'a str),
}

/// A database of notmuch.
pub trait Database: fmt::Debug + Send + Sync {
    /// Returns the saved query of a name.
    fn query(&self, name: &str) -> Option<String>;

    /// Returns the identifiers of messages; none if the question has no meaning.
    fn ids(&self, of: Asked<'_>) -> Option<Vec<String>>;
}
