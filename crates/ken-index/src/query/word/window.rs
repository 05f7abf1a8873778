//! A window of consecutive documents, with a sum for each of them.
//!
//! Lists of documents are joined window by window: each list adds its values to plain arrays, which
//! takes a few instructions for each document, where a heap of lists would compare them one by one.

use tantivy::DocId;

/// Number of documents in a window: their sums fit into the processor's first-level cache.
pub(super) const SIZE: usize = 4096;

/// Returns the sum of what a document has of a word and of one more form of it. A sum is negative while only derived forms
/// ([`ken_core::Form::derived`]) are in it, so literal forms must be added before derived ones.
#[inline]
pub(super) fn joined(sum: f32, amount: f32, derived: bool) -> f32 {
    match derived && sum <= 0.0 {
        true => sum - amount,
        false => sum + amount,
    }
}

/// A window of documents with a sum for each.
pub(super) struct Window {
    start: DocId,
    bits: Box<[u64]>,
    sums: Box<[f32]>,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            start: 0,
            bits: vec![0; SIZE / 64].into(),
            sums: vec![0.0; SIZE].into(),
        }
    }

    pub(super) fn start(&self) -> DocId {
        self.start
    }

    /// Returns the first document after the window.
    pub(super) fn end(&self) -> DocId {
        self.start.saturating_add(SIZE as u32)
    }

    /// Empties the window and moves it.
    pub(super) fn clear(&mut self, start: DocId) {
        for word in 0..self.bits.len() {
            // Sums without a bit are already 0.
            if self.bits[word] != 0 {
                self.sums[word * 64..word * 64 + 64].fill(0.0);
                self.bits[word] = 0;
            }
        }
        self.start = start;
    }

    #[inline]
    pub(super) fn set(&mut self, doc: DocId) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) fn add(&mut self, doc: DocId, amount: f32) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
        self.sums[at] += amount;
    }

    /// Adds a derived form ([`joined`]).
    #[inline]
    pub(super) fn add_derived(&mut self, doc: DocId, amount: f32) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
        self.sums[at] = joined(self.sums[at], amount, true);
    }

    pub(super) fn holds(&self, doc: DocId) -> bool {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] & 1 << (at % 64) != 0
    }

    pub(super) fn sum(&self, doc: DocId) -> f32 {
        self.sums[(doc - self.start) as usize]
    }

    pub(super) fn len(&self) -> u32 {
        self.bits.iter().map(|bits| bits.count_ones()).sum()
    }

    /// Calls `keep` with each document and its sum, and removes the documents for which it returns
    /// false.
    #[inline]
    pub(super) fn retain(&mut self, mut keep: impl FnMut(DocId, &mut f32) -> bool) {
        for word in 0..self.bits.len() {
            let mut left = self.bits[word];
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let at = word * 64 + bit;
                if !keep(self.start + at as u32, &mut self.sums[at]) {
                    self.bits[word] &= !(1 << bit);
                    self.sums[at] = 0.0;
                }
            }
        }
    }

    /// Returns the first document from `target` on.
    pub(super) fn next(&self, target: DocId) -> Option<DocId> {
        if target >= self.end() {
            return None;
        }
        let at = target.saturating_sub(self.start) as usize;
        let mut word = at / 64;
        let mut bits = self.bits[word] & (u64::MAX << (at % 64));
        while bits == 0 {
            word += 1;
            bits = *self.bits.get(word)?;
        }
        Some(self.start + (word * 64) as u32 + bits.trailing_zeros())
    }
}
