//! An open index that follows its commits.
//!
//! A commit becomes visible when `meta.json` is renamed into place, so one `stat` of that file shows whether there is a
//! newer one. Between two searches nothing is looked up, and no thread polls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ken_core::Ranking;

use super::snapshot::Snapshot;
use crate::Error;
use crate::open::CommitStamp;

/// An index that threads share, open at its last commit.
///
/// A thread keeps the snapshot that it was given for as long as it likes; others get newer ones meanwhile.
pub struct Reader {
    path: PathBuf,
    ranking: Ranking,
    /// Languages, if not those that documents are in.
    stemming: Option<Vec<String>>,
    /// Held while a newer commit is opened, so that threads that ask at the same time open it once.
    opened: Mutex<Option<Opened>>,
}

struct Opened {
    snapshot: Arc<Snapshot>,
    commit: CommitStamp,
}

impl Reader {
    /// Returns a reader of the index in a folder. Nothing is opened yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            ranking: Ranking::default(),
            stemming: None,
            opened: Mutex::new(None),
        }
    }

    /// Ranks hits with these weights, as [`Snapshot::with_ranking`] does.
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self.opened = Mutex::new(None);
        self
    }

    /// Finds forms of words in these languages, as [`Snapshot::with_stemming`] does.
    #[must_use]
    pub fn with_stemming(mut self, languages: &[String]) -> Self {
        self.stemming = Some(languages.to_vec());
        self.opened = Mutex::new(None);
        self
    }

    /// Returns the last commit, which is opened if it is not open yet.
    ///
    /// # Errors
    /// Fails as [`Snapshot::open`] and [`Snapshot::with_stemming`] do. The next call tries again.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken before opening: a commit that comes in between is noticed by the next call.
        let commit = CommitStamp::of(&self.path);
        if let Some(open) = &*opened
            && commit == Some(open.commit)
        {
            return Ok(Arc::clone(&open.snapshot));
        }
        // The former snapshot stays until the new one is open: opening may fail.
        let mut snapshot = Snapshot::open(&self.path)?.with_ranking(self.ranking.clone());
        if let Some(languages) = &self.stemming {
            snapshot = snapshot.with_stemming(languages).map_err(Error::Query)?;
        }
        let snapshot = Arc::new(snapshot);
        *opened = commit.map(|commit| Opened {
            snapshot: Arc::clone(&snapshot),
            commit,
        });
        Ok(snapshot)
    }

    /// Returns when the commit that is open was made; absent if none is open.
    pub fn committed_at(&self) -> Option<SystemTime> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.as_ref().map(|open| open.commit.modified)
    }
}
