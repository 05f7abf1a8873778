//! The index, open for all requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ken_engine::Source;
use ken_index::{Reader, Snapshot};

use crate::Setup;
use crate::answer::Error;

/// Number of commits that stay open, so that the pages of a result fit together while the index moves on.
const KEPT: usize = 4;

/// The index at its last commits.
pub(crate) struct Index {
    open: Box<dyn Fn() -> Reader + Send + Sync>,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    reader: Option<Arc<Reader>>,
    /// The last commits that were asked, newest last.
    commits: VecDeque<Arc<Snapshot>>,
}

impl Index {
    pub(crate) fn new(setup: &Setup) -> Self {
        let (path, ranking) = (setup.index.clone(), setup.ranking.clone());
        let stemming = setup.stemming.clone();
        let open = move || {
            let reader = Reader::new(&path).with_ranking(ranking.clone());
            match &stemming {
                Some(languages) => reader.with_stemming(languages),
                None => reader,
            }
        };
        Self {
            open: Box::new(open),
            opened: Mutex::default(),
        }
    }

    /// Returns the index at a commit, or at the last one.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or the commit is not open any more.
    pub(crate) fn at(&self, commit: Option<u64>) -> Result<Arc<Snapshot>, Error> {
        if let Some(number) = commit {
            let opened = self.opened();
            let kept = opened.commits.iter().find(|kept| kept.commit() == number);
            if let Some(kept) = kept {
                return Ok(Arc::clone(kept));
            }
        }
        let reader = Arc::clone(
            self.opened()
                .reader
                .get_or_insert_with(|| Arc::new((self.open)())),
        );
        // Without the lock: opening takes time.
        let snapshot = reader.snapshot()?;
        let mut opened = self.opened();
        if !opened
            .commits
            .iter()
            .any(|kept| kept.commit() == snapshot.commit())
        {
            opened.commits.push_back(Arc::clone(&snapshot));
            let n_old = opened.commits.len().saturating_sub(KEPT);
            opened.commits.drain(..n_old);
        }
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
