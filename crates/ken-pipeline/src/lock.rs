//! Ensures that only one run at a time writes an index: a lock on a file in the data folder, which
//! ends with its process.
//!
//! Processes that wait for the lock share a lock on a second file. A process that keeps the index
//! open between two batches thereby sees that another one wants it.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{Error, private};

/// Interval between attempts to take a lock that another process holds.
const INTERVAL: Duration = Duration::from_millis(50);

/// The right to write the index, held until dropped.
pub(crate) struct RunLock(#[allow(dead_code)] File);

impl RunLock {
    /// Takes the lock. While another process holds it, calls `wait` again and again, which returns
    /// whether to continue: a call that sleeps until the lock is free could not be stopped.
    pub(crate) fn take(data: &Path, wait: &dyn Fn() -> bool) -> Result<Option<Self>, Error> {
        private::prepare(data)?;
        let file = open(&data.join("ken.lock"))?;
        let mut waiting = None;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self(file))),
                Err(Errno::WOULDBLOCK) if wait() => {
                    if waiting.is_none() {
                        waiting = Waiting::begin(data)?;
                    }
                    std::thread::sleep(INTERVAL);
                }
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(std::io::Error::from(error).into()),
            }
        }
    }

    /// Returns whether another process waits for the lock.
    pub(crate) fn is_wanted(data: &Path) -> bool {
        let file = fs_err::File::open(data.join(Waiting::FILE));
        file.is_ok_and(|file| {
            let operation = FlockOperation::NonBlockingLockExclusive;
            flock(file.file(), operation) == Err(Errno::WOULDBLOCK)
        })
    }
}

/// Sleeps long enough for waiting processes to take the lock.
pub(crate) fn let_others_go_first() {
    std::thread::sleep(2 * INTERVAL);
}

/// The mark of a waiting process.
struct Waiting(#[allow(dead_code)] File);

impl Waiting {
    const FILE: &str = "ken.waiting";

    /// Sets the mark; returns none if another process is just looking at it.
    fn begin(data: &Path) -> Result<Option<Self>, Error> {
        let file = open(&data.join(Self::FILE))?;
        let locked = flock(&file, FlockOperation::NonBlockingLockShared);
        Ok(locked.is_ok().then_some(Self(file)))
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let file = ken_private::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    Ok(file.into_parts().0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_process_that_waits_is_seen_and_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let never = || panic!("the lock is free");
        let held = RunLock::take(folder.path(), &never).unwrap();
        assert!(held.is_some());
        assert!(!RunLock::is_wanted(folder.path()));
        let asked = Cell::new(0);
        let wait = || {
            // From the second call on, it has waited.
            let n_asked = asked.replace(asked.get() + 1);
            assert_eq!(RunLock::is_wanted(folder.path()), n_asked > 0);
            n_asked < 2
        };
        assert!(RunLock::take(folder.path(), &wait).unwrap().is_none());
        assert_eq!(asked.get(), 3);
        assert!(!RunLock::is_wanted(folder.path()));
        drop(held);
        assert!(RunLock::take(folder.path(), &never).unwrap().is_some());
    }
}
