//! How much a segment that is being built holds at once.

/// How much of each thing is held in memory before it is written on. The default suits real documents; tests take
/// small numbers, so that little text crosses them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Postings that take more bytes are written out, even if there is memory left: the table of terms no longer fits
    /// the processor's cache, nor do the occurrences that are put in order at once.
    pub(super) part_bytes: usize,
    /// Occurrences that are put in order at once. The default takes 32 MiB, which are mostly cached.
    pub(super) occurrences: usize,
    /// Documents of a term are handed on when they have so many positions.
    pub(super) positions: usize,
    /// Bytes of a part that are written or read at once.
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
