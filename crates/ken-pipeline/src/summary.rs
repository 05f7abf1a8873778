//! The outcome of a run, in figures.

use serde::{Deserialize, Serialize};

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of files that were added.
    pub added: u64,
    /// Number of files that were read again.
    pub changed: u64,
    /// Number of unchanged files that were read again because their extractor or the fields of
    /// their folder changed, or because they had failed. They also count as changed.
    pub stale: u64,
    /// Number of files that moved and were not read again.
    pub moved: u64,
    /// Number of files that are gone.
    pub gone: u64,
    /// Number of unchanged files.
    pub unchanged: u64,
    /// Number of files that were not seen or read but are kept, because their root or folder could
    /// not be read or became unavailable.
    pub kept: u64,
    /// Number of documents that were written.
    pub documents: u64,
    /// Number of written documents whose content is missing or incomplete.
    pub failed: u64,
    /// Number of files and folders that could not be examined.
    pub errors: u64,
    /// Total size of the files that were read.
    pub bytes: u64,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// Number of files whose pictures were searched for text.
    pub recognised: u64,
    /// Whether the run was stopped early.
    pub interrupted: bool,
    /// Whether anything was committed.
    pub committed: bool,
    /// Whether files are left that other machines were to read.
    #[serde(skip)]
    pub has_left: bool,
    /// The first errors of the walk, for people.
    #[serde(skip)]
    pub messages: Vec<String>,
}

impl Summary {
    /// Returns the combined outcome of two parts of a run.
    pub(crate) fn and(self, later: Self) -> Self {
        let done = self.added + self.changed + self.moved;
        Self {
            added: self.added + later.added,
            changed: self.changed + later.changed,
            stale: self.stale + later.stale,
            moved: self.moved + later.moved,
            gone: self.gone + later.gone,
            unchanged: later.unchanged.saturating_sub(done),
            seconds: self.seconds + later.seconds,
            recognised: self.recognised + later.recognised,
            committed: self.committed || later.committed,
            // The other figures already count both parts, or belong to the last walk.
            ..later
        }
    }
}
