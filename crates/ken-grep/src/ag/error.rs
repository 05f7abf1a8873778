//! Errors that prevent or end a search.

/// Errors that prevent or end a search.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The regular expression has a mistake, described in ag's words.
    #[error(
        "Bad regex! pcre_compile() failed at position {position}: {reason}\n\
         If you meant to search for a literal string, run ag with -Q"
    )]
    Pattern {
        /// Position of the mistake in bytes.
        position: usize,
        /// What is wrong.
        reason: String,
    },
    /// The output cannot be written, or its reader is gone.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
