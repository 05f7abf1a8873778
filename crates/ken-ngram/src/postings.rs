//! Lists of documents as bits: gaps in Golomb-Rice code, its parameter following the last gaps.
//!
//! Files that hold a gram stand together, since a folder's files are alike. So the mean of the last
//! gaps predicts the next one better than that of the whole list. Nothing but the number of documents
//! stands beside the bits.

/// Longer quotients are written as a whole number.
const MAX_QUOTIENT: u32 = 16;
/// The mean of gaps counts in sixteenths.
const MEAN_SHIFT: u32 = 4;

/// What is known of the gaps so far.
#[derive(Clone, Copy)]
struct Mean(u32);

impl Mean {
    /// The mean gap of a list of `n` among `n_docs`.
    fn new(n: u32, n_docs: u32) -> Self {
        let gap = n_docs.saturating_sub(n) / n.max(1);
        Self(gap.min(1 << 24) << MEAN_SHIFT)
    }

    fn parameter(self) -> u32 {
        (self.0 >> MEAN_SHIFT).max(1).ilog2()
    }

    fn follow(&mut self, gap: u32) {
        self.0 = self.0 - self.0 / 4 + (gap.min(1 << 24) << (MEAN_SHIFT - 2));
    }
}

/// Appends a list of documents, sorted and all different, among `n_docs`.
pub(crate) fn encode(docs: &[u32], n_docs: u32, out: &mut Vec<u8>) {
    let mut mean = Mean::new(docs.len() as u32, n_docs);
    let mut bits = BitWriter { out, held: 0, n: 0 };
    let mut next = 0;
    for &doc in docs {
        let gap = doc - next;
        next = doc + 1;
        let k = mean.parameter();
        let quotient = gap >> k;
        if quotient < MAX_QUOTIENT {
            bits.put((1 << quotient) - 1, quotient + 1);
            bits.put(u64::from(gap & ((1 << k) - 1)), k);
        } else {
            bits.put((1 << MAX_QUOTIENT) - 1, MAX_QUOTIENT);
            bits.put(u64::from(gap), 32);
        }
        mean.follow(gap);
    }
    bits.flush();
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u64,
    n: u32,
}

impl BitWriter<'_> {
    /// Appends the lowest `n` bits, 32 at most.
    fn put(&mut self, bits: u64, n: u32) {
        self.held |= bits << self.n;
        self.n += n;
        if self.n >= 32 {
            self.out
                .extend_from_slice(&(self.held as u32).to_le_bytes());
            self.held >>= 32;
            self.n -= 32;
        }
    }

    fn flush(&mut self) {
        let n_bytes = self.n.div_ceil(8) as usize;
        self.out
            .extend_from_slice(&self.held.to_le_bytes()[..n_bytes]);
    }
}

/// Reads a list. Damaged bits give other documents, all of them in order and below `n_docs`.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    held: u64,
    n: u32,
    mean: Mean,
    next: u32,
    left: u32,
    n_docs: u32,
}

impl<'a> Decoder<'a> {
    /// Reads a list of `n` documents.
    pub(crate) fn new(bytes: &'a [u8], n: u32, n_docs: u32) -> Self {
        Self {
            bytes,
            held: 0,
            n: 0,
            mean: Mean::new(n, n_docs),
            next: 0,
            left: n,
            n_docs,
        }
    }

    /// Holds at least 32 bits afterwards; those after the end are 0.
    fn fill(&mut self) {
        if let Some((four, rest)) = self.bytes.split_first_chunk::<4>() {
            self.held |= u64::from(u32::from_le_bytes(*four)) << self.n;
            self.bytes = rest;
            self.n += 32;
            return;
        }
        for byte in std::mem::take(&mut self.bytes) {
            self.held |= u64::from(*byte) << self.n;
            self.n += 8;
        }
        self.n = self.n.max(32);
    }

    fn take(&mut self, n: u32) -> u32 {
        if self.n < n {
            self.fill();
        }
        let bits = (self.held & ((1 << n) - 1)) as u32;
        self.held >>= n;
        self.n -= n;
        bits
    }

    fn gap(&mut self) -> u32 {
        if self.n < 32 {
            self.fill();
        }
        let quotient = self.held.trailing_ones().min(MAX_QUOTIENT);
        if quotient == MAX_QUOTIENT {
            self.held >>= MAX_QUOTIENT;
            self.n -= MAX_QUOTIENT;
            return self.take(32);
        }
        self.held >>= quotient + 1;
        self.n -= quotient + 1;
        let k = self.mean.parameter();
        quotient << k | self.take(k)
    }
}

impl Iterator for Decoder<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let gap = self.gap();
        self.mean.follow(gap);
        let doc = self.next.checked_add(gap).filter(|doc| *doc < self.n_docs);
        match doc {
            Some(doc) => self.next = doc + 1,
            None => self.left = 0,
        }
        doc
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn returned(docs: &[u32], n_docs: u32) -> Vec<u32> {
        let mut bytes = Vec::new();
        encode(docs, n_docs, &mut bytes);
        Decoder::new(&bytes, docs.len() as u32, n_docs).collect()
    }

    #[test]
    fn lists_come_back() {
        for docs in [vec![], vec![0], vec![u32::MAX - 1], (0..1000).collect()] {
            assert_eq!(returned(&docs, u32::MAX), docs);
        }
        let mut bytes = Vec::new();
        encode(&(0..8000).collect::<Vec<_>>(), 8000, &mut bytes);
        assert_eq!(bytes.len(), 1000, "a bit each where all hold it");
    }

    proptest! {
        #[test]
        fn any_list_comes_back(mut docs in prop::collection::vec(0_u32..50_000, 0..300), far: bool) {
            if far {
                docs.iter_mut().for_each(|doc| *doc = doc.wrapping_mul(80_000) % (u32::MAX - 1));
            }
            docs.sort_unstable();
            docs.dedup();
            prop_assert_eq!(returned(&docs, u32::MAX), docs);
        }

        #[test]
        fn damaged_bits_give_documents_in_order(bytes: Vec<u8>, n in 0_u32..500, n_docs in 0_u32..1000) {
            let docs: Vec<_> = Decoder::new(&bytes, n, n_docs).collect();
            prop_assert!(docs.is_sorted_by(|a, b| a < b));
            prop_assert!(docs.iter().all(|doc| *doc < n_docs));
        }
    }
}
