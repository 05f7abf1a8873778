//! The engine's directory for readers, which take no lock and never wait.
//!
//! Tantivy's readers take a lock while they open segment files, so that the writer does not delete
//! these meanwhile. That needs write access and lets one process wait for another. Here the lock is
//! never taken; if a file is deleted while it is being opened, [`crate::Snapshot::open`] tries
//! again with the newer commit.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

use super::seal::unseal;
use super::sparing::SparingFile;

/// A read-only directory without locks.
#[derive(Clone, Debug)]
pub(crate) struct ReadDirectory {
    mapped: MmapDirectory,
    /// The open files, if the directory serves one query.
    sparing: Option<Arc<Sparing>>,
}

#[derive(Debug)]
struct Sparing {
    root: PathBuf,
    files: Mutex<HashMap<PathBuf, Arc<SparingFile>>>,
}

/// Postings and positions. Any query reads much of dictionaries, columns, norms and the offsets of
/// stored documents.
const SPARED: [&str; 2] = ["idx", "pos"];
/// Maximum number of files that are held open.
const MAX_OPEN: usize = 128;
/// Divisor for the share of the process's open files.
const SHARE_OPEN: u64 = 4;

impl ReadDirectory {
    /// Opens the directory for many queries.
    pub(crate) fn open(root: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self {
            mapped: MmapDirectory::open(root)?,
            sparing: None,
        })
    }

    /// Opens the directory for one query: see [`super::sparing`].
    pub(crate) fn for_one_query(root: &Path) -> Result<Self, OpenDirectoryError> {
        let sparing = Sparing {
            root: root.to_path_buf(),
            files: Mutex::default(),
        };
        Ok(Self {
            sparing: Some(Arc::new(sparing)),
            ..Self::open(root)?
        })
    }

    fn refuse(path: &Path) -> io::Error {
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("readers do not write {}", path.display()),
        )
    }
}

impl Sparing {
    fn handle(
        &self,
        mapped: &MmapDirectory,
        path: &Path,
    ) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(path) {
            return Ok(Arc::clone(file) as Arc<dyn FileHandle>);
        }
        let is_spared = |extension: &OsStr| SPARED.iter().any(|spared| extension == *spared);
        if !path.extension().is_some_and(is_spared) || files.len() >= max_open() {
            return mapped.get_file_handle(path);
        }
        let file = SparingFile::open(mapped, &self.root, path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_path_buf()),
            _ => OpenReadError::wrap_io_error(error, path.to_path_buf()),
        })?;
        let file = Arc::new(file);
        files.insert(path.to_path_buf(), Arc::clone(&file));
        Ok(file)
    }
}

/// Returns how many files may be held open.
fn max_open() -> usize {
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let part = limit.map_or(u64::MAX, |limit| limit / SHARE_OPEN);
        usize::try_from(part).map_or(MAX_OPEN, |part| part.min(MAX_OPEN))
    })
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let handle = match &self.sparing {
            Some(sparing) => sparing.handle(&self.mapped, path),
            None => self.mapped.get_file_handle(path),
        };
        handle.map_err(|error| match error {
            // The engine takes a segment without a positions file for one that never had positions,
            // and fails when they are needed. Each of ours has them, so the writer has just deleted
            // them.
            OpenReadError::FileDoesNotExist(path)
                if path.extension() == Some(OsStr::new("pos")) =>
            {
                OpenReadError::wrap_io_error(io::ErrorKind::NotFound.into(), path)
            }
            error => error,
        })
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError {
            io_error: Arc::new(Self::refuse(path)),
            filepath: path.to_path_buf(),
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(
            Self::refuse(path),
            path.to_path_buf(),
        ))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        // The list of files is only for the writer; it may be damaged after a power loss.
        if path == Path::new(".managed.json") {
            return Err(OpenReadError::FileDoesNotExist(path.to_path_buf()));
        }
        let bytes = self.mapped.atomic_read(path)?;
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
