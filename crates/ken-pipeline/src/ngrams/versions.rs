//! The versions of files in the index, in 8 bytes each: they are looked up while n-gram segments
//! are merged, in an index of up to ten million files.

use ken_core::FileRow;
use ken_engine::{Error, Source};
use ken_ngram::Version;

/// The part of an entry that holds the stamp; the rest is the upper part of the key.
const STAMP: u64 = (1 << 16) - 1;
/// The stamp of a file that must be read again because of a failure: the index has it under no
/// stamp.
const ANY: u64 = STAMP;
/// The stamp of a file with parts that has no other one, because it was not read completely.
const PARTS: u64 = STAMP - 1;

/// A set of versions. The answer is right for a version of a file that was read completely, and for
/// any file that must be read again. For one in 65,000 versions that the index no longer has, the
/// answer is wrongly yes, which keeps useless n-grams. Files that were not read completely are
/// mistaken for others' parts in fewer than one of millions.
pub(super) struct Versions(Vec<u64>);

impl Versions {
    /// Reads the versions of a commit.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(super) fn of(snapshot: &dyn Source) -> Result<Self, Error> {
        let mut entries = Vec::with_capacity(snapshot.n_documents() as usize);
        snapshot
            .files()
            .each_row(&mut |row, is_own| entries.push(of_row(&row, is_own)))?;
        Ok(Self::united(entries))
    }

    fn united(mut entries: Vec<u64>) -> Self {
        entries.sort_unstable();
        // The entry of the parts counts only if the file has no other entry.
        entries.dedup_by(|entry, before| *entry == file(*before) | PARTS);
        Self(entries)
    }

    /// Returns whether the index has a file in this version.
    pub(super) fn knows(&self, version: Version) -> bool {
        let file = file(version.key);
        let first = self.0.partition_point(|entry| *entry < file);
        let mut same = self.0[first..]
            .iter()
            .take_while(|entry| **entry <= file | ANY);
        same.any(|entry| *entry == file | stamp(version.stamp) || *entry >= file | PARTS)
    }
}

fn of_row(row: &FileRow, is_own: bool) -> u64 {
    let stamp = match is_own {
        false => PARTS,
        true if !row.token.is_finished() => ANY,
        true => stamp(row.token.stamp_hash()),
    };
    file(row.key.0) | stamp
}

fn file(key: u64) -> u64 {
    key & !STAMP
}

/// Shortens a stamp; stamps are hashes, so a part of one distinguishes as well as another part.
fn stamp(stamp: u64) -> u64 {
    (stamp & STAMP).min(PARTS - 1)
}

#[cfg(test)]
mod tests {
    use ken_core::{FileKey, Token};

    use super::*;

    fn row(key: u64, token: u64) -> FileRow {
        FileRow {
            key: FileKey(key << 32),
            token: Token::from_number(token),
            identity: 0,
        }
    }

    const UNFINISHED: u64 = Token::UNFINISHED.number();

    fn own(rows: &[(u64, u64)]) -> Vec<u64> {
        let rows = rows.iter().map(|(key, token)| row(*key, *token));
        rows.map(|row| of_row(&row, true)).collect()
    }

    fn knows(versions: &Versions, key: u64, stamp: u64) -> bool {
        versions.knows(Version {
            key: key << 32,
            stamp,
        })
    }

    #[test]
    fn what_failed_for_now_keeps_its_n_grams() {
        let versions = Versions::united(own(&[(2, UNFINISHED), (1, 7 << 16 | 2)]));
        assert!(knows(&versions, 1, 7) && !knows(&versions, 1, 8));
        assert!(knows(&versions, 2, 7), "it is in the index under no stamp");
        assert!(!knows(&versions, 3, 7) && !knows(&versions, 0, 7));
        // Two files whose keys begin alike are both kept.
        let alike = Versions::united(own(&[(1, UNFINISHED), (1, 7 << 16)]));
        assert!(knows(&alike, 1, 7) && knows(&alike, 1, 8));
    }

    #[test]
    fn a_file_with_parts_has_the_stamp_of_its_own_document() {
        let parts = [1, 1, 2, 2, 3].map(|key| of_row(&row(key, 0), false));
        let entries = [own(&[(1, 7 << 16), (3, UNFINISHED)]), parts.to_vec()].concat();
        let versions = Versions::united(entries);
        assert!(knows(&versions, 1, 7) && !knows(&versions, 1, 8));
        assert!(knows(&versions, 2, 8), "it was not read to its end");
        assert!(knows(&versions, 3, 8));
    }

    #[test]
    fn any_stamp_is_found_again() {
        for stamp in [0, 1, PARTS - 1, PARTS, ANY, ANY + 1, u64::MAX >> 16] {
            let versions = Versions::united(own(&[(1, stamp << 16 | 1)]));
            assert!(knows(&versions, 1, stamp) && !knows(&versions, 1, stamp ^ 4));
        }
    }
}
