//! Questions that lists of postings answer without a score: the documents of a file, and tallies by keywords.

pub(crate) mod files;
pub(crate) mod keywords;
