//! How a run went, in figures.

use serde::Serialize;

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Files that were added.
    pub added: u64,
    /// Files that were read again.
    pub changed: u64,
    /// Files that the walk found unchanged and that were read again all the same: their extractor or
    /// the fields of their folder changed, or they had failed. They count as changed too.
    pub stale: u64,
    /// Files that moved and were not read again.
    pub moved: u64,
    /// Files that are gone.
    pub gone: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Files that were not seen or read and are kept, because their root or folder could not be read, or went away.
    pub kept: u64,
    /// Documents that were written.
    pub documents: u64,
    /// Documents, among those written, whose content is missing or not complete.
    pub failed: u64,
    /// Files and folders that could not be looked at.
    pub errors: u64,
    /// Bytes of the files that were read.
    pub bytes: u64,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// Files in whose pictures text was recognised.
    pub recognised: u64,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Whether anything was committed.
    pub committed: bool,
    /// The first errors of the walk, for people.
    #[serde(skip)]
    pub messages: Vec<String>,
}

impl Summary {
    /// Returns how two parts of a run went together.
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
            // The other figures count both parts already, or belong to the last walk.
            ..later
        }
    }
}
