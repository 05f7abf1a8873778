//! Opening the last commit of an index.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use tantivy::TantivyError;

use crate::damage::Segments;
use crate::directory::ReadDirectory;
use crate::layout::COMMIT_FILE;
use crate::meta::{Commit, read_commit};
use crate::{Error, Meta, error};

/// Reads the meta of the last commit of the index in a folder, and nothing else.
///
/// # Errors
/// Fails as [`crate::Snapshot::open`] does.
pub fn read_meta(path: &Path) -> Result<Meta, Error> {
    open_engine(path, Access::ManyQueries, &Segments::new())
        .map(|(_, _, commit)| commit.payload.meta)
}

/// The number of queries that an open index will answer.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// A query or two, as by a command: see [`ReadDirectory::for_one_query`].
    OneQuery,
    ManyQueries,
}

/// Opens the engine at the last commit, without some of its segments.
pub(crate) fn open_engine(
    path: &Path,
    access: Access,
    without: &Segments,
) -> Result<(ReadDirectory, tantivy::Index, Commit), Error> {
    let engine_error = |source| error::of_opening(path, source);
    if !fs_err::exists(path.join(COMMIT_FILE))? {
        return Err(Error::Missing(path.to_path_buf()));
    }
    let directory = match access {
        Access::OneQuery => ReadDirectory::for_one_query(path),
        Access::ManyQueries => ReadDirectory::open(path),
    };
    let directory = directory.map_err(|e| engine_error(e.into()))?;
    let directory = directory.without(without);
    let index = tantivy::Index::open(directory.clone()).map_err(engine_error)?;
    match read_commit(path, &index)? {
        Some(commit) => Ok((directory, index, commit)),
        None => Err(Error::Missing(path.to_path_buf())),
    }
}

/// Identifies the file of a commit: each commit writes a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommitStamp {
    inode: u64,
    pub(crate) modified: SystemTime,
}

impl CommitStamp {
    /// Returns the stamp of the last commit of the index in a folder, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs_err::metadata(path.join(COMMIT_FILE)).ok()?;
        Some(Self {
            inode: metadata.ino(),
            modified: metadata.modified().ok()?,
        })
    }
}

/// Returns whether an error says that a file which the commit names was deleted before it was opened. There is a newer
/// commit then.
pub(crate) fn is_outdated(error: &TantivyError) -> bool {
    use tantivy::directory::error::OpenReadError;
    match error {
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => true,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            io_error.kind() == std::io::ErrorKind::NotFound
        }
        _ => false,
    }
}
