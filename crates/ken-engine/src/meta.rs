//! The metadata of a commit, which describe the index as a whole. They are stored as the commit's payload.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};

use ken_core::{FieldNames, KeyHasher, Profile, Root};
use serde::{Deserialize, Serialize};

/// The metadata of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Makes the keys of this index.
    pub hasher: KeyHasher,
    /// The roots of the index.
    pub roots: Vec<Root>,
    /// The time of the last commit of a complete run, in seconds since 1970-01-01 UTC; absent if there
    /// was none.
    pub completed: Option<i64>,
    /// The extraction profile of the run that made the commit.
    #[serde(default, rename = "reading")]
    pub profile: Profile,
    /// The generation of `profile`; never 0 once a run committed.
    #[serde(default, rename = "edition")]
    pub generation: u16,
    /// The earlier profiles, with which files of other generations may have been read; empty if no file is stale for it.
    #[serde(default)]
    pub earlier: Vec<Profile>,
    /// Helpers that files wait for, as the failures of these name them.
    #[serde(default)]
    pub missing: BTreeSet<String>,
    /// The languages of the last recognition of text in pictures; empty if there was none.
    #[serde(default)]
    pub ocr_languages: String,
    /// Whether a run saw all files below these roots to its end.
    #[serde(default)]
    pub all_seen: bool,
    /// The n-gram segments that together have the n-grams of all files of the commit (see `ken-ngram`);
    /// absent if some files have none.
    #[serde(default, rename = "gram_files")]
    pub ngram_files: Option<BTreeSet<u64>>,
    /// The number of bytes of the log of tags that are in the index; see `ken-pipeline`.
    #[serde(default)]
    pub tags: u64,
    /// A hash of these bytes.
    #[serde(default)]
    pub tags_hash: u64,
    /// Whether documents were lost with a damaged segment. Containers may lack members until a run has
    /// seen all files.
    #[serde(default)]
    pub parts_lost: bool,
    /// The start of the last run that saw all files, in nanoseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub began: Option<i64>,
    /// The process that had a run under way when it made the commit, by a random number. A file that the run had begun
    /// to read may be missing, even if it did not change. Absent once a run over all files has ended after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<u64>,
}

impl Meta {
    /// Returns the names of the fields of the index.
    pub fn field_names(&self) -> FieldNames {
        FieldNames::new(&self.profile.headers)
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
            profile: Profile::default(),
            generation: 0,
            earlier: Vec::new(),
            missing: BTreeSet::new(),
            ocr_languages: String::new(),
            all_seen: false,
            ngram_files: None,
            tags: 0,
            tags_hash: 0,
            parts_lost: false,
            began: None,
            under_way: None,
        }
    }
}
