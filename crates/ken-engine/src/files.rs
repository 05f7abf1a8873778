//! The files that a commit knows.

use std::path::PathBuf;

use ken_core::{Field, FileKey, FileRow, Location};

use crate::{DocAddress, Error};

/// The numbers of files and documents of a media type and a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The media type.
    pub media_type: String,
    /// The name of the kind.
    pub kind: &'static str,
    /// Files, without the documents inside them.
    pub files: u64,
    /// Files with a failure of their own.
    pub failed_files: u64,
    /// Files and the documents inside them.
    pub documents: u64,
    /// Documents with a failure.
    pub failed_documents: u64,
}

/// The files that a commit knows.
pub trait Files {
    /// Returns what the commit knows of its files, sorted by key.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn rows(&self) -> Result<Vec<FileRow>, Error>;

    /// Gives what the commit knows of its files to `each`, in no order, with true. For a file with parts `each` also gets
    /// rows of [`ken_core::Token::UNFINISHED`], with false.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn each_row(&self, each: &mut dyn FnMut(FileRow, bool)) -> Result<(), Error>;

    /// Returns the documents of a file.
    ///
    /// # Errors
    /// Fails if the postings cannot be read.
    fn documents_of(&self, key: FileKey) -> Result<Vec<DocAddress>, Error>;

    /// Returns the location of a file and what the commit knows of it, if it was indexed to its end.
    /// `documents` are the documents of the file.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn row_among(
        &self,
        key: FileKey,
        documents: &[DocAddress],
    ) -> Result<Option<(Location, FileRow)>, Error>;

    /// Returns the location of a file and what the commit knows of it, if it was indexed to its end.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn row(&self, key: FileKey) -> Result<Option<(Location, FileRow)>, Error> {
        self.row_among(key, &self.documents_of(key)?)
    }

    /// Returns the path of each of these files, where the commit knows it.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn paths(&self, keys: &[FileKey]) -> Result<Vec<Option<PathBuf>>, Error>;

    /// Returns the values that documents have in a field of keywords, in no order, each once.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn values(&self, field: Field) -> Result<Vec<String>, Error>;

    /// Returns the files with a document that has one of these values in a field of keywords; sorted by key, each once.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn with_values(&self, field: Field, values: &[&str]) -> Result<Vec<FileKey>, Error>;

    /// Returns the files with a document that is in the commit more than once, which no complete run leaves; sorted.
    ///
    /// # Errors
    /// Fails if the columns cannot be read.
    fn duplicated(&self) -> Result<Vec<FileKey>, Error>;
}
