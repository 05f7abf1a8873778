//! The lists of one term: its documents, its frequency in each, and its positions.
//!
//! Blocks of 128 numbers are packed with as many bits as the greatest of them needs. The remaining
//! numbers have 7 bits per byte; the last byte of each has the highest bit set.
//!
//! ```text
//! documents  if there are 128 or more: the size of the entries of full blocks, and these entries, see below; then for
//!            each full block: numbers of documents as differences minus one, frequencies minus one; the rest:
//!            differences, frequencies
//! entry      last document (u32), bits of a difference and a flag; if there are frequencies: bits of a frequency,
//!            their sum (u32), length and frequency of the document that the term ranks highest (a byte each)
//! positions  number of full blocks, the bits of each, the blocks; the rest
//! ```

use std::cmp::Ordering;
use std::io;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy_common::write_u32_vint;

use super::Out;

/// Number of values that are packed together.
const BLOCK: usize = BitPacker4x::BLOCK_LEN;
/// Maximum size of a packed block.
const MAX_BLOCK_BYTES: usize = BLOCK * size_of::<u32>();
/// Flag in the bits of a difference: the difference is stored minus one.
const ONE_LESS: u8 = 1 << 6;

/// BM25 (Robertson et al., "Okapi at TREC-3", 1994), as far as it orders the documents of one term.
pub(super) struct Ranking {
    norms: FieldNormReader,
    /// By the code of a document's length, the number that it adds to the frequency of the term.
    by_length: [f32; 256],
}

impl Ranking {
    /// Creates the ranking of a field with `n_tokens`.
    pub(super) fn new(norms: FieldNormReader, n_tokens: u64) -> Self {
        const K1: f32 = 1.2;
        const B: f32 = 0.75;
        let average = n_tokens as f32 / norms.num_docs() as f32;
        let by_length = std::array::from_fn(|code| {
            let length = FieldNormReader::id_to_fieldnorm(code as u8);
            K1 * (1.0 - B + B * length as f32 / average)
        });
        Self { norms, by_length }
    }

    /// Returns the code of the length and the frequency of the highest ranked document; of several,
    /// the last one.
    fn highest(&self, docs: &[DocId], freqs: &[u32]) -> (u8, u32) {
        let (mut best, mut highest) = ((0, 0), f32::NEG_INFINITY);
        for (doc, freq) in docs.iter().zip(freqs) {
            let code = self.norms.fieldnorm_id(*doc);
            let score = *freq as f32 / (*freq as f32 + self.by_length[code as usize]);
            if highest.partial_cmp(&score) != Some(Ordering::Greater) {
                (best, highest) = ((code, *freq), score);
            }
        }
        best
    }
}

/// The documents of a term.
pub(super) struct TermDocs {
    has_freqs: bool,
    ranking: Option<Ranking>,
    packer: Packer,
    docs: [DocId; BLOCK],
    freqs: [u32; BLOCK],
    /// Number of values that wait.
    n: usize,
    /// The last document of the last full block.
    last: DocId,
    entries: Vec<u8>,
    blocks: Vec<u8>,
}

impl TermDocs {
    pub(super) fn new(has_freqs: bool, ranking: Option<Ranking>) -> Self {
        Self {
            has_freqs,
            ranking,
            packer: Packer::new(),
            docs: [0; BLOCK],
            freqs: [0; BLOCK],
            n: 0,
            last: 0,
            entries: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Adds documents after the last one, each with its frequency of the term.
    #[inline]
    pub(super) fn add(&mut self, mut docs: &[DocId], mut freqs: &[u32]) {
        while !docs.is_empty() {
            let start = self.n;
            let n;
            (n, docs) = move_into(&mut self.docs, start, docs);
            (_, freqs) = move_into(&mut self.freqs, start, freqs);
            self.n += n;
            if self.n == BLOCK {
                self.pack();
            }
        }
    }

    fn pack(&mut self) {
        let n_bits = self
            .packer
            .differences(self.last, &self.docs, &mut self.blocks);
        self.last = self.docs[BLOCK - 1];
        self.entries.extend_from_slice(&self.last.to_le_bytes());
        self.entries.push(n_bits | ONE_LESS);
        if self.has_freqs {
            let sum: u32 = self.freqs.iter().sum();
            let (length, freq) = match &self.ranking {
                Some(ranking) => ranking.highest(&self.docs, &self.freqs),
                None => (0, 0),
            };
            let less = self.freqs.map(|freq| freq - 1);
            let n_bits = self.packer.numbers(&less, &mut self.blocks);
            self.entries.push(n_bits);
            self.entries.extend_from_slice(&sum.to_le_bytes());
            self.entries
                .extend([length, freq.min(u8::MAX.into()) as u8]);
        }
        self.n = 0;
    }

    /// Writes the rest of the term and begins the next one.
    #[inline]
    pub(super) fn finish(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        if !self.entries.is_empty() {
            write_u32_vint(self.entries.len() as u32, &mut out.bytes)?;
            out.append(&mut self.entries)?;
            out.append(&mut self.blocks)?;
        }
        let out = &mut out.bytes;
        let mut last = self.last;
        for doc in &self.docs[..self.n] {
            write_u32_vint(*doc - last, out)?;
            last = *doc;
        }
        if self.has_freqs {
            for freq in &self.freqs[..self.n] {
                write_u32_vint(*freq, out)?;
            }
        }
        (self.n, self.last) = (0, 0);
        Ok(())
    }
}

/// The positions of a term, each as the difference from the previous one in the document.
pub(super) struct Positions {
    packer: Packer,
    numbers: [u32; BLOCK],
    /// Number of values that wait.
    n: usize,
    bits: Vec<u8>,
    blocks: Vec<u8>,
}

impl Positions {
    pub(super) fn new() -> Self {
        Self {
            packer: Packer::new(),
            numbers: [0; BLOCK],
            n: 0,
            bits: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Adds the positions of documents.
    #[inline]
    pub(super) fn add(&mut self, mut deltas: &[u32]) {
        while !deltas.is_empty() {
            let n;
            (n, deltas) = move_into(&mut self.numbers, self.n, deltas);
            self.n += n;
            if self.n == BLOCK {
                let n_bits = self.packer.numbers(&self.numbers, &mut self.blocks);
                self.bits.push(n_bits);
                self.n = 0;
            }
        }
    }

    /// Writes the rest of the term and begins the next one.
    #[inline]
    pub(super) fn finish(&mut self, out: &mut Out<'_>) -> io::Result<()> {
        write_u32_vint(self.bits.len() as u32, &mut out.bytes)?;
        if !self.bits.is_empty() {
            out.append(&mut self.bits)?;
            out.append(&mut self.blocks)?;
        }
        for delta in &self.numbers[..self.n] {
            write_u32_vint(*delta, &mut out.bytes)?;
        }
        self.n = 0;
        Ok(())
    }
}

/// Copies numbers into a block, from an index until it is full; returns their count, and the rest.
#[inline]
fn move_into<'n>(block: &mut [u32; BLOCK], at: usize, numbers: &'n [u32]) -> (usize, &'n [u32]) {
    let n = numbers.len().min(BLOCK - at);
    let (those, others) = numbers.split_at(n);
    block[at..at + n].copy_from_slice(those);
    (n, others)
}

/// Packs blocks of numbers.
struct Packer {
    packer: BitPacker4x,
    packed: [u8; MAX_BLOCK_BYTES],
}

impl Packer {
    fn new() -> Self {
        Self {
            packer: BitPacker4x::new(),
            packed: [0; MAX_BLOCK_BYTES],
        }
    }

    /// Packs numbers; returns the number of bits of each.
    fn numbers(&mut self, numbers: &[u32; BLOCK], out: &mut Vec<u8>) -> u8 {
        let n_bits = self.packer.num_bits(numbers);
        let n_bytes = self.packer.compress(numbers, &mut self.packed, n_bits);
        out.extend_from_slice(&self.packed[..n_bytes]);
        n_bits
    }

    /// Packs rising numbers as differences minus one, like [`Self::numbers`]; a `before` of none is
    /// 0.
    fn differences(&mut self, before: u32, numbers: &[u32; BLOCK], out: &mut Vec<u8>) -> u8 {
        let before = (before > 0).then_some(before);
        let n_bits = self.packer.num_bits_strictly_sorted(before, numbers);
        let n_bytes =
            self.packer
                .compress_strictly_sorted(before, numbers, &mut self.packed, n_bits);
        out.extend_from_slice(&self.packed[..n_bytes]);
        n_bits
    }
}
