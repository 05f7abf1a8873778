//! Why a request has no answer.

use std::io;
use std::path::PathBuf;

use crate::parse::QueryError;
use crate::terms::TermsError;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The query cannot be understood.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] ken_engine::Error),
    /// A part of the request names something that there is not.
    #[error("{part} {name}: {known}")]
    Name {
        /// The part of the request, such as `sort`.
        part: &'static str,
        /// What it names.
        name: String,
        /// What it can name.
        known: String,
    },
    /// The index does not know the document that the request is about.
    #[error("\"{}\" is not in the index", .0.display())]
    NotIndexed(PathBuf),
    /// The pattern of terms has a mistake.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// There is no such field, or it has numbers.
    #[error(
        "{}", match is_known {
            true => format!("the field {field:?} holds numbers, not terms"),
            false => format!("there is no field {field:?}"),
        }
    )]
    NoTerms {
        /// The name.
        field: String,
        /// Whether there is such a field.
        is_known: bool,
    },
    /// A regular expression has a mistake.
    #[error("\"{pattern}\" is no regular expression: {message}")]
    Pattern {
        /// The expression.
        pattern: String,
        /// What is wrong.
        message: String,
    },
    /// A path cannot be resolved.
    #[error(transparent)]
    Io(#[from] io::Error),
}
