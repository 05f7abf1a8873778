//! The data that this engine stores with each commit.

use std::path::Path;

use ken_engine::{Error, Meta};
use serde::{Deserialize, Serialize};
use tantivy::{Directory, Index};

use crate::error;
use crate::layout::COMMIT_FILE;
use crate::version::{FORMAT, OLDEST};

/// The payload of a commit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Payload {
    /// Version of the format.
    format: u32,
    /// The number of deletions so far; see [`crate::writer::deletion`].
    pub(crate) sequence: u64,
    #[serde(flatten)]
    pub(crate) meta: Meta,
}

impl Payload {
    /// Returns the payload of a commit that this program makes.
    pub(crate) fn new(meta: Meta, sequence: u64) -> Self {
        Self {
            format: FORMAT,
            sequence,
            meta,
        }
    }

    /// Returns the payload as it is stored.
    pub(crate) fn to_json(&self) -> String {
        // A struct of numbers, paths and text always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A commit, without its segments.
pub(crate) struct Commit {
    /// The number of the engine's operation that made it.
    pub(crate) number: u64,
    pub(crate) payload: Payload,
}

/// Reads the last commit; none before the first.
pub(crate) fn read_commit(path: &Path, index: &Index) -> Result<Option<Commit>, Error> {
    /// The parts of the engine's list of segments that are wanted. The list is long.
    #[derive(Deserialize)]
    struct List {
        payload: Option<String>,
        opstamp: u64,
    }

    let damaged = |error: serde_json::Error| Error::Damaged {
        path: path.to_path_buf(),
        message: format!("its commit cannot be read: {error}"),
    };
    let list = index.directory().atomic_read(Path::new(COMMIT_FILE));
    let list = list.map_err(|source| error::engine_error(path, source.into()))?;
    let list: List = serde_json::from_slice(&list).map_err(damaged)?;
    let Some(payload) = list.payload else {
        return Ok(None);
    };
    let payload: Payload = serde_json::from_str(&payload).map_err(damaged)?;
    if !(OLDEST..=FORMAT).contains(&payload.format) {
        return Err(Error::Version {
            path: path.to_path_buf(),
            found: payload.format,
            expected: FORMAT,
        });
    }
    Ok(Some(Commit {
        number: list.opstamp,
        payload,
    }))
}
