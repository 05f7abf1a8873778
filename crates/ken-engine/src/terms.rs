//! The dictionary: which terms a commit has, and how often.

use std::ops::ControlFlow;
use std::sync::Arc;

use ken_core::{Field, Pattern};

use crate::{Error, Limits};

/// Which terms are listed.
#[derive(Clone, Copy, Debug)]
pub struct TermList<'a> {
    /// The fields whose terms are listed.
    pub fields: &'a [Field],
    /// The pattern that the terms must match.
    pub pattern: &'a Pattern,
    /// Whether each field is counted on its own. If not, a document counts once, in whichever fields it has the term.
    pub by_field: bool,
    /// The limits at which the listing ends early; absent for none.
    pub limits: Option<&'a Arc<Limits>>,
}

/// A term and its frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCount<'a> {
    /// The field, if each is counted on its own.
    pub field: Option<Field>,
    /// The term.
    pub term: &'a str,
    /// The number of documents that have it.
    pub documents: u64,
    /// The number of its occurrences in all of them.
    pub occurrences: u64,
}

/// A term that is similar to a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Similar {
    /// The term.
    pub term: String,
    /// The number of letters that differ.
    pub distance: u8,
    /// The number of documents that have it, in the field with the most.
    pub documents: u64,
}

/// The dictionary of a commit.
pub trait Terms {
    /// Returns the `limit` most frequent terms of a field that a pattern means, each with its number of documents, and
    /// how many terms there are.
    ///
    /// Documents that were deleted and not yet merged away are counted. Once limits are reached, the other terms are left
    /// out.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read, or an expression is wrong.
    fn frequent(
        &self,
        field: Field,
        pattern: &Pattern,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<(Vec<(String, u64)>, usize), Error>;

    /// Gives terms with their counts to `each`, in the order of the terms' bytes, until `each` breaks off. Documents
    /// that were deleted are not counted.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read, or an expression is wrong.
    fn list(
        &self,
        list: &TermList<'_>,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// Returns the `limit` terms of these fields that are most similar to a word, the best first, without the word itself.
    /// Once limits are reached, the other terms are left out.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read.
    fn similar(
        &self,
        fields: &[Field],
        word: &str,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Similar>, Error>;

    /// Returns how many documents have a term in a field. Documents that were deleted and not yet merged away are
    /// counted.
    ///
    /// # Errors
    /// Fails if a dictionary cannot be read.
    fn n_documents_with(&self, field: Field, term: &str) -> Result<u64, Error>;
}
