//! The table of term infos: the location of the postings of each term of a dictionary, by the
//! term's number.
//!
//! The engine numbers the terms of a dictionary in order and has a table of their infos by number,
//! but only returns the info of a term that it found in the automaton. For consecutive terms, such
//! as those of a prefix, the first and the last are enough: finding tens of thousands in the
//! automaton takes longer than reading their postings. The format of the table is that of Tantivy
//! 0.27 (`TermInfoStore`): blocks of 256 terms, the first with its info, the others with bits of
//! fixed width that are added to it.

use std::io;
use std::ops::Range;

use tantivy::directory::OwnedBytes;
use tantivy::postings::TermInfo;
use tantivy_common::{BinarySerializable, FixedSize};

/// Number of terms in a block.
const BLOCK_TERMS: u64 = 256;
/// Size of the head of the table: the size of its blocks and the number of terms, 8 bytes each.
const HEAD_BYTES: usize = 16;
/// Size of a block: the offset of its bits (8 bytes), the info of its first term, and three widths.
const BLOCK_BYTES: usize = 8 + TermInfo::SIZE_IN_BYTES + 3;
/// Maximum width, since bits are read as one word that begins at any bit of a byte.
const MAX_WIDTH: u8 = 56;

/// The table of one dictionary.
pub(crate) struct TermInfos {
    blocks: OwnedBytes,
    bits: OwnedBytes,
    pub(super) n_terms: u64,
}

/// The head of a block.
struct Block {
    at: usize,
    first: TermInfo,
    postings: u8,
    positions: u8,
    documents: u8,
}

impl TermInfos {
    /// Reads the table that the engine wrote.
    pub(super) fn read(table: &OwnedBytes) -> io::Result<Self> {
        let head = &mut table.get(..HEAD_BYTES).ok_or_else(damaged)?;
        let n_bytes = u64::deserialize(head)?;
        let n_terms = u64::deserialize(head)?;
        let bits = usize::try_from(n_bytes).ok();
        let bits = bits.and_then(|bytes| bytes.checked_add(HEAD_BYTES));
        let bits = bits.filter(|bits| *bits <= table.len());
        let bits = bits.ok_or_else(damaged)?;
        let n_blocks = usize::try_from(n_terms.div_ceil(BLOCK_TERMS)).ok();
        if n_blocks.and_then(|n| n.checked_mul(BLOCK_BYTES)) != Some(bits - HEAD_BYTES) {
            return Err(damaged());
        }
        Ok(Self {
            blocks: table.slice(HEAD_BYTES..bits),
            bits: table.slice(bits..table.len()),
            n_terms,
        })
    }

    /// Calls `each` with the infos of the terms with these numbers, in order.
    ///
    /// # Errors
    /// Fails if the table is damaged, and with the first error of `each`.
    pub(crate) fn each<E: From<io::Error>>(
        &self,
        numbers: Range<u64>,
        each: &mut dyn FnMut(&TermInfo) -> Result<(), E>,
    ) -> Result<(), E> {
        if numbers.is_empty() {
            return Ok(());
        }
        if numbers.end > self.n_terms {
            return Err(damaged().into());
        }
        for number in numbers.start / BLOCK_TERMS..numbers.end.div_ceil(BLOCK_TERMS) {
            let block = self.block(number)?;
            let begin = number * BLOCK_TERMS;
            let from = numbers.start.max(begin) - begin;
            let to = numbers.end.min(begin + BLOCK_TERMS) - begin;
            for number in from..to {
                each(&self.info(&block, number as usize)?)?;
            }
        }
        Ok(())
    }

    fn block(&self, number: u64) -> io::Result<Block> {
        let at = usize::try_from(number).ok();
        let at = at.and_then(|number| number.checked_mul(BLOCK_BYTES));
        let bytes = at.and_then(|at| self.blocks.get(at..)?.get(..BLOCK_BYTES));
        let mut bytes = bytes.ok_or_else(damaged)?;
        let at = u64::deserialize(&mut bytes)?;
        let first = TermInfo::deserialize(&mut bytes)?;
        let mut width = || u8::deserialize(&mut bytes);
        let [documents, postings, positions] = [width()?, width()?, width()?];
        if [documents, postings, positions]
            .iter()
            .any(|width| *width > MAX_WIDTH)
        {
            return Err(damaged());
        }
        Ok(Block {
            at: usize::try_from(at).map_err(|_| damaged())?,
            first,
            postings,
            positions,
            documents,
        })
    }

    /// Returns the info of a term by its number in its block.
    fn info(&self, block: &Block, number: usize) -> io::Result<TermInfo> {
        let Some(number) = number.checked_sub(1) else {
            return Ok(block.first.clone());
        };
        let bits = self.bits.get(block.at..).ok_or_else(damaged)?;
        let [postings, positions, documents] =
            [block.postings, block.positions, block.documents].map(usize::from);
        let width = postings + positions + documents;
        let at = number * width;
        let start = |begin: usize, at: usize, width| {
            let more = usize::try_from(read(bits, at, width)?).ok()?;
            begin.checked_add(more)
        };
        // The postings of a term end where those of the next one begin.
        let range = |begin: usize, at, bits| {
            let range = start(begin, at, bits)?..start(begin, at + width, bits)?;
            (range.start <= range.end).then_some(range)
        };
        let info = || {
            Some(TermInfo {
                doc_freq: u32::try_from(read(bits, at + postings + positions, documents)?).ok()?,
                postings_range: range(block.first.postings_range.start, at, postings)?,
                positions_range: range(
                    block.first.positions_range.start,
                    at + postings,
                    positions,
                )?,
            })
        };
        info().ok_or_else(damaged)
    }
}

/// Reads bits as a number, lowest first; those after the end are 0, since the last word is not
/// written completely.
fn read(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let rest = bytes.get(at / 8..)?;
    let mut word = [0; 8];
    match rest.first_chunk() {
        Some(whole) => word = *whole,
        None => word[..rest.len()].copy_from_slice(rest),
    }
    Some(u64::from_le_bytes(word) >> (at % 8) & ((1 << width) - 1))
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a damaged dictionary")
}
