//! Errors that end a run.

use std::path::PathBuf;

/// Errors that end a run. Problems with a single file are not among them: they are stored with the
/// file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path to be added as a root cannot be used.
    #[error("cannot index \"{}\": {source}", path.display())]
    Root {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A path to be forgotten is not a root.
    #[error("\"{}\" is not a root of the index", .0.display())]
    NotARoot(PathBuf),
    /// There are more custom fields than the index has room for.
    #[error(
        "there can be at most 8 custom fields, and {0} are configured or still in the index: run `ken index` once without the old ones"
    )]
    Headers(usize),
    /// There is an index where another one was to be copied.
    #[error("there is already an index in \"{0}\"")]
    Occupied(String),
    /// An index in the data folder has no shards.
    #[error("an index in the data folder has no shards: engine.kind is \"embedded\"")]
    NoShards,
    /// Another machine has the run, and its settings or helpers would give its files another text.
    #[error("another machine has a run under way, and this one would read its files otherwise")]
    ReadsOtherwise,
    /// Another machine has the run, and notes who may read each file, which this one would not.
    #[error(
        "another machine has a run under way that notes who may read each file, and this one would not: access.enforce is off"
    )]
    KeepsRights,
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] std::io::Error),
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] ken_engine::Error),
}
