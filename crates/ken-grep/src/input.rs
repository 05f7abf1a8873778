//! What the walk found, as something that can be searched.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use ignore::DirEntry;

use crate::Observer;

/// A file, or standard input.
#[derive(Clone, Debug)]
pub struct Input {
    entry: DirEntry,
    /// The user named no path: files are shown without `./`.
    implicit: bool,
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
        let input = Self { entry, implicit };
        (input.is_explicit() || input.is_file()).then_some(input)
    }

    /// Returns the path as it is shown.
    pub fn path(&self) -> &Path {
        let path = self.entry.path();
        if self.implicit {
            path.strip_prefix("./").unwrap_or(path)
        } else {
            path
        }
    }

    /// Returns whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.entry.is_stdin()
    }

    /// Returns whether the user named it, so that no rule leaves it out.
    pub fn is_explicit(&self) -> bool {
        self.is_stdin() || (self.entry.depth() == 0 && !self.is_folder())
    }

    /// Reads its metadata; those of the file that a symbolic link points to, if links are followed.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.entry.metadata().map_err(io::Error::other)
    }

    fn is_file(&self) -> bool {
        self.entry.file_type().is_some_and(|kind| kind.is_file())
    }

    fn is_folder(&self) -> bool {
        let Some(kind) = self.entry.file_type() else {
            return false;
        };
        // A path that the user named may be a link to a folder.
        kind.is_dir() || (self.entry.path_is_symlink() && self.entry.path().is_dir())
    }
}
