//! What a commit says about the index as a whole, stored as the commit's payload.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};

use ken_core::{FieldNames, KeyHasher, Reading, Root};
use serde::{Deserialize, Serialize};

/// What a commit says about the index as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Makes the keys of this index.
    pub hasher: KeyHasher,
    /// What the index covers.
    pub roots: Vec<Root>,
    /// When the last run that was not stopped was committed, seconds since 1970-01-01 UTC; absent
    /// if none was.
    pub completed: Option<i64>,
    /// How the run that made the commit read files.
    #[serde(default)]
    pub reading: Reading,
    /// The number of `reading`; never 0 once a run committed.
    #[serde(default)]
    pub edition: u16,
    /// How files whose token tells another edition may have been read; empty if it makes no
    /// difference.
    #[serde(default)]
    pub earlier: Vec<Reading>,
    /// Helpers that files wait for, as the failures of these name them.
    #[serde(default)]
    pub missing: BTreeSet<String>,
    /// Languages in which the text of pictures was recognised last; empty if it never was.
    #[serde(default)]
    pub ocr_languages: String,
    /// Whether a run saw all files below these roots to its end.
    #[serde(default)]
    pub all_seen: bool,
    /// The files that have, together, the grams of all files that the commit knows: see `ken-ngram`;
    /// absent if not all have theirs.
    #[serde(default)]
    pub gram_files: Option<BTreeSet<u64>>,
    /// Bytes of the log of tags that the index has; see `ken-pipeline`.
    #[serde(default)]
    pub tags: u64,
    /// A hash of these bytes.
    #[serde(default)]
    pub tags_hash: u64,
    /// Documents were lost with a damaged segment: files that hold others may lack some of them until a
    /// run has seen all.
    #[serde(default)]
    pub parts_lost: bool,
    /// When the last run began that saw all files, in nanoseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub began: Option<i64>,
}

impl Meta {
    /// Returns what the fields of the index are called.
    pub fn field_names(&self) -> FieldNames {
        FieldNames::new(&self.reading.headers)
    }

    /// Returns the meta of a new index, with a random key.
    #[expect(clippy::new_without_default, reason = "two new indexes differ")]
    pub fn new() -> Self {
        // The standard library seeds this hasher from the system's random numbers.
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Self {
            hasher: KeyHasher::new(random(), random()),
            roots: Vec::new(),
            completed: None,
            reading: Reading::default(),
            edition: 0,
            earlier: Vec::new(),
            missing: BTreeSet::new(),
            ocr_languages: String::new(),
            all_seen: false,
            gram_files: None,
            tags: 0,
            tags_hash: 0,
            parts_lost: false,
            began: None,
        }
    }
}
