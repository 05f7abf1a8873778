//! The best documents of a query, those of the same score by their paths.
//!
//! The engine's own collector breaks ties by where a document stands, which depends on threads and
//! merges. Here the path decides, so that the same files give the same order in every index. Paths
//! are compared by their numbers within a segment, and as text only where segments have the same
//! score.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::columnar::BytesColumn;
use tantivy::index::SegmentReader;
use tantivy::query::Weight;
use tantivy::{DocAddress, DocId, Score, Searcher};

use crate::schema::LOCATION;

/// A document with its score. The greater is the better.
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

/// How much less than the worst of the best a score may be that is looked at: sums of the same
/// numbers in another order differ by rounding.
const SLACK: Score = 1e-5;

/// Collects the best of the documents that are pushed, segment by segment.
pub(crate) struct Top {
    limit: usize,
    /// The best of the segments before.
    all: Vec<Candidate>,
    /// Those of the segment, the worst first.
    heap: BinaryHeap<Reverse<Candidate>>,
    /// What cannot be among the best of the segments before cannot be among the best.
    least: Score,
    segments: Vec<(u32, BytesColumn)>,
}

impl Top {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            all: Vec::new(),
            heap: BinaryHeap::new(),
            least: Score::MIN,
            segments: Vec::new(),
        }
    }

    /// Begins a segment; documents that are pushed are of this one.
    pub(crate) fn start(&mut self, number: u32, segment: &SegmentReader) -> tantivy::Result<()> {
        self.end_segment();
        let paths = segment.fast_fields().bytes(LOCATION)?;
        let paths = paths.unwrap_or_else(|| BytesColumn::empty(segment.max_doc()));
        self.segments.push((number, paths));
        Ok(())
    }

    fn end_segment(&mut self) {
        self.all.extend(self.heap.drain().map(|Reverse(of)| of));
        if let Some(last) = self.limit.checked_sub(1)
            && last < self.all.len()
        {
            let (_, worst, _) = self.all.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.least = below(worst.score);
        }
    }

    /// Returns the score that a document must exceed to be among the best, or equal to the worst of
    /// them: its path may come first.
    pub(crate) fn threshold(&self) -> Score {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.limit => {
                self.least.max(below(worst.score))
            }
            _ => self.least,
        }
    }

    pub(crate) fn push(&mut self, score: Score, doc: DocId) {
        let Some((number, paths)) = self.segments.last() else {
            return;
        };
        let candidate = Candidate {
            score,
            path: paths.ords().first(doc).unwrap_or(u64::MAX),
            at: DocAddress::new(*number, doc),
        };
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    /// Returns the best documents, best first.
    pub(crate) fn finish(mut self) -> tantivy::Result<Vec<(Score, DocAddress)>> {
        self.end_segment();
        let mut all = self.all;
        all.sort_unstable_by(|a, b| b.cmp(a));
        for equals in all.chunk_by_mut(|a, b| a.score == b.score) {
            order_by_path(equals, &self.segments)?;
        }
        all.truncate(self.limit);
        let found = all.into_iter().map(|of| (of.score, of.at));
        Ok(found.collect())
    }
}

fn below(score: Score) -> Score {
    (score - score.abs() * SLACK).next_down()
}

/// Returns the best documents of a query, best first.
pub(crate) fn best(
    searcher: &Searcher,
    weight: &dyn Weight,
    limit: usize,
) -> tantivy::Result<Vec<(Score, DocAddress)>> {
    let mut top = Top::new(limit);
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        top.start(number, segment)?;
        let alive = segment.alive_bitset();
        weight.for_each_pruning(top.threshold(), segment, &mut |doc, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                top.push(score, doc);
            }
            top.threshold()
        })?;
    }
    top.finish()
}

/// Puts documents of one score, which stand by segment and number of their path, in the order of
/// their paths.
fn order_by_path(equals: &mut [Candidate], columns: &[(u32, BytesColumn)]) -> tantivy::Result<()> {
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
    for (place, (_, candidate)) in equals.iter_mut().zip(with_paths) {
        *place = candidate;
    }
    Ok(())
}
