//! Hits, the parts of their scores, and the answer that holds them.

use tantivy::query::Explanation;

use crate::DocAddress;

/// The parts of a score that are not of words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Boosts {
    /// For words close together.
    pub proximity: f32,
    /// For being new.
    pub recency: f32,
}

impl Boosts {
    /// Returns the explanation of a score with these beside its words.
    pub(crate) fn explained(self, words: Explanation) -> Explanation {
        let Self { proximity, recency } = self;
        if self == Self::default() {
            return words;
        }
        let mut all = Explanation::new("score", words.value() + proximity + recency);
        all.add_detail(words);
        for (name, value) in [("words close together", proximity), ("being new", recency)] {
            if value > 0.0 {
                all.add_detail(Explanation::new(name, value));
            }
        }
        all
    }
}

/// A document that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub address: DocAddress,
    /// Its score; absent where the order is not by relevance.
    pub score: Option<f32>,
    /// The parts of its score that do not come from words.
    pub boosts: Boosts,
    /// How many other hits it stands for; see [`crate::Request::collapse`].
    pub more: usize,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// How many documents the request finds. Without [`counted`](crate::Request::counted) it may find more than this
    /// number if this number is not less than the end of the page.
    pub total: usize,
    /// How many hits there are on all pages: fewer than documents if they were collapsed.
    pub groups: usize,
    /// The hits of the page that was asked for, in order.
    pub hits: Vec<Hit>,
    /// False if a limit ([`crate::Request::limits`]) ended the search early: then there may be more and better hits.
    pub complete: bool,
}
