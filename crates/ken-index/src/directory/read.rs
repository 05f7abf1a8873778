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
use std::sync::atomic::{AtomicU64, Ordering};
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
use crate::damage::{self, Segments};
use crate::layout::{COMMIT_FILE, is_term_list};

/// A read-only directory without locks.
#[derive(Clone, Debug)]
pub(crate) struct ReadDirectory {
    mapped: MmapDirectory,
    /// The open files, if the directory serves one query.
    sparing: Option<Arc<Sparing>>,
    /// Damaged segments, which the list of segments seems not to have.
    without: Arc<Without>,
}

#[derive(Debug, Default)]
struct Without {
    segments: Segments,
    /// How many documents they have.
    documents: AtomicU64,
}

#[derive(Debug)]
struct Sparing {
    root: PathBuf,
    files: Mutex<HashMap<PathBuf, Arc<SparingFile>>>,
}

/// The least length of a file of the engine: that of a footer and the mark behind it.
const FOOTER_BYTES: usize = 8;
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
            without: Arc::default(),
        })
    }

    /// Leaves segments out.
    pub(crate) fn without(self, segments: &Segments) -> Self {
        let without = Without {
            segments: segments.clone(),
            ..Without::default()
        };
        Self {
            without: Arc::new(without),
            ..self
        }
    }

    /// Returns how many documents are left out of the list of segments that was read last.
    pub(crate) fn n_left_out(&self) -> u64 {
        self.without.documents.load(Ordering::Relaxed)
    }

    /// Returns a list of segments without the damaged ones.
    fn sound(&self, list: Vec<u8>) -> io::Result<Vec<u8>> {
        let Without {
            segments,
            documents,
        } = &*self.without;
        if segments.is_empty() {
            return Ok(list);
        }
        // The engine says what is wrong with a list that is none.
        let Some((sound, n_left_out)) = damage::without(&list, segments) else {
            return Ok(list);
        };
        documents.store(n_left_out, Ordering::Relaxed);
        Ok(serde_json::to_vec(&sound)?)
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

/// Fails if a file is too short for what the engine writes at the end of each file: the engine looks at it before it
/// compares lengths.
fn check_length(path: &Path, len: usize) -> Result<(), OpenReadError> {
    let is_list = path.file_name().is_some_and(is_term_list);
    if is_list || len >= FOOTER_BYTES {
        return Ok(());
    }
    let error = io::Error::new(io::ErrorKind::UnexpectedEof, "the file was cut off");
    Err(OpenReadError::wrap_io_error(error, path.to_path_buf()))
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
        let handle = handle.and_then(|handle| {
            check_length(path, handle.len())?;
            Ok(handle)
        });
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
        let bytes = unseal(path, bytes).and_then(|bytes| match path == Path::new(COMMIT_FILE) {
            true => self.sound(bytes),
            false => Ok(bytes),
        });
        bytes.map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))
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
