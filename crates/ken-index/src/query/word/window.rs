//! A stretch of consecutive documents, and for each of them a sum.
//!
//! Lists of documents are joined window by window: each list adds what it has to plain arrays, which
//! takes a few instructions a document, where a heap of lists would compare them one by one.

use tantivy::DocId;

/// Documents of a window: their sums stay in the first cache of the processor.
pub(super) const SIZE: usize = 4096;

/// A stretch of documents with a sum for each.
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
            // Sums are 0 where there is no bit.
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

    /// Adds a form that is not the word itself. Where the document has only such forms, the sum is negative, so the word
    /// itself must be added first.
    #[inline]
    pub(super) fn add_derived(&mut self, doc: DocId, amount: f32) {
        let at = (doc - self.start) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
        let sum = &mut self.sums[at];
        *sum += if *sum > 0.0 { amount } else { -amount };
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

    /// Calls `keep` with each document and its sum; those for which it says no are removed.
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
