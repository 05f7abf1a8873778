//! How hits are ranked: the weights, each of which is a setting.
//!
//! BM25F (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted
//! fields", 2004): how often a document has a word is summed over its fields, each with its
//! weight and by its length, and only then dampened.

use crate::{FIELDS, Field};

/// The weights of ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// How soon more places with a word in a document count no more.
    pub k1: f32,
    /// How much the length of a field counts: 0 not at all, 1 in full.
    pub b: f32,
    /// How much a place with another form of the word counts, of one with the word itself.
    pub stemmed: f32,
    /// How much a function word counts (`what`, `of`), of another word, where one word of several
    /// is enough.
    pub function_words: f32,
    /// How much two words that stand side by side count, of a word; see [`Ranking::recency`].
    pub proximity: f32,
    /// What a document of today has more, as a share of its score. Both are given to the best
    /// documents only.
    pub recency: f32,
    /// After how many days half of that is left.
    pub recency_days: f32,
    /// How much a place in each field counts, of one in the body; by [`Field`].
    pub weights: Vec<f32>,
}

impl Default for Ranking {
    /// `k1` and `b` are the values of the literature, and of Lucene. A function word decides among
    /// equals only: at this weight the rarest of them says as little as a word of every document.
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            stemmed: 0.9,
            function_words: 0.01,
            proximity: 0.15,
            recency: 0.02,
            recency_days: 365.0,
            weights: FIELDS.iter().map(|info| info.weight).collect(),
        }
    }
}

impl Ranking {
    /// Returns how much a place in this field counts, of one in the body.
    pub fn weight(&self, field: Field) -> f32 {
        // A custom field is searched only where a query names it, and then like any other.
        self.weights.get(field as usize).copied().unwrap_or(1.0)
    }

    /// Sets how much a place in this field counts.
    pub fn set_weight(&mut self, field: Field, weight: f32) {
        if let Some(of) = self.weights.get_mut(field as usize) {
            *of = weight;
        }
    }
}
