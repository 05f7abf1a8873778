//! What a commit says about the index as a whole, stored as the commit's payload.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use ken_core::{FieldNames, KeyHasher, Reading, Root};
use serde::{Deserialize, Serialize};
use tantivy::{Directory, Index};

use crate::Error;
use crate::layout::COMMIT_FILE;
use crate::version::{FORMAT, OLDEST};

/// What a commit says about the index as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the format.
    pub(crate) format: u32,
    /// Makes the keys of this index.
    pub hasher: KeyHasher,
    /// What the index covers.
    pub roots: Vec<Root>,
    /// When the last run that was not stopped was committed, seconds since 1970-01-01 UTC; absent
    /// if none was.
    pub completed: Option<i64>,
    /// How many deletions there were: see [`crate::writer::deletion`].
    pub(crate) sequence: u64,
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
    pub(crate) fn new() -> Self {
        // The standard library seeds this hasher from the system's random numbers.
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Self {
            format: FORMAT,
            hasher: KeyHasher::new(random(), random()),
            roots: Vec::new(),
            completed: None,
            sequence: 0,
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

/// Reads the meta of the last commit; none before the first.
pub(crate) fn read_meta(path: &Path, index: &Index) -> Result<Option<Meta>, Error> {
    /// What is wanted of the engine's list of segments, which is long.
    #[derive(serde::Deserialize)]
    struct Commit {
        payload: Option<String>,
    }

    let damaged = |error: serde_json::Error| Error::Damaged {
        path: path.to_path_buf(),
        message: format!("its commit cannot be read: {error}"),
    };
    let commit = index.directory().atomic_read(Path::new(COMMIT_FILE));
    let commit = commit.map_err(|source| Error::Engine {
        path: path.to_path_buf(),
        source: source.into(),
    })?;
    let commit: Commit = serde_json::from_slice(&commit).map_err(damaged)?;
    let Some(payload) = commit.payload else {
        return Ok(None);
    };
    let mut meta: Meta = serde_json::from_str(&payload).map_err(damaged)?;
    if !(OLDEST..=FORMAT).contains(&meta.format) {
        return Err(Error::Version {
            path: path.to_path_buf(),
            found: meta.format,
            expected: FORMAT,
        });
    }
    // Of the next commit.
    meta.format = FORMAT;
    Ok(Some(meta))
}
