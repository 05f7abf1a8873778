//! Why a command fails.

/// Why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The sentence says it.
    #[error("{0}")]
    Said(String),
    /// A query that is an s-expression has a mistake.
    #[error("Syntax error in query\n{0}")]
    Syntax(String),
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
    pub(crate) fn syntax(message: impl Into<String>) -> Self {
        Self::Syntax(message.into())
    }

    pub(crate) fn said(message: impl Into<String>) -> Self {
        Self::Said(message.into())
    }
}
