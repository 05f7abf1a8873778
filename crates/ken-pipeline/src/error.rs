//! Why a run could not go on.

use std::path::PathBuf;

/// Why a run could not go on. What went wrong with a single file is not among this: it is stored
/// with the file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path to be added as a root cannot be used.
    #[error("cannot index \"{}\": {source}", path.display())]
    Root {
        /// The path as given.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A path to be forgotten is not a root.
    #[error("\"{}\" is not a root of the index", .0.display())]
    NotARoot(PathBuf),
    /// More headers are to be fields than there are fields for them.
    #[error(
        "there can be at most 8 custom fields, and {0} are configured or still in the index: run `ken index` once without the old ones"
    )]
    Headers(usize),
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] std::io::Error),
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] ken_engine::Error),
}
