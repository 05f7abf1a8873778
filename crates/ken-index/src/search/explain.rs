//! How the score of a hit is made up.

use ken_engine::Boosts;
use tantivy::query::Explanation;

/// Returns the explanation of a score: that of its words, and its boosts.
pub(crate) fn explained(boosts: Boosts, words: Explanation) -> Explanation {
    let Boosts { proximity, recency } = boosts;
    if boosts == Boosts::default() {
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
