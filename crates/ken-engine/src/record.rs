//! A document on its way into the index, and as the index keeps it.

use ken_core::{Document, FileKey, Location, Token};

/// What the index keeps of a file itself, on the file's own document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// See [`ken_core::Stamp::token`].
    pub token: Token,
    /// See [`ken_core::Stamp::identity`].
    pub identity: u64,
}

/// A document on its way into the index.
pub struct Record {
    /// Where it is.
    pub location: Location,
    /// The file it belongs to.
    pub key: FileKey,
    /// Set on the file's own document, which must be the last of its file: a file without it counts as not indexed.
    pub state: Option<FileState>,
    /// What was extracted.
    pub document: Document,
}

/// A document as the index keeps it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where it is.
    pub location: Location,
    /// What was extracted. The body is empty if it was not asked for.
    pub document: Document,
    /// Set on a file's own document.
    pub state: Option<FileState>,
}
