//! Errors, with the numbers that mu's clients know.

use ken_mail::maildir::MoveError;

use super::SexpError;

/// Why a request fails.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// What happened, for people.
    pub message: String,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is unknown or has the wrong parameters.
    Request,
    /// A parameter has an invalid value.
    Argument,
    /// The request is not an expression.
    Syntax,
    /// The query has a mistake.
    Query,
    /// A file or folder cannot be used.
    File,
    /// The request names no message.
    NoMatch,
    /// The message no longer exists.
    NotFound,
    /// The index cannot be used.
    Index,
}

impl ErrorKind {
    /// Returns the number of mu 1.8.
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Request => 32_811,
            Self::File => 32_814,
            Self::Argument => 32_817,
            Self::NoMatch => 32_820,
            Self::Syntax => 32_821,
            Self::Query => 32_823,
            Self::NotFound => 32_825,
            Self::Index => 32_826,
        }
    }

    /// Returns the number of mu 1.12. mu4e takes 110 as a sign of an old database.
    pub(crate) fn new_code(self) -> i64 {
        match self {
            Self::Request => 102,
            Self::File => 104,
            Self::Index => 105,
            Self::Argument => 107,
            Self::Syntax => 111,
            Self::Query => 113,
            Self::NoMatch | Self::NotFound => 117,
        }
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl From<MoveError> for Error {
    fn from(error: MoveError) -> Self {
        let kind = match &error {
            MoveError::Flags(_) => ErrorKind::Argument,
            MoveError::Gone(_) => ErrorKind::NotFound,
            _ => ErrorKind::File,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorKind::File, error.to_string())
    }
}

impl From<ken_engine::Error> for Error {
    fn from(error: ken_engine::Error) -> Self {
        Self::new(ErrorKind::Index, error.to_string())
    }
}

impl From<ken_pipeline::Error> for Error {
    fn from(error: ken_pipeline::Error) -> Self {
        Self::new(ErrorKind::Index, error.to_string())
    }
}

impl From<ken_search::parse::QueryError> for Error {
    fn from(error: ken_search::parse::QueryError) -> Self {
        Self::new(ErrorKind::Query, error.message)
    }
}

impl From<ken_search::service::Error> for Error {
    fn from(error: ken_search::service::Error) -> Self {
        use ken_search::service::Error;
        match error {
            Error::Query(error) => error.into(),
            Error::Index(error) => error.into(),
            Error::Io(error) => error.into(),
            error => Self::new(ErrorKind::Argument, error.to_string()),
        }
    }
}

impl From<SexpError> for Error {
    fn from(error: SexpError) -> Self {
        Self::new(ErrorKind::Syntax, error.to_string())
    }
}
