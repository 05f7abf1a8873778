//! How far one file may expand, over everything inside it.
//!
//! Limits on each container alone do not stop an archive of archives: sixteen kilobytes hold ten
//! million texts seven levels down. So all members of a file draw on one account, wherever they
//! are extracted. It is one atomic counter: threads only add to it, and which of them meets the
//! limit does not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::{Cause, Limit, Setting};

use crate::{Error, Limits};

/// Expansion of one stream or container below this is never a bomb.
pub(crate) const FREE_BYTES: u64 = 1 << 20;
/// The same for all that is inside one file.
const FREE_BYTES_OF_FILE: u64 = 64 << 20;

/// What the members of one file have expanded to, and may; clones share the account.
#[derive(Clone, Debug)]
pub struct Expansion {
    spent: Arc<AtomicU64>,
    max_bytes: u64,
    /// The limit that `max_bytes` follows from.
    limit: Limit,
}

impl Expansion {
    /// Opens the account of a file of this size.
    pub(crate) fn of_file(size: u64, limits: &Limits) -> Self {
        let by_ratio = size
            .saturating_mul(limits.max_expansion)
            .saturating_add(FREE_BYTES_OF_FILE);
        Self::resume(0, by_ratio.min(most_of_levels(limits)), limits)
    }

    /// Opens the account that another process keeps, as it stood when it handed on a part.
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

    /// Returns how much was spent.
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Returns how much may be spent.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Counts what was unpacked.
    ///
    /// # Errors
    /// Fails when all that was unpacked from the file is more than it may be.
    pub(crate) fn spend(&self, n_bytes: u64) -> Result<(), Error> {
        let before = self.spent.fetch_add(n_bytes, Ordering::Relaxed);
        if before.saturating_add(n_bytes) <= self.max_bytes {
            return Ok(());
        }
        Err(Error::Failed(Cause::limit(self.limit)))
    }
}

/// Returns the most bytes of all levels of containers: each may unfold the same bytes once more.
fn most_of_levels(limits: &Limits) -> u64 {
    let levels = limits.max_depth.max(1) as u64;
    limits.max_expanded_bytes.saturating_mul(levels)
}

/// Returns the most bytes that so many compressed ones may expand to.
pub(crate) fn max_expanded(n_compressed: u64, max_expansion: u64) -> u64 {
    FREE_BYTES.saturating_add(n_compressed.saturating_mul(max_expansion))
}
