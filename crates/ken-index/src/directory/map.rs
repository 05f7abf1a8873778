//! Maps files next to the index into memory, like the index's own.

use std::io;
use std::path::Path;

use tantivy::Directory;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::OpenReadError;

/// Maps a file; it stays readable when it is deleted.
///
/// # Errors
/// Fails if the file does not exist or cannot be mapped.
pub fn map(path: &Path) -> io::Result<Box<dyn AsRef<[u8]> + Send + Sync>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = MmapDirectory::open(folder).map_err(io::Error::other)?;
    let file = folder
        .open_read(Path::new(name))
        .map_err(|error| match error {
            OpenReadError::FileDoesNotExist(_) => io::ErrorKind::NotFound.into(),
            other => io::Error::other(other),
        })?;
    Ok(Box::new(file.read_bytes()?))
}
