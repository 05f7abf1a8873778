//! What can go wrong with one file or folder of a walk; the walk itself goes on.

use std::io;
use std::path::{Path, PathBuf};

use crate::rules::RuleError;

/// A file or folder that could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The folder could not be opened or not be read to its end: what lies below is unknown.
    #[error("cannot read folder {path:?}: {source}")]
    Folder {
        /// Absolute path of the folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be looked at.
    #[error("cannot look at {path:?}: {source}")]
    File {
        /// Absolute path of the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The ignore file could not be read or has lines that are no patterns; the rest applies.
    #[error("cannot use all of ignore file {path:?}: {message}")]
    Rules {
        /// Absolute path of the ignore file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl ScanError {
    /// Returns the path that the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder { path, .. } | Self::File { path, .. } | Self::Rules { path, .. } => path,
        }
    }
}

impl From<RuleError> for ScanError {
    fn from(error: RuleError) -> Self {
        Self::Rules {
            message: error.message(),
            path: error.path,
        }
    }
}
