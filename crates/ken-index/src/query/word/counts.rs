//! Counts of a larger collection, of which the snapshot holds only some documents.
//!
//! A search over several machines ranks the best documents of all of them together. Their words are as significant as in
//! the whole collection, so the counts come from there and the frequencies from the documents.

use ken_core::{Field, Pattern, Word};

/// What a larger collection knows of its words.
pub trait Counts: Send + Sync {
    /// Returns how many documents there are.
    fn n_documents(&self) -> u64;

    /// Returns how many terms a field of text has in all documents, and how many documents have the field.
    fn lengths(&self, field: Field) -> (u64, u64);

    /// Returns how many documents have a term that a pattern means, in a field; 0 if that is not known.
    fn documents_with(&self, field: Field, pattern: &Pattern) -> u64;

    /// Returns how many documents are below a folder with this term in its name.
    fn documents_below(&self, term: &str) -> u64;
}

/// Returns how many documents have the forms of a word in a field, as [`super::terms::WordTerms`] estimates it;
/// `takes` says which forms count.
pub(super) fn of_forms(
    counts: &dyn Counts,
    word: &Word,
    field: Field,
    takes: &dyn Fn(usize) -> bool,
) -> f32 {
    use ken_core::Span::Match;
    let mut none = 1.0;
    let all = counts.n_documents().max(1) as f64;
    for (number, form) in word.forms.iter().enumerate() {
        let n = match (&form.span, field) {
            _ if !takes(number) => 0,
            (Match(Pattern::Written(_)), _) => 0,
            (Match(Pattern::Term(term) | Pattern::Stem(term)), Field::Dir) => {
                counts.documents_below(term)
            }
            (_, Field::Dir) => 0,
            (Match(pattern), field) => counts.documents_with(field, pattern),
            _ => 0,
        };
        none *= 1.0 - (n as f64 / all).min(1.0);
    }
    (all * (1.0 - none)) as f32
}
