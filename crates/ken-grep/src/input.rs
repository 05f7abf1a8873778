//! What the walk found, as something that can be searched.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::DirEntry;

use crate::Observer;
use crate::pieces::Pieces;

/// A file, or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    sort: Sort,
    /// The user named no path: files are shown without `./`.
    implicit: bool,
    /// Of a large file, what may match.
    pieces: Option<Arc<Pieces>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    StandardInput,
    Explicit,
    Found,
}

impl Input {
    /// Takes what the walk found; none if it is a folder, a socket or the like, or an error, which
    /// is told.
    pub fn new(
        found: Result<DirEntry, ignore::Error>,
        implicit: bool,
        observer: &dyn Observer,
    ) -> Option<Self> {
        let entry = match found {
            Ok(entry) => entry,
            Err(error) => {
                observer.failed(&error.to_string());
                return None;
            }
        };
        if let Some(error) = entry.error() {
            observer.bad_rule(&error.to_string());
        }
        let sort = if entry.is_stdin() {
            Sort::StandardInput
        } else if entry.depth() == 0 && !is_folder(&entry) {
            Sort::Explicit
        } else if entry.file_type().is_some_and(|kind| kind.is_file()) {
            Sort::Found
        } else {
            return None;
        };
        Some(Self {
            path: entry.into_path(),
            sort,
            implicit,
            pieces: None,
        })
    }

    /// Takes a file that was found below a folder.
    pub(crate) fn file(path: PathBuf, implicit: bool) -> Self {
        Self {
            path,
            sort: Sort::Found,
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
        self.sort == Sort::StandardInput
    }

    /// Returns whether the user named it, so that no rule leaves it out.
    pub fn is_explicit(&self) -> bool {
        self.sort != Sort::Found
    }

    /// Reads its metadata; those of the file that a symbolic link points to.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs_err::metadata(&self.path)
    }
}

fn is_folder(entry: &DirEntry) -> bool {
    let Some(kind) = entry.file_type() else {
        return false;
    };
    // A path that the user named may be a link to a folder.
    kind.is_dir() || (entry.path_is_symlink() && entry.path().is_dir())
}
