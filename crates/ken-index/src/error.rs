//! Turns errors of the engine into errors of an index.

use std::fmt;
use std::io;
use std::path::Path;

use ken_engine::Error;
use tantivy::TantivyError;
use tantivy::directory::error::{OpenReadError, OpenWriteError};

use crate::layout::COMMIT_FILE;

/// Returns what an error means that the engine reports when it opens an index. A damaged list of segments is
/// [`Error::Damaged`].
pub(crate) fn of_opening(path: &Path, source: TantivyError) -> Error {
    let message = match &source {
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
            if io_error.kind() == io::ErrorKind::InvalidData
                && filepath == Path::new(COMMIT_FILE) =>
        {
            Some(io_error.to_string())
        }
        // The engine would print all of it.
        TantivyError::DataCorruption(_) => source
            .to_string()
            .split(" Content: ")
            .next()
            .map(str::to_owned),
        _ => None,
    };
    match message {
        Some(message) => Error::Damaged {
            path: path.to_path_buf(),
            message,
        },
        None => engine_error(path, source),
    }
}

/// Returns the error of an index that the engine cannot read or write.
pub(crate) fn engine_error(path: &Path, source: TantivyError) -> Error {
    Error::Engine {
        path: path.to_path_buf(),
        is_damage: is_damage(&source),
        source: Box::new(Cause(source)),
    }
}

fn is_damage(source: &TantivyError) -> bool {
    let by_kind = |kind| {
        matches!(
            kind,
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        )
    };
    match source {
        TantivyError::DataCorruption(_) => true,
        TantivyError::IoError(error) => by_kind(error.kind()),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            by_kind(io_error.kind())
        }
        TantivyError::OpenReadError(_) => true,
        _ => false,
    }
}

/// An error of the engine, in words for people: the engine prints some of its errors in the form of the program's own
/// structures.
#[derive(Debug)]
struct Cause(TantivyError);

impl std::error::Error for Cause {}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
                write!(f, "the file \"{}\" is missing", file.display())
            }
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
                write!(f, "{io_error} (\"{}\")", filepath.display())
            }
            TantivyError::OpenWriteError(OpenWriteError::FileAlreadyExists(file)) => {
                write!(f, "the file \"{}\" exists already", file.display())
            }
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
                write!(f, "{io_error} (\"{}\")", filepath.display())
            }
            TantivyError::IoError(error) => write!(f, "{error}"),
            other => write!(f, "{other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn errors_of_the_engine_are_in_words() {
        let read = |kind| {
            let io_error = Arc::new(io::Error::new(kind, "permission denied"));
            let filepath = Path::new("a.store").to_path_buf();
            let error = OpenReadError::IoError { io_error, filepath };
            engine_error(Path::new("/data/index"), error.into())
        };
        let denied = read(io::ErrorKind::PermissionDenied);
        assert_eq!(
            denied.to_string(),
            "the index in \"/data/index\" cannot be read: permission denied (\"a.store\")"
        );
        assert!(!denied.is_damage());
        assert!(read(io::ErrorKind::UnexpectedEof).is_damage());
        let missing = OpenReadError::FileDoesNotExist(Path::new("a.idx").to_path_buf());
        let missing = engine_error(Path::new("/data/index"), missing.into());
        assert!(missing.is_damage());
        assert!(
            missing
                .to_string()
                .ends_with("the file \"a.idx\" is missing"),
            "{missing}"
        );
    }
}
