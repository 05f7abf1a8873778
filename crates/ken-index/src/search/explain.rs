//! How the score of a hit is made up.

use ken_engine::Boosts;
use tantivy::query::Explanation;

/// Returns the explanation of a score: that of its words, and its boosts.
pub(crate) fn explained(boosts: Boosts, words: Explanation) -> Explanation {
    let Boosts {
        proximity,
        recency,
        bulk,
    } = boosts;
    if boosts == Boosts::default() {
        return words;
    }
    let mut all = Explanation::new("score", words.value() + proximity + recency + bulk);
    all.add_detail(words);
    for (name, value) in [
        ("words close together", proximity),
        ("being new", recency),
        ("being bulk mail or generated", bulk),
    ] {
        if value != 0.0 {
            all.add_detail(Explanation::new(name, value));
        }
    }
    all
}
