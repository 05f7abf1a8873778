//! Which process has a run under way, as commits say.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

use ken_engine::Meta;

/// Identifies this process in commits. A process number would name another process later.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// Returns the random number that identifies this process.
pub(crate) fn process() -> u64 {
    *PROCESS
}

/// Marks a commit as one of a run that may be stopped before it has added all that it deleted.
pub(crate) fn mark(meta: &mut Meta) {
    meta.under_way = Some(*PROCESS);
}

/// Returns whether files may be missing in a commit because of a run of another process, which goes on or was stopped.
pub fn is_another_under_way(meta: &Meta) -> bool {
    meta.under_way.is_some_and(|process| process != *PROCESS)
}
