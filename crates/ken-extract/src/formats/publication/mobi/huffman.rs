//! The compression HUFF/CDIC: codes of up to 32 bits stand for phrases of a dictionary, which may consist of codes themselves.

use super::header::{Database, Header};
use crate::structure::cursor::Cursor;

/// Phrases that consist of phrases are nested no deeper.
const MAX_DEPTH: usize = 32;
/// More bytes and phrases than a record of text has.
const MAX_RECORD_BYTES: usize = 1 << 20;
/// More phrases than any book has.
const MAX_PHRASES: usize = 1 << 20;

/// The codes and phrases of a book.
pub(super) struct Huffman<'a> {
    /// By the first eight bits of a code: its length, whether that is certain, and the largest code of that length.
    short: Vec<(u32, bool, u32)>,
    /// By length: the smallest and the largest code.
    ranges: Vec<(u32, u32)>,
    phrases: Vec<Phrase<'a>>,
}

struct Phrase<'a> {
    bytes: &'a [u8],
    is_plain: bool,
}

impl<'a> Huffman<'a> {
    /// Reads the codes and the phrases.
    pub(super) fn read(database: &Database<'a>, header: &Header) -> Option<Self> {
        let (first, n) = header.huffman?;
        let codes = database.record(first)?;
        if !codes.starts_with(b"HUFF") {
            return None;
        }
        let at = |position: usize| Some(Cursor(codes.get(position..)?).be_u32()? as usize);
        let mut huffman = Self {
            short: short_codes(codes.get(at(8)?..)?)?,
            ranges: ranges(codes.get(at(12)?..)?)?,
            phrases: Vec::new(),
        };
        for number in 1..n {
            huffman.add_phrases(database.record(first.checked_add(number)?)?)?;
        }
        Some(huffman)
    }

    fn add_phrases(&mut self, record: &'a [u8]) -> Option<()> {
        let mut head = Cursor(record.strip_prefix(b"CDIC")?);
        let _length = head.be_u32()?;
        let n_all = head.be_u32()? as usize;
        let bits = head.be_u32()?.min(16);
        let n = (1 << bits).min(n_all.saturating_sub(self.phrases.len()));
        let offsets = record.get(16..)?;
        let mut list = Cursor(offsets);
        for _ in 0..n {
            let at = usize::from(list.be_u16()?);
            let mut phrase = Cursor(offsets.get(at..)?);
            let length = phrase.be_u16()?;
            if self.phrases.len() >= MAX_PHRASES {
                return None;
            }
            self.phrases.push(Phrase {
                bytes: phrase.take(usize::from(length & 0x7fff))?,
                is_plain: length & 0x8000 != 0,
            });
        }
        Some(())
    }

    /// Unpacks a record behind the text so far; returns whether it is good.
    pub(super) fn unpack(&self, record: &[u8], text: &mut Vec<u8>) -> bool {
        let mut left = MAX_RECORD_BYTES;
        self.unpack_within(record, 0, &mut left, text).is_some()
    }

    fn unpack_within(
        &self,
        record: &[u8],
        depth: usize,
        left: &mut usize,
        text: &mut Vec<u8>,
    ) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let n_bits = record.len() * 8;
        let mut at = 0;
        while at < n_bits {
            let code = bits(record, at);
            let (mut length, is_certain, mut largest) = self.short[(code >> 24) as usize];
            if !is_certain {
                while code < self.ranges.get(length as usize)?.0 {
                    length += 1;
                }
                largest = self.ranges.get(length as usize)?.1;
            }
            if !(1..=32).contains(&length) {
                return None;
            }
            at += length as usize;
            if at > n_bits {
                break;
            }
            let number = largest.checked_sub(code)? >> (32 - length);
            let phrase = self.phrases.get(number as usize)?;
            // Phrases that are empty cost something, too.
            *left = left.checked_sub(1 + phrase.bytes.len())?;
            match phrase.is_plain {
                true => text.extend_from_slice(phrase.bytes),
                false => self.unpack_within(phrase.bytes, depth + 1, left, text)?,
            }
        }
        Some(())
    }
}

/// Returns 32 bits from a position, with zeros behind the end.
fn bits(record: &[u8], at: usize) -> u32 {
    let mut word = 0_u64;
    for byte in 0..5 {
        word = word << 8 | u64::from(record.get(at / 8 + byte).copied().unwrap_or(0));
    }
    (word >> (8 - at % 8)) as u32
}

fn short_codes(table: &[u8]) -> Option<Vec<(u32, bool, u32)>> {
    let mut table = Cursor(table);
    let mut codes = Vec::with_capacity(256);
    for _ in 0..256 {
        let entry = table.be_u32()?;
        let length = entry & 0x1f;
        let largest = u64::from(entry >> 8) + 1;
        let largest = (largest << (32 - length)).wrapping_sub(1) as u32;
        codes.push((length, entry & 0x80 != 0, largest));
    }
    Some(codes)
}

/// Returns the smallest and the largest code of each length, from 0 on.
fn ranges(table: &[u8]) -> Option<Vec<(u32, u32)>> {
    let mut table = Cursor(table);
    let mut ranges = vec![(0, u32::MAX)];
    for length in 1..=32 {
        let (smallest, largest) = (u64::from(table.be_u32()?), u64::from(table.be_u32()?));
        let shift = 32 - length;
        ranges.push((
            (smallest << shift) as u32,
            (((largest + 1) << shift).wrapping_sub(1)) as u32,
        ));
    }
    Some(ranges)
}
