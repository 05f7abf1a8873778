//! Queries that postings answer without a score: the documents of a file, and tallies by keyword.

pub(crate) mod files;
pub(crate) mod keywords;
