//! Chooses the segments that are merged: enough that a search opens few, and segments of similar size, so that
//! documents are not rewritten again and again.
//!
//! The engine's own policy waits for eight segments of about the same size. The segments of a real run differ by a
//! factor of ten, as documents do. In a simulation with lognormal sizes that policy left 20 of 24 segments, and 33 of
//! 200. This policy bounds their number, as Lucene's `TieredMergePolicy` does. Above the bound, it merges the neighbours
//! by size whose largest segment is the smallest part of the sum. It leaves at most ten of 200 segments and rewrites
//! a document 2.9 times; with 24 segments, 0.9 times.
//!
//! A run that finds the highest number of segments may leave [`SMALL_SEGMENTS`] more. Otherwise one more file would
//! rewrite three of ten segments. Tiny segments are merged many at once, since merges of three would delay every second
//! run for one new message (by 12 to 18 of 100 ms on a slow machine).
//!
//! While a run adds segments, merges are *deferred*: the run waits until [`MAX_MERGED`] segments can become one, and
//! only its last commit merges fewer. Then a document is rewritten 1.9 times with 200 segments, and 0.7 times with 24.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::SegmentMeta;
use tantivy::indexer::{MergeCandidate, MergePolicy};

/// The bounds of the number of segments that are not merged. Between them it is the number of building threads: a first
/// run ends with a segment of each thread, and a search uses as many threads. Merging the segments of sixteen threads
/// takes longer than building them, and merging 64 into 32 takes four times as long. A command takes 0.2 ms per
/// segment.
const MAX_SEGMENTS: RangeInclusive<usize> = 10..=64;
/// The number of further segments that are not merged: small ones of later runs, which are merged with each other.
const SMALL_SEGMENTS: usize = 4;
/// The number of documents whose merging costs as much as a segment itself, whose files are opened, written and synced.
/// Smaller segments are merged seldom, and many at once.
const SEGMENT_DOCS: u32 = 64;
/// The number of segments that are merged into one.
const MIN_MERGED: usize = 3;
const MAX_MERGED: usize = 8;
/// The preference for smaller merges, since a merged segment may be merged again next time.
const SIZE_EXPONENT: f64 = 0.2;
/// The share of deleted documents above which a segment is rewritten without them.
const MAX_DELETED: f64 = 1.0 / 3.0;

#[derive(Clone, Debug)]
pub(crate) struct BoundedMerges {
    /// The number of segments that are not merged.
    max_segments: usize,
    /// The same number at the end of the run.
    bound: usize,
    /// The number of merges that may run at once.
    threads: usize,
    /// Whether the run will add more segments.
    deferred: Arc<AtomicBool>,
}

impl BoundedMerges {
    /// Returns the policy for an index that this many threads build in a full run; some of them may merge.
    /// The number must be the same in later runs, even if they have little to do: fewer segments than the first run
    /// made would mean rewriting segments. `before` is the number of documents of each segment before the run. It
    /// decides whether the run may leave some more small segments: if the others are almost as many as allowed, one
    /// changed file would otherwise rewrite a good part of the index.
    pub(crate) fn new(
        n_builders: usize,
        n_mergers: usize,
        before: &[u32],
        deferred: &Arc<AtomicBool>,
    ) -> Self {
        let n_large = before.iter().filter(|n_docs| **n_docs > SEGMENT_DOCS);
        let max_segments = n_builders.saturating_add(SMALL_SEGMENTS);
        let max_segments = max_segments.clamp(*MAX_SEGMENTS.start(), *MAX_SEGMENTS.end());
        Self {
            max_segments,
            bound: max_segments.max(n_large.count().min(max_segments) + SMALL_SEGMENTS),
            threads: n_mergers,
            deferred: Arc::clone(deferred),
        }
    }

    /// Returns the segments to merge, in groups of their numbers. There are as many groups as merges may run at once,
    /// since the end of a run waits for the largest. Deferred merges wait until the largest group fits.
    fn groups(&self, sizes: &[Size]) -> Vec<Vec<usize>> {
        // A group becomes one segment.
        let excess = sizes.len().saturating_sub(self.bound);
        let divided = (excess.div_ceil(self.threads.max(1)) + 1).clamp(MIN_MERGED, MAX_MERGED);
        let (bound, lengths) = match self.deferred.load(Ordering::Relaxed) {
            true => (self.max_segments + MAX_MERGED - 2, MAX_MERGED..=MAX_MERGED),
            false => (self.bound, MIN_MERGED..=divided),
        };
        let mut by_size: Vec<usize> = (0..sizes.len()).collect();
        by_size.sort_by_key(|number| Reverse(sizes[*number].left));
        let mut groups = Vec::new();
        let mut n_left = by_size.len();
        while n_left > bound
            && let Some((start, length)) = best(sizes, &by_size, &lengths)
        {
            groups.push(by_size.drain(start..start + length).collect());
            n_left -= length - 1;
        }
        let is_old = |of: Size| f64::from(of.all - of.left) > f64::from(of.all) * MAX_DELETED;
        let old = by_size.into_iter().filter(|number| is_old(sizes[*number]));
        groups.extend(old.map(|number| vec![number]));
        groups
    }
}

impl MergePolicy for BoundedMerges {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let sizes = segments.iter().map(|segment| Size {
            left: segment.num_docs(),
            all: segment.max_doc(),
        });
        let sizes: Vec<_> = sizes.collect();
        let groups = self.groups(&sizes);
        let ids = |group: Vec<usize>| group.iter().map(|number| segments[*number].id()).collect();
        groups
            .into_iter()
            .map(|group| MergeCandidate(ids(group)))
            .collect()
    }
}

/// Documents of a segment.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Documents that are not deleted.
    left: u32,
    all: u32,
}

/// Returns the start and the length of the best group of neighbours. A group of small segments may be longer than
/// `lengths`.
fn best(
    sizes: &[Size],
    by_size: &[usize],
    lengths: &RangeInclusive<usize>,
) -> Option<(usize, usize)> {
    let all = *lengths.start()..=MAX_MERGED.min(by_size.len());
    let all = all.flat_map(|length| (0..=by_size.len() - length).map(move |at| (at, length)));
    let all = all
        .filter(|(at, length)| length <= lengths.end() || sizes[by_size[*at]].left <= SEGMENT_DOCS);
    let cost = |(at, length): (usize, usize)| {
        let group = &by_size[at..at + length];
        let docs = |number: usize| f64::from(sizes[number].left.max(SEGMENT_DOCS));
        let sum: f64 = group.iter().map(|number| docs(*number)).sum();
        docs(group[0]) / sum * sum.powf(SIZE_EXPONENT)
    };
    all.min_by(|a, b| cost(*a).total_cmp(&cost(*b)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FEWEST: usize = *MAX_SEGMENTS.start();

    fn sizes(of: &[u32]) -> Vec<Size> {
        let size = |left: &u32| Size {
            left: *left,
            all: *left,
        };
        of.iter().map(size).collect()
    }

    /// Returns the groups for two builders.
    fn groups(of: &[Size], n_mergers: usize, deferred: bool) -> Vec<Vec<usize>> {
        groups_after(&[], of, n_mergers, deferred)
    }

    /// Returns the groups for two builders, with the segments `before` the run.
    fn groups_after(
        before: &[u32],
        of: &[Size],
        n_mergers: usize,
        deferred: bool,
    ) -> Vec<Vec<usize>> {
        let deferred = Arc::new(AtomicBool::new(deferred));
        BoundedMerges::new(2, n_mergers, before, &deferred).groups(of)
    }

    /// Merges the groups, and returns the sizes of the merged segments.
    fn merge(
        before: &[u32],
        segments: &mut Vec<u32>,
        n_mergers: usize,
        deferred: bool,
    ) -> Vec<u32> {
        let groups = groups_after(before, &sizes(segments), n_mergers, deferred);
        let sum = |group: &Vec<usize>| group.iter().map(|number| segments[*number]).sum();
        let merged: Vec<u32> = groups.iter().map(sum).collect();
        let groups = groups.concat();
        let rest = segments.iter().enumerate();
        let rest = rest.filter(|(number, _)| !groups.contains(number));
        *segments = rest.map(|(_, size)| *size).collect();
        segments.extend(&merged);
        merged
    }

    #[test]
    fn many_builders_leave_many_segments() {
        let merged = |n_builders: usize, of: &[u32]| {
            let policy = BoundedMerges::new(n_builders, 1, &[], &Arc::default());
            policy.groups(&sizes(of)).concat()
        };
        assert!(merged(16, &[900; 20]).is_empty());
        assert_eq!(merged(16, &[900; 21]).len(), 3);
        assert!(merged(64, &[900; 64]).is_empty());
        assert_eq!(merged(200, &[900; 65]).len(), 3);
        assert!(merged(2, &[900; 16]).len() > 6);
        // Small ones of later runs: those of the first run stay as they are.
        let mut of = vec![900; 16];
        of.extend([1; 5]);
        let merged = merged(16, &of);
        assert!(
            merged.len() >= 3 && merged.iter().all(|number| *number >= 16),
            "{merged:?}"
        );
    }

    #[test]
    fn few_segments_are_left_alone() {
        assert!(groups(&[], 1, false).is_empty());
        assert!(groups(&sizes(&[500; FEWEST]), 1, false).is_empty());
        assert_eq!(groups(&sizes(&[500; FEWEST + 1]), 1, false).len(), 1);
        let lengths = |threads| -> Vec<usize> {
            let groups = groups(&sizes(&[500; 18]), threads, false);
            groups.iter().map(Vec::len).collect()
        };
        assert_eq!((lengths(1), lengths(4)), (vec![8, 8], vec![3; 4]));
    }

    #[test]
    fn deferred_merges_are_of_many_segments() {
        let bound = FEWEST + MAX_MERGED - 2;
        assert!(groups(&sizes(&vec![5; bound]), 1, true).is_empty());
        let groups = groups(&sizes(&vec![5; bound + 1]), 1, true);
        assert_eq!(
            groups.iter().map(Vec::len).collect::<Vec<_>>(),
            [MAX_MERGED]
        );
    }

    #[test]
    fn a_large_segment_is_not_written_for_small_ones() {
        let groups = groups(&sizes(&[900, 1, 1, 1, 1, 1, 1, 1, 1, 1, 800]), 1, false);
        assert_eq!(groups.len(), 1);
        assert!(
            !groups[0].contains(&0) && !groups[0].contains(&10),
            "{groups:?}"
        );
    }

    /// One file more after a first run that left as many segments as may be, again and again.
    #[test]
    fn a_file_more_costs_little() {
        for (large, n_mergers) in [(5000, 2), (5000, 1), (100_000, 1)] {
            let mut segments = vec![large; FEWEST];
            let (mut n_merges, mut written, mut largest) = (0, 0, 0);
            for _ in 0..2000 {
                let before = segments.clone();
                segments.push(1);
                for sum in merge(&before, &mut segments, n_mergers, false) {
                    n_merges += 1;
                    written += sum;
                    largest = largest.max(sum);
                }
                assert!(segments.len() <= FEWEST + SMALL_SEGMENTS);
            }
            assert!(n_merges <= 1000, "{n_merges} merges");
            assert!(written <= 160_000, "{written} documents were written");
            assert!(largest <= 2000, "{largest} documents were merged at once");
        }
    }

    #[test]
    fn what_was_mostly_deleted_is_written_anew() {
        let mut all = sizes(&[100, 100, 100]);
        all[1].left = 60;
        assert_eq!(groups(&all, 1, false), [[1]]);
        all[1].left = 70;
        assert!(groups(&all, 1, false).is_empty());
    }

    proptest! {
        #[test]
        fn their_number_is_bounded(of in prop::collection::vec(0_u32..1_000_000, 0..200), threads in 1_usize..9) {
            let groups = groups(&sizes(&of), threads, false);
            let merged: Vec<usize> = groups.concat();
            let mut once = merged.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), merged.len());
            prop_assert!(groups.iter().all(|group| group.len() > 1));
            prop_assert!(of.len() - merged.len() + groups.len() <= FEWEST.max(of.len() / 3));
        }
    }

    /// Returns how often a document is written in merges while segments come in one after the other, as in a
    /// long run.
    fn times_written(deferred: bool) -> f64 {
        let mut segments: Vec<u32> = Vec::new();
        let mut written = 0;
        for number in 0..500_u32 {
            // Sizes between 1000 and 16,000, in no order.
            segments.push(1000 << (number * 7 % 5));
            let merged = merge(&[], &mut segments, 1, deferred && number < 499);
            written += merged.into_iter().map(u64::from).sum::<u64>();
            let more = if deferred { MAX_MERGED - 2 } else { 0 };
            assert!(segments.len() <= FEWEST + more);
        }
        assert!(segments.len() <= FEWEST);
        let all: u64 = segments.iter().map(|size| u64::from(*size)).sum();
        written as f64 / all as f64
    }

    #[test]
    fn documents_are_not_written_over_and_over() {
        let (at_once, deferred) = (times_written(false), times_written(true));
        assert!(
            at_once < 5.0 && deferred < 0.7 * at_once,
            "{at_once} {deferred}"
        );
    }
}
