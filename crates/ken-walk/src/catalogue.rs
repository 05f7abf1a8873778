//! The catalogue: what the index knows about files, as rows of hashes with a `seen` bit each.
//!
//! It is a sorted array (24 bytes and a bit for each file) with a table of where each range of keys
//! begins, so that a look-up compares within about sixteen neighbours: keys are keyed hashes and
//! evenly distributed. Threads share it without a lock; only the bits change. The model is Recoll's
//! existence map.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::{FileKey, FileRow};

/// Approximate number of rows that share an entry of the table.
const ROWS_PER_RANGE: usize = 16;

/// All files that the index knows.
pub struct Catalogue {
    /// Sorted by unique keys.
    rows: Vec<FileRow>,
    /// The first row of each range of keys, and the number of rows.
    starts: Vec<u32>,
    /// Number of bits by which a key is shifted to get its range.
    shift: u32,
    seen: Vec<AtomicU64>,
    /// Indexes of the rows with a token, sorted by identity; made when first needed.
    by_identity: OnceLock<Vec<u32>>,
}

impl Catalogue {
    /// Creates the catalogue of these rows, in any order.
    ///
    /// Keeps one of several rows with the same key, preferably one with a token.
    ///
    /// # Panics
    /// With more than 2³² rows.
    pub fn new(mut rows: Vec<FileRow>) -> Self {
        rows.sort_unstable_by_key(|row| (row.key, !row.token.is_finished()));
        rows.dedup_by_key(|row| row.key);
        assert!(u32::try_from(rows.len()).is_ok(), "too many files");
        let bits = (rows.len() / ROWS_PER_RANGE).max(1).ilog2();
        let shift = 64 - bits;
        Self {
            starts: range_starts(&rows, bits),
            seen: (0..rows.len().div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
            rows,
            shift,
            by_identity: OnceLock::new(),
        }
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the keys of the files that were not indexed completely, are to be tried again, or may have changed since.
    pub fn unsettled(&self) -> impl Iterator<Item = FileKey> + '_ {
        let rows = self.rows.iter();
        rows.filter(|row| !row.token.is_settled())
            .map(|row| row.key)
    }

    /// Returns whether the index knows no file.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the row of a file and marks it as seen.
    pub fn see(&self, key: FileKey) -> Option<&FileRow> {
        let range = range_of(key, self.shift);
        let start = self.starts[range] as usize;
        let end = self.starts[range + 1] as usize;
        let found = self.rows[start..end].binary_search_by_key(&key, |row| row.key);
        let number = start + found.ok()?;
        // Relaxed: the bits are read after the threads of the walk have been joined.
        self.seen[number / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
        Some(&self.rows[number])
    }

    /// Returns the rows not seen so far, by key.
    pub fn unseen(&self) -> impl Iterator<Item = &FileRow> {
        self.rows
            .iter()
            .enumerate()
            .filter(|(number, _)| !self.is_seen(*number))
            .map(|(_, row)| row)
    }

    /// Returns whether a completely indexed file has this identity.
    pub fn has_identity(&self, identity: u64) -> bool {
        let by_identity = self.by_identity.get_or_init(|| self.sort_by_identity());
        by_identity
            .binary_search_by_key(&identity, |&number| self.rows[number as usize].identity)
            .is_ok()
    }

    fn is_seen(&self, number: usize) -> bool {
        self.seen[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }

    fn sort_by_identity(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..)
            .zip(&self.rows)
            .filter(|(_, row)| row.token.is_finished())
            .map(|(number, _)| number)
            .collect();
        numbers.sort_unstable_by_key(|&number| self.rows[number as usize].identity);
        numbers
    }
}

fn range_of(key: FileKey, shift: u32) -> usize {
    // A shift by all 64 bits: there is one range.
    key.0.checked_shr(shift).unwrap_or(0) as usize
}

fn range_starts(rows: &[FileRow], bits: u32) -> Vec<u32> {
    let mut starts = vec![0; (1 << bits) + 1];
    for row in rows {
        starts[range_of(row.key, 64 - bits) + 1] += 1;
    }
    for range in 1..starts.len() {
        starts[range] += starts[range - 1];
    }
    starts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ken_core::Token;
    use proptest::prelude::*;

    use super::*;

    fn row(key: u64, token: u64, identity: u64) -> FileRow {
        FileRow {
            key: FileKey(key),
            token: Token::from_number(token),
            identity,
        }
    }

    #[test]
    fn of_equal_keys_one_with_a_token_is_kept() {
        let catalogue = Catalogue::new(vec![row(7, 0, 1), row(7, 5, 2), row(7, 0, 3)]);
        assert_eq!(catalogue.len(), 1);
        assert_eq!(catalogue.see(FileKey(7)), Some(&row(7, 5, 2)));
    }

    #[test]
    fn files_not_indexed_to_their_end_are_no_source_of_moves() {
        let catalogue = Catalogue::new(vec![row(1, 0, 8), row(2, 3, 9)]);
        assert!(!catalogue.has_identity(8));
        assert!(catalogue.has_identity(9));
        assert!(Catalogue::new(Vec::new()).see(FileKey(1)).is_none());
    }

    /// Keys at both ends, close together and spread.
    fn keys() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            0..40_u64,
            (0..40_u64).prop_map(|n| u64::MAX - n)
        ]
    }

    proptest! {
        #[test]
        fn behaves_as_a_map(
            known in proptest::collection::vec((keys(), 1..9_u64, 0..50_u64), 0..300),
            asked in proptest::collection::vec(keys(), 0..100),
        ) {
            let model: BTreeMap<u64, (u64, u64)> =
                known.iter().map(|&(key, token, identity)| (key, (token, identity))).collect();
            let rows = model.iter().rev().map(|(&key, &(token, identity))| row(key, token, identity));
            let catalogue = Catalogue::new(rows.collect());
            let mut unseen = model.clone();
            for key in asked.into_iter().chain(model.keys().copied().step_by(3)) {
                let expected = model.get(&key).map(|&(token, identity)| row(key, token, identity));
                prop_assert_eq!(catalogue.see(FileKey(key)).copied(), expected);
                unseen.remove(&key);
            }
            let left: Vec<u64> = catalogue.unseen().map(|row| row.key.0).collect();
            prop_assert_eq!(left, unseen.into_keys().collect::<Vec<_>>());
            for identity in 0..50 {
                let known = model.values().any(|value| value.1 == identity);
                prop_assert_eq!(catalogue.has_identity(identity), known);
            }
        }
    }
}
