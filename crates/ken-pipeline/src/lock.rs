//! One run at a time: a lock on a file in the data folder, which dies with its process.

use std::fs::File;
use std::path::Path;

use fs_err::OpenOptions;
use rustix::fs::{FlockOperation, flock};

use crate::Error;

/// The right to write the index, held until dropped.
pub(crate) struct RunLock(#[allow(dead_code)] File);

impl RunLock {
    /// Takes the lock; calls `busy` once if another process holds it, and waits.
    pub(crate) fn take(data: &Path, busy: &dyn Fn()) -> Result<Self, Error> {
        fs_err::create_dir_all(data)?;
        let path = data.join("ken.lock");
        let (file, _) = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?
            .into_parts();
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            busy();
            flock(&file, FlockOperation::LockExclusive).map_err(std::io::Error::from)?;
        }
        Ok(Self(file))
    }
}
