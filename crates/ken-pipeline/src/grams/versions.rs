//! Which versions of files the index has, in 8 bytes for each: of ten million it is asked while files of grams
//! are merged.

use ken_core::FileRow;
use ken_index::{Error, Snapshot};
use ken_ngram::Version;

use crate::work::UNKNOWN_TOKEN;

/// The part of an entry that tells the stamp; the rest is the upper part of the key.
const STAMP: u64 = (1 << 24) - 1;
/// The stamp of a file that is to be read again because something failed: it is in the index under no stamp.
const ANY: u64 = STAMP;

/// Answers rightly of a version that the index has. Of one in some millions that it has not it says
/// the same: then grams are kept that are of no use.
pub(super) struct Versions(Vec<u64>);

impl Versions {
    /// Those of a commit.
    ///
    /// # Errors
    /// Fails if they cannot be read.
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, Error> {
        let mut entries = Vec::with_capacity(snapshot.n_documents() as usize);
        snapshot.each_row(|row| entries.push(of_row(&row)))?;
        Ok(Self::united(entries))
    }

    fn united(mut entries: Vec<u64>) -> Self {
        entries.sort_unstable();
        // A file with parts has one without a stamp for these, which counts only if it has no other.
        entries.dedup_by(|entry, before| *entry == file(*before) | ANY);
        Self(entries)
    }

    /// Returns whether the index has a file of this version.
    pub(super) fn knows(&self, version: Version) -> bool {
        let file = file(version.key);
        let first = self.0.partition_point(|entry| *entry < file);
        let mut same = self.0[first..]
            .iter()
            .take_while(|entry| **entry <= file | ANY);
        same.any(|entry| *entry == file | stamp(version.stamp) || *entry == file | ANY)
    }
}

fn of_row(row: &FileRow) -> u64 {
    let stamp = match row.token {
        UNKNOWN_TOKEN => ANY,
        token => stamp(token >> 16),
    };
    file(row.key.0) | stamp
}

fn file(key: u64) -> u64 {
    key & !STAMP
}

/// Stamps are hashes: a part of one tells as much as another.
fn stamp(stamp: u64) -> u64 {
    (stamp & STAMP).min(ANY - 1)
}

#[cfg(test)]
mod tests {
    use ken_core::FileKey;

    use super::*;

    fn versions(rows: &[(u64, u64)]) -> Versions {
        let row = |(key, token): &(u64, u64)| FileRow {
            key: FileKey(key << 32),
            token: *token,
            identity: 0,
        };
        Versions::united(rows.iter().map(|of| of_row(&row(of))).collect())
    }

    fn knows(versions: &Versions, key: u64, stamp: u64) -> bool {
        versions.knows(Version {
            key: key << 32,
            stamp,
        })
    }

    #[test]
    fn what_failed_for_now_keeps_its_grams() {
        let versions = versions(&[(2, UNKNOWN_TOKEN), (1, 7 << 16 | 2)]);
        assert!(knows(&versions, 1, 7) && !knows(&versions, 1, 8));
        assert!(knows(&versions, 2, 7), "it is in the index under no stamp");
        assert!(!knows(&versions, 3, 7) && !knows(&versions, 0, 7));
    }

    #[test]
    fn a_file_with_parts_has_the_stamp_of_its_own_document() {
        let versions = versions(&[(1, 0), (1, 7 << 16), (1, 0), (2, 0), (2, 0)]);
        assert!(knows(&versions, 1, 7) && !knows(&versions, 1, 8));
        assert!(knows(&versions, 2, 8), "it was not read to its end");
    }

    #[test]
    fn any_stamp_is_found_again() {
        for stamp in [0, 1, ANY - 1, ANY, ANY + 1, u64::MAX >> 16] {
            let versions = versions(&[(1, stamp << 16 | 1)]);
            assert!(knows(&versions, 1, stamp) && !knows(&versions, 1, stamp ^ 2));
        }
    }
}
