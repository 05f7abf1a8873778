//! Which segments are merged: few enough that a search opens few, and of like size, so that
//! documents are not written over and over.
//!
//! The engine's own policy waits for eight segments of about the same size. Those of a real run differ
//! by a factor of ten, as documents do, and after 24 of them 20 were left, after 200 of them 33
//! (simulated with sizes of a lognormal distribution). Here their number is bounded, as
//! Lucene's `TieredMergePolicy` has it: above the bound, the neighbours by size are merged of which
//! the largest is the smallest part of the whole. Of 200 segments at most ten were
//! left, and a document was written 2.9 times more; of 24 0.9 times.
//!
//! A run that finds as many as may be may leave [`SMALL_SEGMENTS`] more: else one file more would have three of ten
//! segments written anew. Tiny ones are merged many at once: every second run for one new message waited for
//! a merge of three (12 to 18 ms on a slow machine, of 100 that it took).
//!
//! While a run adds segment after segment, merges are *deferred*: the run waits until [`MAX_MERGED`] can become one, and
//! only its last commit merges fewer. Of 200 segments a document is written 1.9 times more then, of 24 0.7 times.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::SegmentMeta;
use tantivy::indexer::{MergeCandidate, MergePolicy};

/// How many segments are left alone, by the threads that build them: a first run ends with one of each thread, which
/// a search looks through with as many threads. To merge the sixteen of sixteen threads took longer than to build
/// them, and on 64 threads it took four times as long to make 32 of 64. A command takes 0.2 ms for each.
const MAX_SEGMENTS: RangeInclusive<usize> = 10..=64;
/// How many are left alone beside those of the first run: small ones of later runs are merged with each other.
const SMALL_SEGMENTS: usize = 4;
/// To merge a segment costs as much as so many documents (its files are opened, written and synced), however few it
/// has: of such that have no more, many are merged at once, and seldom.
const SEGMENT_DOCS: u32 = 64;
/// How many are merged at once.
const MIN_MERGED: usize = 3;
const MAX_MERGED: usize = 8;
/// How much smaller merges are preferred: what is merged last is written once more the next time.
const SIZE_EXPONENT: f64 = 0.2;
/// A segment of which this part was deleted is written anew without it.
const MAX_DELETED: f64 = 1.0 / 3.0;

#[derive(Clone, Debug)]
pub(crate) struct BoundedMerges {
    /// How many segments are left alone.
    max_segments: usize,
    /// The same at the end of the run.
    bound: usize,
    /// How many merges may run at once.
    threads: usize,
    /// More segments are to come.
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

    /// Returns which segments are merged with each other, by their numbers: in as many groups as may be merged at
    /// once, as the end of a run waits for the largest. Deferred merges wait until the largest group fits.
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
    /// Those that were not deleted.
    left: u32,
    all: u32,
}

/// Returns where the best group of neighbours of such a length begins, and how many it has. One of small segments may
/// be longer.
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

    /// Of two builders.
    fn groups(of: &[Size], n_mergers: usize, deferred: bool) -> Vec<Vec<usize>> {
        groups_after(&[], of, n_mergers, deferred)
    }

    /// Of two builders, where there were such segments before the run.
    fn groups_after(
        before: &[u32],
        of: &[Size],
        n_mergers: usize,
        deferred: bool,
    ) -> Vec<Vec<usize>> {
        let deferred = Arc::new(AtomicBool::new(deferred));
        BoundedMerges::new(2, n_mergers, before, &deferred).groups(of)
    }

    /// Merges what is to be merged, and returns how large each became.
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
