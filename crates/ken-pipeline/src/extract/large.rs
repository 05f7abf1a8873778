//! Large files that wait for a thread. They begin before small ones, so that a run does not end
//! with one thread at a large file and the others idle.
//!
//! They wait in a separate heap, the largest first. Each has a ticket in the queue of changes, and
//! a thread that takes a ticket takes the largest remaining file. The queue therefore still shows
//! when there is work and when it ends. A file that began earlier leaves only its ticket behind.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_core::Change;

/// Files from this size on begin first.
pub(crate) const LARGE_BYTES: u64 = 1 << 20;

/// Work that the walk passes to the extracting threads.
pub(crate) enum Job {
    /// A change of a file; boxed, since the queue reserves memory for all its entries.
    Change(Box<Change>),
    /// The largest remaining large file.
    Large,
}

/// The large files that wait.
#[derive(Default)]
pub(crate) struct Large {
    waiting: Mutex<BinaryHeap<BySize>>,
    /// Number of waiting files; if it is 0, threads do not take the lock.
    n_waiting: AtomicUsize,
}

/// A change of a file, ordered by size.
struct BySize {
    size: u64,
    change: Change,
}

impl Large {
    /// Returns the queue entry of a change; keeps the change itself if its file is large.
    pub(crate) fn job(&self, change: Change) -> Job {
        let size = match &change {
            Change::Added { stamp, .. } | Change::Changed { stamp, .. } => stamp.size,
            // These files are not read.
            Change::Access { .. } | Change::Moved { .. } | Change::Gone { .. } => 0,
        };
        if size < LARGE_BYTES {
            return Job::Change(Box::new(change));
        }
        self.lock().push(BySize { size, change });
        self.n_waiting.fetch_add(1, Ordering::Release);
        Job::Large
    }

    /// Takes the largest file; returns none if other threads took all.
    pub(crate) fn take(&self) -> Option<Change> {
        self.take_if(|_| Some(())).map(|(change, ())| change)
    }

    /// Takes the largest file, together with what it needs, if that is available.
    pub(crate) fn take_if<T>(
        &self,
        need: impl FnOnce(&Change) -> Option<T>,
    ) -> Option<(Change, T)> {
        if self.n_waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut waiting = self.lock();
        let needed = need(&waiting.peek()?.change)?;
        let taken = waiting.pop()?;
        self.n_waiting.fetch_sub(1, Ordering::Release);
        Some((taken.change, needed))
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<BySize>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ord for BySize {
    fn cmp(&self, other: &Self) -> Order {
        self.size.cmp(&other.size)
    }
}

impl PartialOrd for BySize {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for BySize {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BySize {}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ken_core::Stamp;

    use super::*;

    fn added(size: u64) -> Change {
        Change::Added {
            path: PathBuf::from(format!("/{size}")),
            stamp: Stamp {
                size,
                mtime_ns: 0,
                ctime_ns: 0,
                inode: 0,
                device: 0,
                volume: None,
                sidecar: None,
                mh: None,
            },
        }
    }

    fn size(change: &Change) -> u64 {
        match change {
            Change::Added { stamp, .. } => stamp.size,
            _ => 0,
        }
    }

    #[test]
    fn the_largest_is_taken_first() {
        let large = Large::default();
        assert!(matches!(large.job(added(LARGE_BYTES - 1)), Job::Change(_)));
        assert!(large.take().is_none());
        for times in [2, 9, 4] {
            assert!(matches!(large.job(added(times * LARGE_BYTES)), Job::Large));
        }
        assert!(large.take_if(|_| None::<()>).is_none(), "no room for it");
        let sizes: Vec<u64> = std::iter::from_fn(|| large.take())
            .map(|change| size(&change) / LARGE_BYTES)
            .collect();
        assert_eq!(sizes, [9, 4, 2]);
    }
}
