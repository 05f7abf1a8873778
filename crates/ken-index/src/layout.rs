//! The names of folders and files on disk.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tantivy::index::SegmentId;

/// The file that names the segments of the last commit. A commit replaces it.
pub(crate) const COMMIT_FILE: &str = "meta.json";

/// The file that names damaged segments, which readers leave out.
pub(crate) const DAMAGED_FILE: &str = ".damaged";

/// The extension of a list of terms.
pub(crate) const TERM_LIST: &str = "words";

/// Returns the folder of the index in a data folder.
pub fn index_folder(data: &Path) -> PathBuf {
    data.join("index")
}

/// Returns the file in the folder of an index that each commit replaces.
pub fn commit_file(index: &Path) -> PathBuf {
    index.join(COMMIT_FILE)
}

/// Returns the folder of the n-gram segments in the folder of an index.
pub fn ngrams_folder(index: &Path) -> PathBuf {
    index.join("ngrams")
}

/// Returns the name of the list of terms of a segment.
pub(crate) fn term_list(segment: SegmentId) -> PathBuf {
    PathBuf::from(segment.uuid_string()).with_extension(TERM_LIST)
}

/// Returns whether a file of this name is, or was to become, a list of terms.
pub(crate) fn is_term_list(name: &OsStr) -> bool {
    let mut parts = name.to_str().unwrap_or_default().split('.');
    parts.nth(1) == Some(TERM_LIST)
}
