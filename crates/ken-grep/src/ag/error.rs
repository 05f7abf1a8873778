//! Why a search cannot begin, or not go on.

/// Why a search cannot begin, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The regular expression has a mistake, in ag's words.
    #[error(
        "Bad regex! pcre_compile() failed at position {position}: {reason}\n\
         If you meant to search for a literal string, run ag with -Q"
    )]
    Pattern {
        /// Where, in bytes.
        position: usize,
        /// What is wrong.
        reason: String,
    },
    /// Whoever read the output is gone, or it cannot be written.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}
