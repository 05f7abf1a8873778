//! Checksums of the chunks of an n-gram segment, so that a search compares only what it reads.
//!
//! ```text
//! table   the CRC-32 of each chunk of the segment before it
//! tops    the CRC-32 of each chunk of the table
//! ```
//!
//! Sums have 4 bytes, little-endian. The footer's checksum covers the tops, of which a gigabyte of
//! n-grams has a kilobyte. A chunk is as large as a page, so comparing it reads nothing that the
//! search would not have to read from the disk anyway. Each chunk is compared once.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Size of a chunk.
const CHUNK: usize = 4 << 10;
const SUM_BYTES: usize = 4;

/// The sums of a segment that is being written.
#[derive(Default)]
pub(crate) struct SumsWriter {
    table: Vec<u8>,
    hasher: crc32fast::Hasher,
    /// Number of bytes of the last chunk.
    n_bytes: usize,
}

impl SumsWriter {
    /// Adds the next bytes of the segment.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (chunk, rest) = bytes.split_at(bytes.len().min(CHUNK - self.n_bytes));
            self.hasher.update(chunk);
            self.n_bytes += chunk.len();
            if self.n_bytes == CHUNK {
                self.end_chunk();
            }
            bytes = rest;
        }
    }

    fn end_chunk(&mut self) {
        let sum = std::mem::take(&mut self.hasher).finalize();
        self.table.extend_from_slice(&sum.to_le_bytes());
        self.n_bytes = 0;
    }

    /// Returns the table and the tops.
    pub(crate) fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        if self.n_bytes > 0 {
            self.end_chunk();
        }
        let tops = self.table.chunks(CHUNK).map(crc32fast::hash);
        let tops = tops.flat_map(u32::to_le_bytes).collect();
        (self.table, tops)
    }
}

/// The sums of an open segment, and what is known about its chunks.
pub(crate) struct Sums {
    table: Range<usize>,
    tops: Range<usize>,
    /// A bit for each chunk of the segment, and then for each one of the table, that was compared and
    /// is as it was written. Each bit alone is a fact, so threads set and read them in any order.
    sound: Box<[AtomicU64]>,
    is_damaged: AtomicBool,
}

impl Sums {
    /// Finds the sums in `range` of a segment; returns `None` if they cannot be there.
    pub(crate) fn new(range: Range<usize>) -> Option<Self> {
        let n_chunks = range.start.div_ceil(CHUNK);
        let table = range.start..range.start.checked_add(n_chunks.checked_mul(SUM_BYTES)?)?;
        let n_tops = table.len().div_ceil(CHUNK);
        let tops = table.end..table.end.checked_add(n_tops * SUM_BYTES)?;
        let words = (n_chunks + n_tops).div_ceil(64);
        (tops.end == range.end).then(|| Self {
            table,
            tops,
            sound: (0..words).map(|_| AtomicU64::new(0)).collect(),
            is_damaged: AtomicBool::new(false),
        })
    }

    /// Returns where the tops begin, which the footer's checksum covers.
    pub(crate) fn tops(&self) -> usize {
        self.tops.start
    }

    /// Returns whether a chunk was found that is not as it was written.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Returns whether all chunks of the segment are as they were written.
    pub(crate) fn are_all_sound(&self, all: &[u8]) -> bool {
        self.is_sound(all, 0..self.table.start)
    }

    /// Returns whether the chunks that hold a range of the segment's bytes are as they were written.
    #[inline]
    pub(crate) fn is_sound(&self, all: &[u8], range: Range<usize>) -> bool {
        let mut chunks = range.start / CHUNK..range.end.div_ceil(CHUNK);
        range.is_empty() || chunks.all(|chunk| self.is_known(chunk) || self.compare(all, chunk))
    }

    fn is_known(&self, bit: usize) -> bool {
        let word = self.sound.get(bit / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (bit % 64) & 1 == 1)
    }

    #[cold]
    fn compare(&self, all: &[u8], chunk: usize) -> bool {
        // The sum itself may be damaged.
        let in_table = chunk * SUM_BYTES / CHUNK;
        let bit = self.table.len() / SUM_BYTES + in_table;
        let is_sound = (self.is_known(bit)
            || self.agrees(all, &self.table, in_table, self.tops.start, bit))
            && self.agrees(all, &(0..self.table.start), chunk, self.table.start, chunk);
        if !is_sound {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
        is_sound
    }

    /// Compares a chunk of `part` with its sum, which is among those from `sums` on.
    fn agrees(
        &self,
        all: &[u8],
        part: &Range<usize>,
        chunk: usize,
        sums: usize,
        bit: usize,
    ) -> bool {
        let start = part.start + chunk * CHUNK;
        let bytes = all.get(start..part.end.min(start + CHUNK));
        let sum = all.get(sums + chunk * SUM_BYTES..);
        let sum = sum.and_then(|sums| sums.first_chunk());
        let is_sound = bytes
            .zip(sum)
            .is_some_and(|(bytes, sum)| crc32fast::hash(bytes) == u32::from_le_bytes(*sum));
        if let Some(word) = self.sound.get(bit / 64).filter(|_| is_sound) {
            word.fetch_or(1 << (bit % 64), Ordering::Relaxed);
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file of `n` bytes with its sums, and the range of these.
    fn summed(n: usize) -> (Vec<u8>, Range<usize>) {
        let mut random = fastrand::Rng::with_seed(1);
        let mut all: Vec<u8> = (0..n).map(|_| random.u8(..)).collect();
        let mut writer = SumsWriter::default();
        for bytes in all.chunks(999) {
            writer.add(bytes);
        }
        let (table, tops) = writer.finish();
        all.extend([table, tops].concat());
        let range = n..all.len();
        (all, range)
    }

    #[test]
    fn a_changed_byte_damages_its_chunk_and_no_other() {
        for n in [1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
            let (mut all, range) = summed(n);
            assert!(Sums::new(range.clone()).unwrap().are_all_sound(&all));
            for at in [0, n / 2, n - 1] {
                all[at] ^= 4;
                let sums = Sums::new(range.clone()).unwrap();
                for other in 0..n.div_ceil(CHUNK) {
                    let inside = other * CHUNK..(other * CHUNK + 1).min(n);
                    assert_eq!(sums.is_sound(&all, inside), other != at / CHUNK, "{n} {at}");
                }
                assert!(sums.is_damaged() && !sums.are_all_sound(&all));
                all[at] ^= 4;
            }
        }
    }

    #[test]
    fn a_changed_sum_damages_the_chunks_of_its_chunk() {
        let n = (CHUNK / SUM_BYTES + 1) * CHUNK;
        let (mut all, range) = summed(n);
        // The sum of the first chunk, which lies in the first chunk of the table.
        all[n] ^= 1;
        let sums = Sums::new(range).unwrap();
        assert!(!sums.is_sound(&all, CHUNK..CHUNK + 1));
        assert!(sums.is_sound(&all, n - 1..n));
        // A chunk that was compared is not compared again.
        all[n - 1] ^= 1;
        assert!(sums.is_sound(&all, n - 1..n));
    }

    #[test]
    fn sums_of_another_length_are_none() {
        let (_, range) = summed(9 * CHUNK);
        assert!(Sums::new(range.start..range.end - SUM_BYTES).is_none());
        assert!(Sums::new(range.start..range.end + SUM_BYTES).is_none());
        assert!(Sums::new(usize::MAX - 1..usize::MAX).is_none());
        let none = Sums::new(0..0).unwrap();
        assert!(none.are_all_sound(&[]) && none.is_sound(&[], 0..0));
    }
}
