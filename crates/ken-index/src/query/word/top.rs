//! The best documents so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tantivy::{DocAddress, Score};

/// The best of the documents that were pushed, which must come in the order of their addresses: of
/// equals the first is better.
pub(super) struct Top {
    limit: usize,
    /// The worst first.
    heap: BinaryHeap<Ranked>,
}

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            heap: BinaryHeap::new(),
        }
    }

    /// Returns the score that a document must exceed to be among the best.
    pub(super) fn threshold(&self) -> Score {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.limit => worst.score,
            _ => Score::MIN,
        }
    }

    pub(super) fn push(&mut self, score: Score, at: DocAddress) {
        if self.heap.len() < self.limit {
            self.heap.push(Ranked { score, at });
        } else if let Some(mut worst) = self.heap.peek_mut()
            && score > worst.score
        {
            *worst = Ranked { score, at };
        }
    }

    /// Returns them, the best first.
    pub(super) fn into_vec(self) -> Vec<(Score, DocAddress)> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        sorted.map(|ranked| (ranked.score, ranked.at)).collect()
    }
}

/// A document with its score; the better one is the smaller.
struct Ranked {
    score: Score,
    at: DocAddress,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let scores = other.score.total_cmp(&self.score);
        scores.then_with(|| self.at.cmp(&other.at))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_and_of_equals_the_first() {
        let mut top = Top::new(2);
        assert_eq!(top.threshold(), Score::MIN);
        for (doc, score) in [(0, 1.0), (1, 3.0), (2, 1.0), (3, 3.0), (4, 3.0)] {
            top.push(score, DocAddress::new(0, doc));
        }
        assert_eq!(top.threshold(), 3.0);
        let docs = top.into_vec().into_iter().map(|(_, at)| at.doc_id);
        assert_eq!(docs.collect::<Vec<_>>(), [1, 3]);
    }
}
