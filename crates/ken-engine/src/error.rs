//! Why an index cannot be read or written.

use std::path::PathBuf;

/// Why an index cannot be read or written. Each error names the index.
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
    /// The index outside the data folder has another schema.
    #[error("the index in \"{}\" was filled by another version of ken, which writes other fields or terms", .0.display())]
    Schema(PathBuf),
    /// The index's files contradict each other or are damaged.
    #[error("the index in \"{}\" is damaged: {message}", path.display())]
    Damaged {
        /// Folder of the index.
        path: PathBuf,
        /// The damage.
        message: String,
    },
    /// The folder could not be made or written.
    #[error(transparent)]
    Folder(#[from] std::io::Error),
    /// The engine cannot look for what the query asks, for instance for a pattern that takes too much memory.
    #[error("the query cannot be answered: {0}")]
    Query(String),
    /// The engine failed, for instance because the disk is full.
    #[error("the index in \"{}\" cannot be read: {source}", path.display())]
    Engine {
        /// Folder of the index.
        path: PathBuf,
        /// Whether a file of the index is damaged.
        is_damage: bool,
        /// The error of the engine.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Returns whether a file of the index is damaged, so that a check of the index shows more.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Engine {
                is_damage: true,
                ..
            }
        )
    }
}
