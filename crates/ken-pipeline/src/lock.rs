//! One run at a time: a lock on a file in the data folder, which dies with its process.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use fs_err::OpenOptions;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::Error;

/// How often a lock that another process holds is tried again.
const INTERVAL: Duration = Duration::from_millis(50);

/// The right to write the index, held until dropped.
pub(crate) struct RunLock(#[allow(dead_code)] File);

impl RunLock {
    /// Takes the lock. While another process holds it, asks again and again whether to go on
    /// waiting: a call that sleeps until the lock is free could not be stopped.
    pub(crate) fn take(data: &Path, wait: &dyn Fn() -> bool) -> Result<Option<Self>, Error> {
        fs_err::create_dir_all(data)?;
        let path = data.join("ken.lock");
        let (file, _) = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)?
            .into_parts();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self(file))),
                Err(Errno::WOULDBLOCK) if wait() => std::thread::sleep(INTERVAL),
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn who_waits_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let never = || panic!("the lock is free");
        let held = RunLock::take(folder.path(), &never).unwrap();
        assert!(held.is_some());
        let asked = Cell::new(0);
        let wait = || asked.replace(asked.get() + 1) < 2;
        assert!(RunLock::take(folder.path(), &wait).unwrap().is_none());
        assert_eq!(asked.get(), 3);
        drop(held);
        assert!(RunLock::take(folder.path(), &never).unwrap().is_some());
    }
}
