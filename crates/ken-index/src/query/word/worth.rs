//! How much a word adds to the score of a document: more if the document has the word itself.
//!
//! All forms of a word share the inverse document frequency of their union, so that a rare ending of a common word is not
//! taken for a rare word. But `authority` is not `author`, and a query of one word gives no other hint which one is meant.
//! For such a query, a document with the word itself ranks before all documents that have only other forms, and the word has a
//! frequency of its own. With each further word of the query the forms matter less, by the square of the number of words.

/// The scores that a word adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// The score of a document for having the word itself.
    present: f32,
    /// The maximum for the frequency of the word and its forms.
    frequent: f32,
    /// The maximum for documents that have only other forms of the word.
    derived: f32,
    k1: f32,
}

impl Worth {
    /// Returns the worth of one of the `n_words` words of a query. `literal` and `all` are the inverse document
    /// frequencies of the word itself and of all its forms, and `share` is [`ken_core::Ranking::literal`].
    pub(super) fn new(literal: f32, all: f32, share: f32, n_words: f32, k1: f32) -> Self {
        let n_words = n_words.max(1.0);
        let present = share / (n_words * n_words);
        let own = (2.0 * present).min(1.0);
        let most = (k1 + 1.0) * (all + own * (literal - all));
        Self {
            present: most * present,
            frequent: most * (1.0 - present),
            derived: (k1 + 1.0) * all * (1.0 - present),
            k1,
        }
    }

    /// Returns what the word adds in addition where it names the document, as `share` of what it adds elsewhere. In a
    /// query of one word other forms add nothing, so that they stay behind the word itself.
    pub(super) fn named(self, share: f32) -> Self {
        let most = share * (self.present + self.frequent);
        let derived = most - (2.0 * share * self.present).min(most);
        Self {
            present: most / 2.0,
            frequent: most / 2.0,
            derived,
            k1: self.k1,
        }
    }

    /// Returns the maximum that the word can add to a score.
    pub(super) fn most(self) -> f32 {
        (self.present + self.frequent).max(self.derived)
    }

    /// Returns what the word adds to the score of a document. The sum of its forms is dampened, since many occurrences
    /// count little more than a few. It is negative for derived forms only ([`super::window::joined`]).
    #[inline]
    pub(super) fn score(self, sum: f32) -> f32 {
        match sum > 0.0 {
            true => self.present + self.frequent * (sum / (self.k1 + sum)),
            // Nothing, if all forms that the document has weigh nothing.
            false => self.derived * (sum / (sum - self.k1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_ranks_its_own_form_first() {
        let worth = Worth::new(2.0, 2.0, 0.5, 1.0, 1.2);
        assert!(worth.score(0.001) > worth.score(-1000.0));
        assert!(worth.score(1.0) > worth.score(0.5));
        assert!(worth.score(-1.0) > worth.score(-0.5));
        assert!(worth.score(f32::MAX) <= worth.most());
        assert_eq!((worth.score(0.0), worth.score(-0.0)), (0.0, 0.0));
    }

    #[test]
    fn among_many_words_a_form_counts_by_its_weight() {
        let worth = Worth::new(3.0, 2.0, 0.5, 20.0, 1.2);
        let (word, form) = (worth.score(0.5), worth.score(-0.5));
        assert!(word > form && (word - form) / word < 0.01, "{word} {form}");
        let off = Worth::new(3.0, 2.0, 0.0, 1.0, 1.2);
        assert!((off.score(0.5) - off.score(-0.5)).abs() < 1e-5);
    }
}
