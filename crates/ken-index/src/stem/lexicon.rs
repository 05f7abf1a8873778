//! What is asked of an index on other machines about its terms.

use std::collections::BTreeMap;

use ken_core::Field;

/// What an index on other machines knows of its terms. Whoever implements it remembers its errors: after one, the answers
/// are empty.
pub trait Lexicon {
    /// Returns the languages of documents that have a term in their body, each with a number of documents.
    fn languages_with(&self, term: &str) -> BTreeMap<String, u32>;

    /// Returns the number of documents of each language, and of all documents.
    fn languages(&self) -> (BTreeMap<String, u64>, u64);

    /// Calls `each` with the terms of these fields, and of the names of folders if `folders`, that start with a prefix.
    fn each_term(&self, fields: &[Field], folders: bool, prefix: &str, each: &mut dyn FnMut(&str));
}
