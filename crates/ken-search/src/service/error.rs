//! Why a request fails.

use std::io;
use std::path::PathBuf;

use crate::parse::QueryError;
use crate::terms::TermsError;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The query cannot be understood.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] ken_engine::Error),
    /// A part of the request names something that does not exist.
    #[error("{part} {name}: {known}")]
    Name {
        /// The part of the request, such as `sort`.
        part: &'static str,
        /// The unknown name.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// The index does not know the document that the request is about.
    #[error("\"{}\" is not in the index", .0.display())]
    NotIndexed(PathBuf),
    /// The pattern of terms has a mistake.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The field does not exist, or it holds numbers.
    #[error(
        "{}", match is_known {
            true => format!("the field {field:?} holds numbers, not terms"),
            false => format!("there is no field {field:?}"),
        }
    )]
    NoTerms {
        /// The name of the field.
        field: String,
        /// Whether the field exists.
        is_known: bool,
    },
    /// A regular expression is invalid.
    #[error("\"{pattern}\" is not a regular expression: {message}")]
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
