//! A document on its way into the index, and as the index keeps it.

use ken_core::{Document, FileKey, Location, Token};

/// The state of a file, which the index keeps with the file's own document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    /// See [`ken_core::Stamp::token`].
    pub token: Token,
    /// See [`ken_core::Stamp::identity`].
    pub identity: u64,
}

/// A document on its way into the index.
pub struct Record {
    /// The location of the document.
    pub location: Location,
    /// The key of its file.
    pub key: FileKey,
    /// Set on the file's own document, which must be the last of its file: a file without it counts as not indexed.
    pub state: Option<FileState>,
    /// The extracted document.
    pub document: Document,
}

/// A document as the index keeps it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The location of the document.
    pub location: Location,
    /// The extracted document. The body is empty if it was not requested.
    pub document: Document,
    /// Set on a file's own document.
    pub state: Option<FileState>,
}
