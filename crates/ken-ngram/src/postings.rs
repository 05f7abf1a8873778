//! Lists of documents as bits: gaps in Golomb-Rice code, whose parameter follows the last gaps.
//!
//! Files that contain an n-gram are close together, since the files of a folder are alike. The mean
//! of the last gaps therefore predicts the next gap better than the mean of the whole list. Besides
//! the bits, only the number of documents is stored.

/// Larger gaps are written as plain numbers.
const MAX_QUOTIENT: u32 = 16;
/// Maximum number of bytes for a document.
const MAX_BYTES: usize = 6;
/// The mean of gaps is stored in sixteenths.
const MEAN_SHIFT: u32 = 4;

/// The current estimate of gaps.
#[derive(Clone, Copy)]
struct Mean(u32);

impl Mean {
    /// Starts with the mean gap of a list of `n` among `n_docs`.
    fn new(n: u32, n_docs: u32) -> Self {
        let gap = n_docs.saturating_sub(n) / n.max(1);
        Self(gap.min(1 << 24) << MEAN_SHIFT)
    }

    /// Returns the logarithm of the mean gap, which counts as at least 1.
    fn parameter(self) -> u32 {
        (self.0 | 1 << MEAN_SHIFT).ilog2() - MEAN_SHIFT
    }

    fn follow(&mut self, gap: u32) {
        self.0 = self.0 - self.0 / 4 + (gap.min(1 << 24) << (MEAN_SHIFT - 2));
    }
}

/// Appends a list of `n` documents among `n_docs`, sorted and all different. If a damaged list has
/// fewer, reading it yields further documents.
pub(crate) fn encode(docs: impl Iterator<Item = u32>, n: u32, n_docs: u32, out: &mut Vec<u8>) {
    let mut mean = Mean::new(n, n_docs);
    let mut at = out.len();
    // Eight bytes are written each time, of which only the complete ones count.
    out.resize(at + n as usize * MAX_BYTES + 8, 0);
    // Bits that are not a complete byte yet, and their number; they follow the last byte.
    let (mut held, mut n_held) = (0_u64, 0);
    let mut next = 0;
    docs.for_each(|doc| {
        let (bits, n_bits) = code(doc - next, mean.parameter());
        mean.follow(doc - next);
        next = doc + 1;
        held |= bits << n_held;
        n_held += n_bits;
        out[at..at + 8].copy_from_slice(&held.to_le_bytes());
        at += (n_held / 8) as usize;
        held >>= n_held & !7;
        n_held &= 7;
    });
    out.truncate(at + usize::from(n_held > 0));
}

/// Returns the bits of a gap, with the first one lowest, and their number.
fn code(gap: u32, k: u32) -> (u64, u32) {
    let quotient = gap >> k;
    if quotient < MAX_QUOTIENT {
        let rest = u64::from(gap - (quotient << k));
        // Computes the quotient as ones, followed by a zero and the rest.
        (((2 * rest + 1) << quotient) - 1, quotient + 1 + k)
    } else {
        (
            ((1 << MAX_QUOTIENT) - 1) | u64::from(gap) << MAX_QUOTIENT,
            MAX_QUOTIENT + 32,
        )
    }
}

/// Reads a list. Damaged bits yield other documents, but in order and below `n_docs`.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    /// The position of the next bit.
    at: usize,
    mean: Mean,
    next: u32,
    left: u32,
    n_docs: u32,
}

impl<'a> Decoder<'a> {
    /// Reads a list of `n` documents that begins with these bytes, which may end too early.
    pub(crate) fn new(bytes: &'a [u8], n: u32, n_docs: u32) -> Self {
        Self {
            bytes,
            at: 0,
            mean: Mean::new(n, n_docs),
            next: 0,
            left: n,
            n_docs,
        }
    }

    /// Returns the next bits, more than a gap has; bits after the end are 0.
    fn bits(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let bytes = rest.first_chunk::<8>().copied();
        u64::from_le_bytes(bytes.unwrap_or_else(|| last(rest))) >> (self.at % 8)
    }

    fn gap(&mut self) -> u32 {
        let bits = self.bits();
        let quotient = bits.trailing_ones();
        if quotient >= MAX_QUOTIENT {
            self.at += (MAX_QUOTIENT + 32) as usize;
            return (bits >> MAX_QUOTIENT) as u32;
        }
        let k = self.mean.parameter();
        self.at += (quotient + 1 + k) as usize;
        quotient << k | (bits >> (quotient + 1)) as u32 & ((1 << k) - 1)
    }
}

/// Returns the rest of a list, fewer than eight bytes, padded with 0.
#[cold]
fn last(rest: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    let end = rest.len().min(8);
    bytes[..end].copy_from_slice(&rest[..end]);
    bytes
}

impl Iterator for Decoder<'_> {
    type Item = u32;

    #[inline]
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
        encode(docs.iter().copied(), docs.len() as u32, n_docs, &mut bytes);
        Decoder::new(&bytes, docs.len() as u32, n_docs).collect()
    }

    #[test]
    fn lists_come_back() {
        for docs in [vec![], vec![0], vec![u32::MAX - 1], (0..1000).collect()] {
            assert_eq!(returned(&docs, u32::MAX), docs);
        }
        let mut bytes = Vec::new();
        encode(0..8000, 8000, 8000, &mut bytes);
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
