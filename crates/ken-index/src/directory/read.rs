//! The engine's directory for readers: they take no lock and wait for nobody.
//!
//! Tantivy's readers take a lock while they open segment files, so that the writer does not
//! delete them meanwhile. That needs write access and lets one process wait for another. Here the
//! lock is never taken; [`crate::Snapshot::open`] tries again with the newer commit when a file
//! went away under it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::seal::unseal;

/// A directory that is only read, without locks.
#[derive(Clone, Debug)]
pub(crate) struct ReadDirectory(pub(crate) MmapDirectory);

impl ReadDirectory {
    fn refuse(path: &Path) -> io::Error {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("readers do not write {}", path.display()),
        )
    }
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError {
            io_error: Arc::new(Self::refuse(path)),
            filepath: path.to_path_buf(),
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(
            Self::refuse(path),
            path.to_path_buf(),
        ))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        // The list of files is the writer's; it may be damaged after a power loss.
        if path == Path::new(".managed.json") {
            return Err(OpenReadError::FileDoesNotExist(path.to_path_buf()));
        }
        let bytes = self.0.atomic_read(path)?;
        unseal(path, bytes).map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))
    }

    fn atomic_write(&self, path: &Path, _: &[u8]) -> io::Result<()> {
        Err(Self::refuse(path))
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
