//! Why a command fails.

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sentence says it.
    #[error("{0}")]
    Said(String),
    /// The query has a mistake, or the index cannot be read.
    #[error(transparent)]
    Search(#[from] ken_search::service::Error),
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] ken_engine::Error),
    /// The index cannot be written.
    #[error(transparent)]
    Update(#[from] ken_pipeline::Error),
    /// A file cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Error {
    pub(crate) fn said(message: impl Into<String>) -> Self {
        Self::Said(message.into())
    }
}
