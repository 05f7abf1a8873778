//! How hits are ranked: the weights, each of which is a setting.
//!
//! BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted fields", 2004) sums the
//! frequency of a word over the fields of a document, with the weight and length of each field, and dampens only the
//! sum.

use crate::{FIELDS, Field};

/// The weights of ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How soon further positions of a word in a document stop counting.
    pub k1: f32,
    /// How much the length of a field counts: 0 not at all, 1 in full.
    pub b: f32,
    /// The weight of a position with another form of the word, relative to the word itself.
    pub stemmed: f32,
    /// The share of the score of a query of one word that only documents with the word itself have. A document with other
    /// forms only ranks behind all of them at 0.5, and by its frequency at 0. The share falls by the square of the number of
    /// words in the query.
    pub literal: f32,
    /// The weight of the words of a query side by side, as the query has them, relative to the words apart. Half of it goes
    /// to every document with the phrase: at 3 these rank before documents that have the words apart, also in their title.
    /// At 0 it counts nothing.
    pub phrase: f32,
    /// What a word in the title or file name adds, relative to the word anywhere. It is added after dampening, which the
    /// weight of a field is not.
    pub named: f32,
    /// The weight of a function word (`what`, `of`), relative to other words, where one of several words is enough.
    pub function_words: f32,
    /// The weight of two adjacent words, relative to one word; see [`Ranking::recency`].
    pub proximity: f32,
    /// The weight of a word in the name of a folder, relative to one in the body ([`crate::Word::folders`]).
    pub folder: f32,
    /// The share by which the score of a document of today is raised. This and [`Ranking::proximity`] apply only to
    /// the best documents.
    pub recency: f32,
    /// The share by which the score of bulk mail and of generated files is lowered.
    pub bulk: f32,
    /// The number of days after which half of the share remains.
    pub recency_days: f32,
    /// The weight of a position in each field, relative to one in the body; by [`Field`].
    pub weights: Vec<f32>,
}

impl Default for Ranking {
    /// Returns `k1` and `b` as in the literature and in Lucene. A function word decides only among equals: at this
    /// weight the rarest of them says as little as a word of every document.
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            stemmed: 0.9,
            literal: 0.5,
            phrase: 3.0,
            named: 0.25,
            function_words: 0.01,
            proximity: 0.15,
            folder: 0.1,
            recency: 0.02,
            bulk: 0.3,
            recency_days: 365.0,
            weights: FIELDS.iter().map(|info| info.weight).collect(),
        }
    }
}

impl Ranking {
    /// Returns the weight of a position in this field, relative to one in the body.
    pub fn weight(&self, field: Field) -> f32 {
        // A custom field is searched only where a query names it, and then like any other.
        self.weights.get(field as usize).copied().unwrap_or(1.0)
    }

    /// Sets the weight of a position in this field.
    pub fn set_weight(&mut self, field: Field, weight: f32) {
        if let Some(of) = self.weights.get_mut(field as usize) {
            *of = weight;
        }
    }
}
