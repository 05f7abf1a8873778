//! The index, open for all requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ken_engine::Source;
use ken_search::service::{Access, Reader};

use crate::answer::Error;

/// Number of commits that stay open, so that the pages of a result fit together while the index moves on.
const KEPT: usize = 4;
/// How long a commit stays open that nobody asks: it keeps files on the disk that the index has replaced.
const UNASKED: Duration = Duration::from_secs(5 * 60);

/// The index at its last commits.
pub(crate) struct Index {
    access: Access,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    reader: Option<Arc<Reader>>,
    /// The last commits that were asked, newest last.
    commits: VecDeque<Kept>,
}

struct Kept {
    snapshot: Arc<dyn Source>,
    asked: Instant,
}

impl Opened {
    /// Returns the index at a commit that is open, and closes commits that nobody asked for long.
    fn ask(&mut self, commit: u64) -> Option<Arc<dyn Source>> {
        let now = Instant::now();
        self.commits
            .retain(|kept| now.duration_since(kept.asked) < UNASKED);
        let mut kept = self.commits.iter_mut();
        let kept = kept.find(|kept| kept.snapshot.commit() == commit)?;
        kept.asked = now;
        Some(Arc::clone(&kept.snapshot))
    }

    fn keep(&mut self, snapshot: &Arc<dyn Source>) {
        if self.ask(snapshot.commit()).is_none() {
            self.commits.push_back(Kept {
                snapshot: Arc::clone(snapshot),
                asked: Instant::now(),
            });
            let n_old = self.commits.len().saturating_sub(KEPT);
            self.commits.drain(..n_old);
        }
    }
}

impl Index {
    pub(crate) fn new(access: Access) -> Self {
        Self {
            access,
            opened: Mutex::default(),
        }
    }

    /// Returns the index at a commit, or at the last one.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or the commit is not open any more.
    pub(crate) fn at(&self, commit: Option<u64>) -> Result<Arc<dyn Source>, Error> {
        if let Some(kept) = commit.and_then(|number| self.opened().ask(number)) {
            return Ok(kept);
        }
        let reader = Arc::clone(
            self.opened()
                .reader
                .get_or_insert_with(|| Arc::new(self.access.reader())),
        );
        // Without the lock: opening takes time.
        let snapshot = reader.snapshot()?;
        self.opened().keep(&snapshot);
        match commit {
            Some(number) if number != snapshot.commit() => Err(Error {
                status: 410,
                message: format!("commit {number} is not open any more; ask without it"),
            }),
            _ => Ok(snapshot),
        }
    }

    /// Closes everything; the next request opens it again.
    pub(crate) fn rest(&self) {
        *self.opened() = Opened::default();
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
