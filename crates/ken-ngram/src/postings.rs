//! Lists of documents as bits: gaps in Golomb-Rice code, its parameter following the last gaps.
//!
//! Files that hold an n-gram stand together, since a folder's files are alike. So the mean of the last
//! gaps predicts the next one better than that of the whole list. Nothing but the number of documents
//! stands beside the bits.

/// Longer quotients are written as a whole number.
const MAX_QUOTIENT: u32 = 16;
/// A document takes so many bytes at most.
const MAX_BYTES: usize = 6;
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

    /// The logarithm of the mean gap, which counts as 1 at least.
    fn parameter(self) -> u32 {
        (self.0 | 1 << MEAN_SHIFT).ilog2() - MEAN_SHIFT
    }

    fn follow(&mut self, gap: u32) {
        self.0 = self.0 - self.0 / 4 + (gap.min(1 << 24) << (MEAN_SHIFT - 2));
    }
}

/// Appends a list of `n` documents, sorted and all different, among `n_docs`. Fewer, of a damaged list, are followed by
/// others when they are read.
pub(crate) fn encode(docs: impl Iterator<Item = u32>, n: u32, n_docs: u32, out: &mut Vec<u8>) {
    let mut mean = Mean::new(n, n_docs);
    let mut at = out.len();
    // Eight bytes are written each time, of which those count that are whole.
    out.resize(at + n as usize * MAX_BYTES + 8, 0);
    // Bits that are no whole byte yet, and how many; behind the last byte.
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

/// Returns the bits of a gap, the first one lowest, and how many they are.
fn code(gap: u32, k: u32) -> (u64, u32) {
    let quotient = gap >> k;
    if quotient < MAX_QUOTIENT {
        let rest = u64::from(gap - (quotient << k));
        // Of a one at this place and all below it, what is left is ones, as many as the quotient, and a zero.
        (((2 * rest + 1) << quotient) - 1, quotient + 1 + k)
    } else {
        (
            ((1 << MAX_QUOTIENT) - 1) | u64::from(gap) << MAX_QUOTIENT,
            MAX_QUOTIENT + 32,
        )
    }
}

/// Reads a list. Damaged bits give other documents, all of them in order and below `n_docs`.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
    mean: Mean,
    next: u32,
    left: u32,
    n_docs: u32,
}

impl<'a> Decoder<'a> {
    /// Reads a list of `n` documents, which begins with these bytes and may end before they do.
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

    /// Returns the next bits, more than a gap has; those after the end are 0.
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

/// Returns what is left of a list, fewer than eight bytes, with 0 behind.
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
