//! Errors with one file or folder of a walk, which itself continues.

use std::io;
use std::path::{Path, PathBuf};

use crate::rules::RuleError;

/// A file or folder that is not accessible.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The folder could not be opened or not be read completely, so its content is unknown.
    #[error("cannot read folder {path:?}: {source}")]
    Folder {
        /// Absolute path of the folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The metadata of the file are not accessible.
    #[error("cannot read {path:?}: {source}")]
    File {
        /// Absolute path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The ignore file could not be read or has invalid patterns; the rest applies.
    #[error("cannot use all of ignore file {path:?}: {message}")]
    Rules {
        /// Absolute path of the ignore file.
        path: PathBuf,
        /// The mistake.
        message: String,
    },
}

impl WalkError {
    /// Returns the path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder { path, .. } | Self::File { path, .. } | Self::Rules { path, .. } => path,
        }
    }
}

impl From<RuleError> for WalkError {
    fn from(error: RuleError) -> Self {
        Self::Rules {
            message: error.message(),
            path: error.path,
        }
    }
}
