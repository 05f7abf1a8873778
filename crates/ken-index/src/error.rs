//! What can go wrong with an index.

use std::io;
use std::path::{Path, PathBuf};

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

use crate::layout::COMMIT_FILE;

/// Why an index could not be read or written. Each names the index's folder.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no index in the folder.
    #[error("there is no index in \"{}\"", .0.display())]
    Missing(PathBuf),
    /// Another process is writing the index.
    #[error("another process is writing the index in \"{}\"", .0.display())]
    Busy(PathBuf),
    /// The index was written by another version of the format.
    #[error("the index in \"{}\" has format {found}, but this program reads format {expected}", path.display())]
    Version {
        /// Folder of the index.
        path: PathBuf,
        /// Format of the index.
        found: u32,
        /// Format of this program.
        expected: u32,
    },
    /// The index's files contradict each other or are damaged.
    #[error("the index in \"{}\" is damaged: {message}", path.display())]
    Damaged {
        /// Folder of the index.
        path: PathBuf,
        /// What was found.
        message: String,
    },
    /// The folder could not be made or written.
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    /// What is asked for cannot be looked for: a pattern that takes too much.
    #[error("the query cannot be answered: {0}")]
    Query(String),
    /// The engine failed, for instance because the disk is full.
    #[error("the index in \"{}\" cannot be read: {source}", path.display())]
    Engine {
        /// Folder of the index.
        path: PathBuf,
        /// What the engine says.
        source: tantivy::TantivyError,
    },
}

impl Error {
    /// Returns what an error of the engine means when it opens an index: damage of the list of segments is
    /// told from other failures.
    pub(crate) fn of_opening(path: &Path, source: TantivyError) -> Self {
        let message = match &source {
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
                if io_error.kind() == io::ErrorKind::InvalidData
                    && filepath == Path::new(COMMIT_FILE) =>
            {
                Some(io_error.to_string())
            }
            // The engine would print all of it.
            TantivyError::DataCorruption(_) => source
                .to_string()
                .split(" Content: ")
                .next()
                .map(str::to_owned),
            _ => None,
        };
        let path = path.to_path_buf();
        match message {
            Some(message) => Self::Damaged { path, message },
            None => Self::Engine { path, source },
        }
    }

    /// Returns whether a file of a segment is damaged, which `check` tells more of.
    pub fn is_damage(&self) -> bool {
        let Self::Engine { source, .. } = self else {
            return false;
        };
        match source {
            TantivyError::DataCorruption(_) => true,
            TantivyError::IoError(error) => is_damage(error.kind()),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
                is_damage(io_error.kind())
            }
            TantivyError::OpenReadError(_) => true,
            _ => false,
        }
    }
}

fn is_damage(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}
