//! How much a segment under construction holds at once.

/// The amounts that are held in memory before they are written. The default suits real documents;
/// tests use small numbers, so that little text exceeds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Maximum size of postings in memory, even if more memory is available: with more, neither the
    /// table of terms fits the processor's cache, nor do the occurrences that are sorted at once.
    pub(super) part_bytes: usize,
    /// Number of occurrences that are sorted at once. The default takes 32 MiB, which are mostly
    /// cached.
    pub(super) occurrences: usize,
    /// Number of positions with which documents of a term are passed on.
    pub(super) positions: usize,
    /// Number of bytes of a part that are written or read at once.
    pub(super) block_bytes: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            part_bytes: 48 << 20,
            occurrences: 4 << 20,
            positions: 64 << 10,
            block_bytes: 64 << 10,
        }
    }
}

impl Thresholds {
    /// Returns the size of the largest table of terms that is kept for the next part.
    pub(super) fn table_bytes(&self) -> usize {
        self.part_bytes / 4
    }
}

#[cfg(test)]
impl Thresholds {
    /// Small numbers for tests.
    pub(super) const SMALL: Self = Self {
        part_bytes: 64 << 10,
        occurrences: 100,
        positions: 200,
        block_bytes: 64,
    };
}
