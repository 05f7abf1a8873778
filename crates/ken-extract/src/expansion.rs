//! Bounds how far one file may expand, over everything inside it.
//!
//! Limits on each single container do not stop an archive of archives: sixteen kilobytes hold ten
//! million texts seven levels down. All members of a file therefore share one account, wherever
//! they are extracted. The account is one atomic counter: threads only add to it, and it does not
//! matter which thread reaches the limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::{Cause, Limit, Setting};

use crate::{Error, Limits};

/// A stream or container that expands to less than this is never a bomb.
pub(crate) const FREE_BYTES: u64 = 1 << 20;
/// The same for everything inside one file.
const FREE_BYTES_OF_FILE: u64 = 64 << 20;

/// Counts what the members of one file have expanded to, against a maximum; clones share the
/// account.
#[derive(Clone, Debug)]
pub struct Expansion {
    spent: Arc<AtomicU64>,
    max_bytes: u64,
    /// The limit from which `max_bytes` follows.
    limit: Limit,
}

impl Expansion {
    /// Opens the account of a file of `size` bytes.
    pub(crate) fn of_file(size: u64, limits: &Limits) -> Self {
        let by_ratio = size
            .saturating_mul(limits.max_expansion)
            .saturating_add(FREE_BYTES_OF_FILE);
        Self::resume(0, by_ratio.min(most_of_levels(limits)), limits)
    }

    /// Opens the account of another process, in the state in which it handed on a member.
    pub(crate) fn resume(spent: u64, max_bytes: u64, limits: &Limits) -> Self {
        let setting = match max_bytes == most_of_levels(limits) {
            true => Setting::MaxExpandedBytes,
            false => Setting::MaxExpansion,
        };
        Self {
            spent: Arc::new(AtomicU64::new(spent)),
            max_bytes,
            limit: limits.limit(setting),
        }
    }

    /// Returns the number of bytes spent.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Returns the setting that the maximum follows from.
    pub(crate) fn setting(&self) -> Setting {
        self.limit.setting
    }

    /// Returns the number of bytes that may be spent.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Counts unpacked bytes.
    ///
    /// # Errors
    /// Fails when everything that was unpacked from the file exceeds the limit.
    pub(crate) fn spend(&self, n_bytes: u64) -> Result<(), Error> {
        let before = self.spent.fetch_add(n_bytes, Ordering::Relaxed);
        if before.saturating_add(n_bytes) <= self.max_bytes {
            return Ok(());
        }
        Err(Error::Failed(Cause::limit(self.limit)))
    }
}

/// Returns the maximum over all levels of containers: each level may unpack the same bytes again.
fn most_of_levels(limits: &Limits) -> u64 {
    let levels = limits.max_depth.max(1) as u64;
    limits.max_expanded_bytes.saturating_mul(levels)
}

/// Returns the maximum that `n_compressed` bytes may expand to.
pub(crate) fn max_expanded(n_compressed: u64, max_expansion: u64) -> u64 {
    FREE_BYTES.saturating_add(n_compressed.saturating_mul(max_expansion))
}
