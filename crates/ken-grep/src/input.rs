//! What is searched: a file that was named or found, or standard input.

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
    /// The user named no path: files are shown without `./`.
    implicit: bool,
    /// Of a large file, what may match.
    pieces: Option<Arc<Pieces>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    StandardInput,
    Named,
    Found,
}

impl Input {
    /// Returns standard input.
    pub(crate) fn standard_input(implicit: bool) -> Self {
        Self::new(PathBuf::from("<stdin>"), Origin::StandardInput, implicit)
    }

    /// Returns a file that the user named.
    pub(crate) fn named(path: PathBuf, implicit: bool) -> Self {
        Self::new(path, Origin::Named, implicit)
    }

    /// Returns a file that was found below a folder.
    pub(crate) fn found(path: PathBuf, implicit: bool) -> Self {
        Self::new(path, Origin::Found, implicit)
    }

    fn new(path: PathBuf, origin: Origin, implicit: bool) -> Self {
        Self {
            path,
            origin,
            implicit,
            pieces: None,
        }
    }

    /// Takes what an index says of the file's pieces.
    #[must_use]
    pub(crate) fn with(self, pieces: Option<Pieces>) -> Self {
        let pieces = pieces.map(Arc::new);
        Self { pieces, ..self }
    }

    /// Returns which pieces of the file may match, if that is known.
    pub(crate) fn pieces(&self) -> Option<&Pieces> {
        self.pieces.as_deref()
    }

    /// Returns the path as it is shown.
    pub fn path(&self) -> &Path {
        if self.implicit {
            self.path.strip_prefix("./").unwrap_or(&self.path)
        } else {
            &self.path
        }
    }

    /// Returns whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.origin == Origin::StandardInput
    }

    /// Returns whether the user named it, so that no rule leaves it out.
    pub fn is_explicit(&self) -> bool {
        self.origin != Origin::Found
    }

    /// Reads its metadata; those of the file that a symbolic link points to.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs_err::metadata(&self.path)
    }
}
