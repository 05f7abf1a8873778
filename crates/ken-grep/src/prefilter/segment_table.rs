//! A table of the n-gram segments that may know a file, which replaces asking each segment once
//! that pays off.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_ngram::Segment;

/// Maximum size of the table, as a power of two; with more files, each entry says less.
const MAX_BITS: u32 = 20;
/// Number of rows that are read in the time of one look-up in one segment.
const LOOK_UP_ROWS: usize = 32;

/// Builds the table once look-ups have taken as long as building it, so that a look-up of one file
/// needs none.
#[derive(Default)]
pub(super) struct LazySegmentTable {
    table: OnceLock<SegmentTable>,
    n_asked: AtomicUsize,
}

impl LazySegmentTable {
    /// Returns the table of these segments if it pays off; called for each file that is looked up
    /// in all of them.
    pub(super) fn get(&self, segments: &[Segment]) -> Option<&SegmentTable> {
        if segments.len() <= 1 {
            return None;
        }
        if let Some(holders) = self.table.get() {
            return Some(holders);
        }
        let n_asked = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let n_rows: usize = segments.iter().map(|segment| segment.rows().len()).sum();
        // With more rows, nearly every segment has one in each range.
        let separates = n_rows <= segments.len() << MAX_BITS;
        let pays = separates && n_asked * segments.len() * LOOK_UP_ROWS >= n_rows;
        pays.then(|| {
            self.table
                .get_or_init(|| SegmentTable::new(segments, n_rows))
        })
    }
}

/// For each range of keys, the segments that know a key in it, as bits: segments whose numbers
/// differ by [`u64::BITS`] share a bit. Keys are hashes and evenly distributed.
pub(super) struct SegmentTable {
    masks: Vec<u64>,
    shift: u32,
}

impl SegmentTable {
    fn new(segments: &[Segment], n_rows: usize) -> Self {
        let of = |row: ken_ngram::Row| row.version.key;
        Self::of_keys(
            n_rows,
            segments.iter().map(|segment| segment.rows().map(of)),
        )
    }

    fn of_keys(n_keys: usize, segments: impl Iterator<Item = impl Iterator<Item = u64>>) -> Self {
        let bits = n_keys.max(2).ilog2().min(MAX_BITS);
        let mut table = Self {
            masks: vec![0; 1 << bits],
            shift: u64::BITS - bits,
        };
        for (number, keys) in (0..).zip(segments) {
            for key in keys {
                table.masks[(key >> table.shift) as usize] |= bit(number);
            }
        }
        table
    }

    /// Returns whether the segment with this number may know the file with this key.
    pub(super) fn may_know(&self, segment: usize, key: u64) -> bool {
        self.masks[(key >> self.shift) as usize] & bit(segment) != 0
    }
}

fn bit(segment: usize) -> u64 {
    1 << (segment as u32 % u64::BITS)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::path::Path;

    use ken_ngram::{Builder, Covers, NgramSet, Version};

    use super::*;

    #[test]
    fn segments_that_know_a_file_are_returned_and_hardly_others() {
        // Evenly distributed, like hashes.
        let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (n_segments, n_keys) = (100, 1000);
        let keys = |segment: u64| (0..n_keys).map(move |n| key(segment * n_keys + n));
        let n_all = n_segments * n_keys;
        let table = SegmentTable::of_keys(n_all as usize, (0..n_segments).map(keys));
        let mut asked = 0;
        for n in 0..n_all {
            let of = (n / n_keys) as usize;
            assert!(table.may_know(of, key(n)));
            let all = 0..n_segments as usize;
            asked += all.filter(|other| table.may_know(*other, key(n))).count();
        }
        // The segment itself, the one with the same bit, and those with a key in the same range.
        assert!(asked < 5 * n_all as usize, "{asked}");
        assert!(
            SegmentTable::of_keys(0, std::iter::empty::<std::iter::Empty<u64>>())
                .masks
                .len()
                > 1
        );
    }

    #[test]
    fn the_table_is_made_when_it_pays() {
        let segment = |keys: Range<u64>| {
            let mut builder = Builder::default();
            for key in keys {
                let version = Version { key, stamp: 1 };
                let (path, ngrams) = (Path::new("/a"), &NgramSet::default());
                builder.add(version, path, "", Covers::default(), ngrams);
            }
            Segment::open(Box::new(builder.finish(Vec::new()).unwrap())).unwrap()
        };
        let lazy = LazySegmentTable::default();
        let segments = [segment(0..300), segment(300..400)];
        for _ in 0..400_usize.div_ceil(2 * LOOK_UP_ROWS) {
            assert!(lazy.get(&segments).is_none());
        }
        assert!(lazy.get(&segments).is_some() && lazy.get(&segments).is_some());
        let lazy = LazySegmentTable::default();
        assert!(
            (0..1000).all(|_| lazy.get(&segments[..1]).is_none()),
            "it is asked anyway"
        );
    }
}
