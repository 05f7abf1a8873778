//! Which files need no scan, because an index says that they cannot match.
//!
//! The seam between the walk and the index of n-grams: for each file that the walk finds, the scan
//! asks whether it *certainly* has no match. No is always a right answer, so whatever an index does
//! not know, or knows under another stamp, is scanned.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// What an index knows of one pattern. Asked by many threads at once, without a lock.
#[derive(Debug, Default)]
pub struct Narrow {}

impl Narrow {
    /// Knows of no file.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Returns whether there is nothing to ask, so that nobody asks for each file.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Returns whether the file certainly has no match. Its metadata is read only if the answer
    /// depends on it: whoever walks has not read it.
    pub fn excludes(&self, _path: &Path, _metadata: &dyn Fn() -> io::Result<Metadata>) -> bool {
        false
    }

    /// Returns why files were excluded, or why none were, in words for `--explain`.
    pub fn explain(&self) -> String {
        "no index was asked".to_owned()
    }

    /// Returns the files below a folder that may match, for those who trust the index without a
    /// walk; none if the index does not cover the folder.
    pub fn candidates(&self, _root: &Path) -> Option<Box<dyn Iterator<Item = PathBuf> + '_>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_knows_nothing_excludes_nothing() {
        let narrow = Narrow::nothing();
        let metadata = || Err(io::ErrorKind::NotFound.into());
        assert!(!narrow.excludes(Path::new("/a"), &metadata));
        assert!(narrow.candidates(Path::new("/")).is_none());
    }
}
