//! Which files of grams may know a file: asked instead of each of them, once that pays.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_ngram::Segment;

/// A table has no more entries; with more files than that each says the less.
const MAX_BITS: u32 = 20;
/// So many rows are read while a file is looked up in one file of grams.
const LOOK_UP_ROWS: usize = 32;

/// Makes the table when files were looked up for as long as that takes: who looks for one has it at once.
#[derive(Default)]
pub(super) struct Lazy {
    holders: OnceLock<Holders>,
    n_asked: AtomicUsize,
}

impl Lazy {
    /// Returns the table of these, if it is worth while, for one that is asked of all of them.
    pub(super) fn get(&self, segments: &[Segment]) -> Option<&Holders> {
        if segments.len() <= 1 {
            return None;
        }
        if let Some(holders) = self.holders.get() {
            return Some(holders);
        }
        let n_asked = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let n_rows: usize = segments.iter().map(|segment| segment.rows().len()).sum();
        // Of more rows nearly each file of grams has one in each range.
        let tells = n_rows <= segments.len() << MAX_BITS;
        let pays = tells && n_asked * segments.len() * LOOK_UP_ROWS >= n_rows;
        pays.then(|| self.holders.get_or_init(|| Holders::new(segments, n_rows)))
    }
}

/// For each range of keys, the files of grams that know one of it, as bits: those of numbers that differ by
/// [`u64::BITS`] share one. Keys are hashes and spread evenly.
pub(super) struct Holders {
    masks: Vec<u64>,
    shift: u32,
}

impl Holders {
    fn new(segments: &[Segment], n_rows: usize) -> Self {
        let of = |row: ken_ngram::Row| row.version.key;
        Self::of_keys(
            n_rows,
            segments.iter().map(|segment| segment.rows().map(of)),
        )
    }

    fn of_keys(n_keys: usize, segments: impl Iterator<Item = impl Iterator<Item = u64>>) -> Self {
        let bits = n_keys.max(2).ilog2().min(MAX_BITS);
        let mut holders = Self {
            masks: vec![0; 1 << bits],
            shift: u64::BITS - bits,
        };
        for (number, keys) in (0..).zip(segments) {
            for key in keys {
                holders.masks[(key >> holders.shift) as usize] |= bit(number);
            }
        }
        holders
    }

    /// Returns whether the file of grams of this number may know the file with this key.
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

    use ken_ngram::{Builder, Covers, GramSet, Version};

    use super::*;

    #[test]
    fn who_knows_a_file_is_asked_and_hardly_another() {
        // Evenly spread, as hashes are.
        let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (n_segments, n_keys) = (100, 1000);
        let keys = |segment: u64| (0..n_keys).map(move |n| key(segment * n_keys + n));
        let n_all = n_segments * n_keys;
        let holders = Holders::of_keys(n_all as usize, (0..n_segments).map(keys));
        let mut asked = 0;
        for n in 0..n_all {
            let of = (n / n_keys) as usize;
            assert!(holders.may_know(of, key(n)));
            let all = 0..n_segments as usize;
            asked += all.filter(|other| holders.may_know(*other, key(n))).count();
        }
        // Itself, the one whose bit it shares, and whoever has a key of the same range.
        assert!(asked < 5 * n_all as usize, "{asked}");
        assert!(
            Holders::of_keys(0, std::iter::empty::<std::iter::Empty<u64>>())
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
                let (path, grams) = (Path::new("/a"), &GramSet::default());
                builder.add(version, path, "", Covers::default(), grams);
            }
            Segment::open(Box::new(builder.finish(Vec::new()).unwrap())).unwrap()
        };
        let lazy = Lazy::default();
        let segments = [segment(0..300), segment(300..400)];
        for _ in 0..400_usize.div_ceil(2 * LOOK_UP_ROWS) {
            assert!(lazy.get(&segments).is_none());
        }
        assert!(lazy.get(&segments).is_some() && lazy.get(&segments).is_some());
        let lazy = Lazy::default();
        assert!(
            (0..1000).all(|_| lazy.get(&segments[..1]).is_none()),
            "it is asked anyway"
        );
    }
}
