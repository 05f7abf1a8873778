//! The format of an n-gram segment, and its reader.
//!
//! ```text
//! postings     for each n-gram its documents (see `postings`), one list after the other
//! dictionary   for each n-gram, in order: its difference from the previous one, the number of its documents
//!              and the size of its postings; the first of each block of 64 starts from 0
//! blocks       for each block: the number before its first n-gram, the offset of its entries, the offset of
//!              their postings
//! rows         for each document, by key and stamp: both, its number, its flags
//! pieces       for each piece of a large text, in order: its number, its line feeds, its bytes
//! names        for each document its path and its member path, with a 0 between them, as the length of
//!              the prefix that it shares with the previous name, and the rest
//! name offsets the offset of every 16th name, which is stored whole
//! sums         the CRC-32 of each chunk of all before them (see `sums`)
//! footer       the offset of each part, the number of documents, the CRC-32 of itself and the last sums,
//!              MAGIC
//! ```
//!
//! The pieces of a document have the numbers after its own; they have empty names and no rows.
//!
//! Numbers have 8 bytes (4 in rows for document and flags, and in pieces for number and line
//! feeds), little-endian, or 7 bits per byte in dictionary and names. The bytes on which an
//! answer rests are compared with their sums once: if they are damaged, no file is ruled out by them. A merge
//! compares the whole file before. Files of the former format have no sums, and one checksum of all
//! bytes, which is compared only on request.

use std::ops::Range;

use ken_core::{FileKey, Token, first_from, first_from_each, number_at, take_number};

use crate::ngram::Ngram;
use crate::pieces::Extent;
use crate::postings::Decoder;
use crate::sums::Sums;

/// Changes with the format, and with the table of common trigrams.
pub(crate) const MAGIC: [u8; 8] = *b"kengram4";
/// The former format, which has no sums.
const MAGIC_WITHOUT_SUMS: [u8; 8] = *b"kengram3";
pub(crate) const BLOCK: usize = 64;
pub(crate) const NAMES: usize = 16;
pub(crate) const ROW_BYTES: usize = 24;
/// A flag in addition to the bits of [`Covers`].
pub(crate) const IS_PART: u32 = 8;
const BLOCK_BYTES: usize = 24;
const PIECE_BYTES: usize = 16;
const N_PARTS: usize = 7;
/// The end of the footer, which its checksum does not cover.
const SUM_BYTES: usize = 8 + MAGIC.len();

/// The bytes of a file, mapped or in memory.
pub type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A file in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The key of the file's path.
    pub key: u64,
    /// The hash of the file's stamp, as in its token.
    pub stamp: u64,
}

impl Version {
    /// Returns the version of the file with this token, whatever its generation.
    pub fn new(key: FileKey, token: Token) -> Self {
        Self {
            key: key.0,
            stamp: token.stamp_hash(),
        }
    }
}

/// The content that a document's n-grams cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covers {
    /// The bytes of the file up to the first 0, decoded if they are UTF-16.
    pub start: bool,
    /// In addition, the file contains no 0.
    pub whole: bool,
    /// The extracted text.
    pub text: bool,
}

impl Covers {
    pub(crate) fn to_bits(self) -> u32 {
        u32::from(self.start) | u32::from(self.whole) << 1 | u32::from(self.text) << 2
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self {
            start: bits & 1 != 0,
            whole: bits & 2 != 0,
            text: bits & 4 != 0,
        }
    }
}

/// One row of the table of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The version of the file.
    pub version: Version,
    /// The number of the document in its segment.
    pub doc: u32,
    /// The content that its n-grams cover.
    pub covers: Covers,
    /// Whether the document is inside the file, rather than the file itself.
    pub is_part: bool,
}

/// The position of an n-gram's documents, and their number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    pub(crate) n: u32,
    pub(crate) bytes: Range<usize>,
    /// The block of the dictionary that says so.
    pub(crate) block: usize,
}

/// An n-gram segment, open for reading.
pub struct Segment {
    bytes: Bytes,
    parts: [Range<usize>; N_PARTS],
    n_docs: u32,
    sums: Option<Sums>,
}

const POSTINGS: usize = 0;
const DICTIONARY: usize = 1;
const BLOCKS: usize = 2;
const ROWS: usize = 3;
const PIECES: usize = 4;
pub(crate) const NAME: usize = 5;
pub(crate) const NAME_OFFSETS: usize = 6;

impl Segment {
    /// Reads the footer; returns `None` if the bytes are not a segment, or in another format.
    pub fn open(bytes: Bytes) -> Option<Self> {
        let all = (*bytes).as_ref();
        let n_starts = match *all.last_chunk()? {
            MAGIC => N_PARTS + 1,
            MAGIC_WITHOUT_SUMS => N_PARTS,
            _ => return None,
        };
        let footer = all.len().checked_sub(8 * (n_starts + 1) + SUM_BYTES)?;
        let numbers = all[footer..].as_chunks::<8>().0.iter();
        let mut starts: Vec<usize> = numbers
            .take(n_starts + 1)
            .map(|number| usize::try_from(u64::from_le_bytes(*number)).ok())
            .collect::<Option<_>>()?;
        let n_docs = u32::try_from(starts.pop()?).ok()?;
        let ends = starts.iter().skip(1).copied().chain([footer]);
        let parts = starts.iter().copied().zip(ends);
        let mut parts: Vec<_> = parts.map(|(start, end)| start..end).collect();
        let is_in_order = starts[0] == 0 && parts.iter().all(|part| part.start <= part.end);
        let sums = parts.get(N_PARTS).cloned().filter(|_| is_in_order);
        let sums = sums.map(|range| sums_in(all, range));
        parts.truncate(N_PARTS);
        let parts: [Range<usize>; N_PARTS] = parts.try_into().ok()?;
        let is_whole = is_in_order
            && sums.as_ref().is_none_or(Option::is_some)
            && parts[BLOCKS].len().is_multiple_of(BLOCK_BYTES)
            && parts[ROWS].len().is_multiple_of(ROW_BYTES)
            && parts[PIECES].len().is_multiple_of(PIECE_BYTES)
            && parts[NAME_OFFSETS].len() == 8 * (n_docs as usize).div_ceil(NAMES);
        is_whole.then_some(Self {
            bytes,
            parts,
            n_docs,
            sums: sums.flatten(),
        })
    }

    /// Returns whether all bytes are unchanged since they were written; reads all of them.
    pub fn is_sound(&self) -> bool {
        let all = (*self.bytes).as_ref();
        match &self.sums {
            Some(sums) => sums.are_all_sound(all),
            None => sum_at_end(all) == Some(crc32fast::hash(before_sum(all)).into()),
        }
    }

    /// Returns whether something that was read is not as it was written. The segment then rules out no
    /// further document.
    pub fn is_damaged(&self) -> bool {
        self.sums.as_ref().is_some_and(Sums::is_damaged)
    }

    /// Returns whether all rows are as they were written; reads them, once.
    pub fn has_sound_rows(&self) -> bool {
        self.is_unchanged(ROWS, 0..self.parts[ROWS].len())
    }

    /// Returns whether the bytes in a range of a part are as they were written.
    #[inline]
    pub(crate) fn is_unchanged(&self, part: usize, range: Range<usize>) -> bool {
        let Some(sums) = &self.sums else {
            return true;
        };
        let part = &self.parts[part];
        let end = part.end.min(part.start.saturating_add(range.end));
        let start = part.start.saturating_add(range.start);
        sums.is_sound((*self.bytes).as_ref(), start..end)
    }

    /// Returns how many documents there are.
    pub fn n_docs(&self) -> u32 {
        self.n_docs
    }

    pub(crate) fn part(&self, part: usize) -> &[u8] {
        (*self.bytes)
            .as_ref()
            .get(self.parts[part].clone())
            .unwrap_or_default()
    }

    /// Returns the documents of an n-gram; none if no document contains it. The dictionary is compared
    /// with its sums only if it lacks the n-gram: an entry counts once its list is read.
    pub(crate) fn look_up(&self, ngram: Ngram) -> Option<Postings> {
        let blocks = self.part(BLOCKS).as_chunks::<BLOCK_BYTES>().0;
        let first = |block: &[u8; BLOCK_BYTES]| number_at(block, 0);
        let after = blocks.partition_point(|block| first(block) < u64::from(ngram));
        // The block before the first would begin with a smaller n-gram.
        let block = after.saturating_sub(1);
        let mut entries = self.block(block).into_iter().flatten();
        let found = entries
            .find(|(other, _)| *other >= ngram)
            .filter(|(other, _)| *other == ngram);
        if found.is_none() {
            self.is_block_unchanged(block);
        }
        found.map(|(_, postings)| postings)
    }

    /// Returns whether the entries of a block are as they were written, and where the search for its
    /// n-grams ends.
    fn is_block_unchanged(&self, block: usize) -> bool {
        // The block and the next one.
        self.is_unchanged(BLOCKS, block * BLOCK_BYTES..(block + 2) * BLOCK_BYTES)
            && self
                .entries_of(block)
                .is_none_or(|entries| self.is_unchanged(DICTIONARY, entries))
    }

    /// Returns the range of a block's entries in the dictionary.
    fn entries_of(&self, block: usize) -> Option<Range<usize>> {
        let blocks = self.part(BLOCKS).as_chunks::<BLOCK_BYTES>().0;
        let offset = |block: &[u8; BLOCK_BYTES]| usize::try_from(number_at(block, 8)).ok();
        let end = match blocks.get(block + 1) {
            Some(next) => offset(next)?,
            None => self.parts[DICTIONARY].len(),
        };
        Some(offset(blocks.get(block)?)?..end)
    }

    fn block(&self, number: usize) -> Option<Entries<'_>> {
        let block = self.part(BLOCKS).as_chunks::<BLOCK_BYTES>().0.get(number)?;
        let offset = |at| usize::try_from(number_at(block, at)).ok();
        Some(Entries {
            dictionary: self.part(DICTIONARY).get(offset(8)?..)?,
            ngram: Ngram::try_from(number_at(block, 0)).ok()?,
            at: offset(16)?,
            block: number,
            left: BLOCK,
        })
    }

    /// Returns the n-grams in a range, in order, with their documents.
    pub(crate) fn entries(
        &self,
        range: Range<u64>,
    ) -> impl Iterator<Item = (Ngram, Postings)> + '_ {
        let blocks = self.part(BLOCKS).as_chunks::<BLOCK_BYTES>().0;
        let after = blocks.partition_point(|block| number_at(block, 0) < range.start);
        let blocks = after.saturating_sub(1)..blocks.len();
        let entries = blocks.filter_map(|block| self.block(block)).flatten();
        entries
            .skip_while(move |(ngram, _)| u64::from(*ngram) < range.start)
            .take_while(move |(ngram, _)| u64::from(*ngram) < range.end)
    }

    /// Returns at most `n` ranges of n-grams, with about equal bytes of postings.
    pub(crate) fn ranges(&self, n: usize) -> Vec<Range<u64>> {
        let blocks = self.part(BLOCKS).as_chunks::<BLOCK_BYTES>().0;
        let all = self.part(POSTINGS).len() as u64;
        let starts = (1..n as u64).filter_map(|part| {
            let target = all / n as u64 * part;
            let block = blocks.partition_point(|block| number_at(block, 16) < target);
            blocks.get(block).map(|block| number_at(block, 0))
        });
        let mut starts: Vec<u64> = [0].into_iter().chain(starts).collect();
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
        starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(start, end)| start..end)
            .collect()
    }

    /// Returns the size of its postings in bytes.
    pub(crate) fn n_postings(&self) -> usize {
        self.part(POSTINGS).len()
    }

    /// Reads the documents of an n-gram for an answer. If they are damaged, they are others, and
    /// [`Self::is_damaged`] holds.
    pub(crate) fn compared_documents(&self, postings: &Postings) -> Decoder<'_> {
        let _ = self.is_block_unchanged(postings.block)
            && self.is_unchanged(POSTINGS, postings.bytes.clone());
        self.documents(postings)
    }

    /// Reads the documents of an n-gram without comparing them with their sums.
    pub(crate) fn documents(&self, postings: &Postings) -> Decoder<'_> {
        let bytes = self
            .part(POSTINGS)
            .get(postings.bytes.start..)
            .unwrap_or_default();
        Decoder::new(bytes, postings.n, self.n_docs)
    }

    /// Returns all rows, in order of their versions; they are not compared with their sums.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row> + '_ {
        self.part(ROWS).as_chunks::<ROW_BYTES>().0.iter().map(row)
    }

    /// Returns the rows of a file, in order of their versions: one for each part of it. Damaged rows
    /// are missing.
    pub fn of(&self, key: u64) -> impl Iterator<Item = Row> + Clone + '_ {
        let rows = self.part(ROWS).as_chunks::<ROW_BYTES>().0;
        self.of_at(key, first_from(rows, key))
    }

    /// Returns whether the rows of a file begin at this position.
    pub fn is_at(&self, key: u64, index: usize) -> bool {
        let rows = self.part(ROWS).as_chunks::<ROW_BYTES>().0;
        rows.get(index).is_some_and(|row| number_at(row, 0) == key)
    }

    /// Adds to `indexes`, for each key that has rows, their position, for [`Self::is_at`] and
    /// [`Self::of_at`].
    pub fn rows_of(&self, keys: &[u64], indexes: &mut Vec<usize>) {
        let rows = self.part(ROWS).as_chunks::<ROW_BYTES>().0;
        first_from_each(rows, keys, indexes);
    }

    /// Returns the rows of a file like [`Self::of`], given their position from [`Self::rows_of`].
    pub fn of_at(&self, key: u64, index: usize) -> impl Iterator<Item = Row> + Clone + '_ {
        let rows = self.part(ROWS).as_chunks::<ROW_BYTES>().0;
        let from_index = rows.get(index..).unwrap_or_default();
        let rows = from_index.iter().zip(index..);
        rows.map(|(bytes, index)| (row(bytes), index))
            .take_while(move |(row, index)| {
                let bytes = || index * ROW_BYTES..(index + 1) * ROW_BYTES;
                row.version.key == key && self.is_unchanged(ROWS, bytes())
            })
            .map(|(row, _)| row)
    }

    /// Returns the pieces of a document, in order, each with its number and extent; none if they are
    /// damaged.
    pub fn pieces(&self, doc: u32) -> impl Iterator<Item = (u32, Extent)> + '_ {
        let pieces = self.part(PIECES).as_chunks::<PIECE_BYTES>().0;
        let number = |piece: &[u8; PIECE_BYTES]| number_at(piece, 0) as u32;
        let start = pieces.partition_point(|piece| number(piece) <= doc);
        let numbers = pieces[start..].iter().map(number).zip(u64::from(doc) + 1..);
        let n = numbers
            .take_while(|(number, expected)| u64::from(*number) == *expected)
            .count();
        // The piece after them shows that none is missing.
        let bytes = start * PIECE_BYTES..(start + n + 1) * PIECE_BYTES;
        let n = match n > 0 && self.is_unchanged(PIECES, bytes) {
            true => n,
            false => 0,
        };
        pieces[start..start + n].iter().map(move |piece| {
            let lines = (number_at(piece, 0) >> 32) as u32;
            let bytes = number_at(piece, 8);
            (number(piece), Extent { bytes, lines })
        })
    }
}

/// Returns the sums in a range of a segment, if they and its footer are as they were written.
fn sums_in(all: &[u8], range: Range<usize>) -> Option<Sums> {
    let sums = Sums::new(range)?;
    let summed = before_sum(all).get(sums.tops()..)?;
    (sum_at_end(all) == Some(crc32fast::hash(summed).into())).then_some(sums)
}

/// Returns all bytes that the checksum at the end may cover.
fn before_sum(all: &[u8]) -> &[u8] {
    &all[..all.len().saturating_sub(SUM_BYTES)]
}

fn sum_at_end(all: &[u8]) -> Option<u64> {
    let end = all.last_chunk::<SUM_BYTES>()?;
    Some(number_at(end, 0))
}

/// The entries of a block of the dictionary.
struct Entries<'a> {
    dictionary: &'a [u8],
    ngram: Ngram,
    at: usize,
    block: usize,
    left: usize,
}

impl Iterator for Entries<'_> {
    type Item = (Ngram, Postings);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let more = take_number(&mut self.dictionary).filter(|more| *more > 0)?;
        self.ngram = self.ngram.checked_add(Ngram::try_from(more).ok()?)?;
        let n = u32::try_from(take_number(&mut self.dictionary)?).ok()?;
        let length = usize::try_from(take_number(&mut self.dictionary)?).ok()?;
        let end = self.at.checked_add(length)?;
        let bytes = self.at..end;
        self.at = end;
        let block = self.block;
        Some((self.ngram, Postings { n, bytes, block }))
    }
}

fn row(bytes: &[u8; ROW_BYTES]) -> Row {
    let last = number_at(bytes, 16);
    Row {
        version: Version {
            key: number_at(bytes, 0),
            stamp: number_at(bytes, 8),
        },
        doc: last as u32,
        covers: Covers::from_bits((last >> 32) as u32),
        is_part: (last >> 32) as u32 & IS_PART != 0,
    }
}
