//! How words must be written, beside having their terms: `"Word"C`.

use ken_core::{Glob, GlobPart, Pattern, Written, lower_range};
use memchr::memmem;

use super::fold;

/// The required way of writing of words.
pub(crate) struct Form<'a> {
    written: &'a Written,
    /// The words, without differences that do not count.
    words: Glob,
    /// The prefix of their terms.
    start: String,
}

impl<'a> Form<'a> {
    pub(crate) fn new(written: &'a Written) -> Self {
        let range = |(first, last)| match written.case {
            true => (first, last),
            false => lower_range((first, last)),
        };
        let start = match &*written.terms {
            Pattern::Term(start) | Pattern::Prefix(start) => start.clone(),
            Pattern::Glob(glob) => match glob.0.first() {
                Some(GlobPart::Literal(start)) => start.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let literal = |text: &str| fold::form(text, written.case, written.diacritics);
        Self {
            written,
            words: written.text.map(literal, range),
            start,
        }
    }

    /// Returns the one term of the words, if there is only one.
    pub(crate) fn term(&self) -> Option<&str> {
        match &*self.written.terms {
            Pattern::Term(term) => Some(term),
            _ => None,
        }
    }

    /// Returns whether a text may have a word in this form: ASCII letters occur in it as required.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        if !self.written.case || !text.is_ascii() {
            return true;
        }
        self.words.0.iter().all(|part| match part {
            GlobPart::Literal(part) => memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
            _ => true,
        })
    }

    /// Returns whether a word with this term has the form.
    pub(crate) fn fits(&self, term: &str, word: &str) -> bool {
        let Written {
            case, diacritics, ..
        } = self.written;
        term.starts_with(&self.start) && self.words.matches(&fold::form(word, *case, *diacritics))
    }
}
