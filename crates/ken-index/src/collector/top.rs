//! Keeps the best documents of a query; those with the same score are ordered by path.
//!
//! The engine's own collector breaks ties by the address of a document, which depends on threads
//! and merges. Here the path decides, so that the same files have the same order in every index.
//! Paths are compared by their numbers within a segment, and as text only where segments have the
//! same score.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use tantivy::columnar::BytesColumn;
use tantivy::index::SegmentReader;
use tantivy::query::Weight;
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentOrdinal};

use crate::limits::{Limits, reached};
use crate::parallel;
use crate::schema::LOCATION;

/// A document with its score. The greater one is better.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    score: Score,
    /// The number of its path among those of its segment.
    path: u64,
    at: DocAddress,
}

impl Candidate {
    fn rank(&self) -> (Reverse<u32>, Reverse<u64>, Reverse<DocId>) {
        let DocAddress {
            segment_ord,
            doc_id,
        } = self.at;
        (Reverse(segment_ord), Reverse(self.path), Reverse(doc_id))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then_with(|| self.rank().cmp(&other.rank()))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// Maximum difference to the worst of the best scores for a document to be considered: sums of the
/// same numbers in another order differ by rounding.
const SLACK: Score = 1e-5;

/// Collects the best documents of all segments. Several threads may do so, each with one segment.
pub(crate) struct Best {
    limit: usize,
    /// A lower bound of the best scores, from the finished segments; see [`code`].
    least: AtomicU32,
    done: Mutex<Done>,
}

/// The results of finished segments.
#[derive(Default)]
struct Done {
    best: Vec<Candidate>,
    paths: Vec<(SegmentOrdinal, BytesColumn)>,
}

impl Best {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            least: AtomicU32::new(code(Score::MIN)),
            done: Mutex::default(),
        }
    }

    /// Begins a segment.
    pub(crate) fn of_segment(
        &self,
        number: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<BestOfSegment<'_>> {
        let paths = segment.fast_fields().bytes(LOCATION)?;
        Ok(BestOfSegment {
            all: self,
            number,
            paths: paths.unwrap_or_else(|| BytesColumn::empty(segment.max_doc())),
            heap: BinaryHeap::new(),
        })
    }

    /// Returns the best documents, best first.
    pub(crate) fn finish(self) -> tantivy::Result<Vec<(Score, DocAddress)>> {
        let done = self.done.into_inner();
        let Done { mut best, paths } = done.unwrap_or_else(PoisonError::into_inner);
        best.sort_unstable_by(|a, b| b.cmp(a));
        for equals in best.chunk_by_mut(|a, b| a.score.total_cmp(&b.score).is_eq()) {
            order_by_path(equals, &paths)?;
        }
        best.truncate(self.limit);
        let found = best.into_iter().map(|of| (of.score, of.at));
        Ok(found.collect())
    }
}

/// Collects the best documents of a segment.
pub(crate) struct BestOfSegment<'a> {
    all: &'a Best,
    number: SegmentOrdinal,
    paths: BytesColumn,
    /// The worst first.
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl BestOfSegment<'_> {
    /// Returns the score that a document must exceed to be among the best. It may also equal the
    /// worst of them, since its path may come first.
    pub(crate) fn threshold(&self) -> Score {
        let least = decode(self.all.least.load(Relaxed));
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.all.limit => {
                least.max(below(worst.score))
            }
            _ => least,
        }
    }

    pub(crate) fn push(&mut self, score: Score, doc: DocId) {
        let candidate = Candidate {
            score,
            path: self.paths.ords().first(doc).unwrap_or(u64::MAX),
            at: DocAddress::new(self.number, doc),
        };
        if self.heap.len() < self.all.limit {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    /// Ends the segment: its best documents are compared with those of the others.
    pub(crate) fn finish(self) {
        let Best { limit, least, done } = self.all;
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        let best = self.heap.into_iter().map(|Reverse(of)| of);
        done.best.extend(best);
        done.paths.push((self.number, self.paths));
        if let Some(last) = limit.checked_sub(1)
            && last < done.best.len()
        {
            let (_, worst, _) = done.best.select_nth_unstable_by(last, |a, b| b.cmp(a));
            least.fetch_max(code(below(worst.score)), Relaxed);
        }
    }
}

/// Returns a number with the same order as the score.
fn code(score: Score) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}

/// Returns the score for a number.
fn decode(code: u32) -> Score {
    Score::from_bits(if code >> 31 == 1 {
        code ^ 1 << 31
    } else {
        !code
    })
}

fn below(score: Score) -> Score {
    if !score.is_finite() {
        return Score::MIN;
    }
    (score - score.abs() * SLACK).next_down()
}

/// Returns the best documents of a query, best first.
pub(crate) fn best(
    searcher: &Searcher,
    weight: &dyn Weight,
    limit: usize,
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
    let best = Best::new(limit);
    parallel::over(searcher.segment_readers(), |number, segment| {
        if reached(limits) {
            return Ok(());
        }
        let mut top = best.of_segment(number, segment)?;
        let alive = segment.alive_bitset();
        weight.for_each_pruning(top.threshold(), segment, &mut |doc, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                top.push(score, doc);
            }
            top.threshold()
        })?;
        top.finish();
        Ok(())
    })?;
    best.finish()
}

/// Sorts documents with one score, given by segment and number of their path, by their paths.
fn order_by_path(
    equals: &mut [Candidate],
    columns: &[(SegmentOrdinal, BytesColumn)],
) -> tantivy::Result<()> {
    let segment = |of: &Candidate| of.at.segment_ord;
    if equals.first().map(segment) == equals.last().map(segment) {
        return Ok(());
    }
    let mut with_paths: Vec<(Vec<u8>, Candidate)> = Vec::with_capacity(equals.len());
    for of_segment in equals.chunk_by(|a, b| segment(a) == segment(b)) {
        let number = of_segment.first().map(segment);
        let column = columns.iter().find(|(of, _)| Some(*of) == number);
        let numbers: Vec<u64> = of_segment.iter().map(|of| of.path).collect();
        let mut paths = Vec::with_capacity(numbers.len());
        if let Some((_, column)) = column {
            let take = |path: &[u8]| paths.push(path.to_vec());
            column.dictionary().sorted_ords_to_term_cb(&numbers, take)?;
        }
        paths.resize(of_segment.len(), Vec::new());
        with_paths.extend(paths.into_iter().zip(of_segment.iter().copied()));
    }
    with_paths.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (slot, (_, candidate)) in equals.iter_mut().zip(with_paths) {
        *slot = candidate;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codes_have_the_order_of_scores(a: f32, b: f32) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(code(a).cmp(&code(b)), a.total_cmp(&b));
            prop_assert_eq!(decode(code(a)).to_bits(), a.to_bits());
        }

        #[test]
        fn what_may_be_among_the_best_is_above_the_threshold(score: f32) {
            prop_assume!(!score.is_nan());
            prop_assert!(score > below(score) || score.is_infinite() || score == Score::MIN);
            prop_assert!(!below(score).is_nan());
        }
    }
}
