//! An input of a search: a file that was named or found, or standard input.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::pieces::Pieces;

/// A file, or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    origin: Origin,
    /// Whether the user named no path: files are then shown without `./`.
    implicit: bool,
    /// Whether its file system may not answer.
    is_remote: bool,
    /// The pieces of a large file that may match.
    pieces: Option<Arc<Pieces>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    StandardInput,
    Named,
    Found,
}

impl Input {
    /// Creates standard input.
    pub(crate) fn standard_input(implicit: bool) -> Self {
        Self::new(PathBuf::from("<stdin>"), Origin::StandardInput, implicit)
    }

    /// Creates a file that the user named.
    pub(crate) fn named(path: PathBuf, implicit: bool) -> Self {
        Self::new(path, Origin::Named, implicit)
    }

    /// Creates a file that was found below a folder.
    pub(crate) fn found(path: PathBuf, implicit: bool) -> Self {
        Self::new(path, Origin::Found, implicit)
    }

    fn new(path: PathBuf, origin: Origin, implicit: bool) -> Self {
        Self {
            path,
            origin,
            implicit,
            is_remote: false,
            pieces: None,
        }
    }

    /// Sets the pieces of the file that an index rules out.
    #[must_use]
    pub(crate) fn with(self, pieces: Option<Pieces>) -> Self {
        let pieces = pieces.map(Arc::new);
        Self { pieces, ..self }
    }

    /// Sets whether the file system of the file may not answer.
    #[must_use]
    pub(crate) fn on(self, is_remote: bool) -> Self {
        Self { is_remote, ..self }
    }

    /// Returns whether the file system of the file may not answer.
    pub(crate) fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Returns the pieces of the file that may match, if they are known.
    pub(crate) fn pieces(&self) -> Option<&Pieces> {
        self.pieces.as_deref()
    }

    /// Returns the path as displayed.
    pub fn path(&self) -> &Path {
        if self.implicit {
            self.path.strip_prefix("./").unwrap_or(&self.path)
        } else {
            &self.path
        }
    }

    /// Returns whether the input is standard input.
    pub fn is_stdin(&self) -> bool {
        self.origin == Origin::StandardInput
    }

    /// Returns whether the user named the file, so that no rule leaves it out.
    pub fn is_explicit(&self) -> bool {
        self.origin != Origin::Found
    }

    /// Reads the metadata of the file; for a symbolic link, those of its target.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs_err::metadata(&self.path)
    }
}
