//! Joins the text from its pieces, as UTF-16 units (MS-DOC 2.4.1 and 2.9.38).

use std::collections::HashSet;
use std::ops::Range;

use super::fib::{CHINESE, Fib};
use crate::structure::cursor::Cursor;
use crate::text;
use crate::text::code_page;

/// A run of characters that are stored together.
struct Piece {
    n_characters: usize,
    at: usize,
    is_8_bit: bool,
}

/// Returns the text, and whether it is complete. Pieces may overlap, so at most as many characters
/// are read as the stream has bytes.
pub(super) fn read(fib: &Fib, main: &[u8], table: &[u8]) -> (Vec<u16>, bool) {
    let found = fib
        .has_pieces
        .then(|| fib.pieces.of(table).and_then(piece_table))
        .flatten();
    let pieces = match found {
        Some(table) => pieces(table, fib),
        None => {
            let n_bytes = fib.text_end.saturating_sub(fib.text_start);
            vec![Piece {
                n_characters: if fib.is_double_byte {
                    n_bytes / 2
                } else {
                    n_bytes
                },
                at: fib.text_start,
                is_8_bit: !fib.is_double_byte,
            }]
        }
    };
    let code_page = if fib.is_word_97 {
        code_page::WESTERN
    } else {
        page_of_text(fib, main, &pieces)
    };
    let mut units = Vec::new();
    let mut is_whole = true;
    for piece in pieces {
        let n_left = main.len().saturating_sub(units.len());
        let n_characters = piece.n_characters.min(n_left);
        let n_bytes = if piece.is_8_bit {
            n_characters
        } else {
            2 * n_characters
        };
        let start = piece.at.min(main.len());
        let bytes = &main[start..start.saturating_add(n_bytes).min(main.len())];
        is_whole &= n_characters == piece.n_characters && bytes.len() == n_bytes;
        if piece.is_8_bit {
            units.extend(code_page::decode(bytes, code_page).encode_utf16());
        } else if fib.is_double_byte {
            let page = (fib.language != CHINESE).then_some(code_page);
            units.extend(double_byte(bytes, page).encode_utf16());
        } else {
            let pairs = bytes.as_chunks::<2>().0;
            units.extend(pairs.iter().copied().map(u16::from_le_bytes));
        }
    }
    (units, is_whole)
}

/// Returns the positions of the characters before these offsets in the main stream.
pub(super) fn positions(fib: &Fib, table: &[u8], offsets: &[usize]) -> HashSet<usize> {
    let before = offsets.iter().filter(|offset| **offset > 0);
    let before = before.map(|offset| (offset - 1..*offset, ())).collect();
    let found = ranges(fib, table, before).into_iter();
    found.map(|(range, ())| range.start).collect()
}

/// Returns the positions of the characters in ranges of the main stream, in order, each with what belongs to its range.
pub(super) fn ranges<T: Copy>(
    fib: &Fib,
    table: &[u8],
    mut offsets: Vec<(Range<usize>, T)>,
) -> Vec<(Range<usize>, T)> {
    let mut found = Vec::new();
    let Some(table) = fib.pieces.of(table).and_then(piece_table) else {
        return found;
    };
    if offsets.is_empty() {
        return found;
    }
    offsets.sort_by_key(|(range, _)| range.start);
    let mut position = 0;
    for piece in pieces(table, fib) {
        let width = if piece.is_8_bit { 1 } else { 2 };
        let end = piece.at + width * piece.n_characters;
        // Ranges of the properties do not overlap, unless the file is damaged.
        let first = offsets.partition_point(|(range, _)| range.end <= piece.at);
        let within = offsets[first..]
            .iter()
            .take_while(|(range, _)| range.start < end);
        let within = within.take(MAX_RANGES - found.len());
        found.extend(within.map(|(range, of)| {
            let start = range.start.saturating_sub(piece.at) / width;
            let end = range.end.min(end).saturating_sub(piece.at) / width;
            (position + start..position + end, *of)
        }));
        position += piece.n_characters;
    }
    found
}

/// Ranges beyond this number are left out; pieces that overlap would repeat them.
const MAX_RANGES: usize = 200_000;

/// Returns the code page of Word 6 and 95, which is that of its language. The language of most
/// programs was English, whatever was written in them, so that the text may show another one.
fn page_of_text(fib: &Fib, main: &[u8], pieces: &[Piece]) -> u16 {
    let page = code_page::of_language(fib.language);
    if fib.is_of_mac {
        return match page {
            1251 => 10_007,
            1250 => 10_029,
            1253 => 10_006,
            1254 => 10_081,
            code_page::WESTERN => 10_000,
            page => page,
        };
    }
    if page != code_page::WESTERN || fib.is_double_byte {
        return page;
    }
    let mut sample = Vec::new();
    for piece in pieces {
        let start = piece.at.min(main.len());
        let n_bytes = piece.n_characters.min(main.len() - start);
        let text = &main[start..start + n_bytes];
        sample.extend(
            text.iter()
                .take(MAX_SAMPLE_BYTES.saturating_sub(sample.len())),
        );
    }
    text::names::page_of_windows(&sample).unwrap_or(page)
}

/// Number of bytes of text that show its code page.
const MAX_SAMPLE_BYTES: usize = 16 << 10;

/// Decodes characters of one or two bytes, each stored in two bytes with the first byte last.
/// Without a code page, guesses it.
fn double_byte(bytes: &[u8], code_page: Option<u16>) -> String {
    let mut packed = Vec::with_capacity(bytes.len());
    for &[low, high] in bytes.as_chunks::<2>().0 {
        match (low, high) {
            (0x80.., 0) if code_page != Some(JAPANESE) => packed.extend(plain(low)),
            (_, 0) => packed.push(low),
            _ => packed.extend([high, low]),
        }
    }
    match code_page {
        Some(page) => code_page::decode(&packed, page).into_owned(),
        None => text::decode(&packed, None).into_owned(),
    }
}

/// The code page in which a single byte may be no ASCII.
const JAPANESE: u16 = 932;

/// Returns what stands for a mark of Western Windows, which Word writes between characters of two bytes that would take it for the
/// half of one.
fn plain(mark: u8) -> &'static [u8] {
    match mark {
        0x91 | 0x92 => b"'",
        0x93 | 0x94 => b"\"",
        0x96 | 0x97 => b"-",
        0x85 => b"...",
        _ => b" ",
    }
}

/// Finds the table of pieces, after the format changes that fast saving left.
fn piece_table(clx: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor(clx);
    loop {
        match cursor.byte()? {
            1 => {
                let length = usize::from(cursor.le_u16()?);
                cursor.take(length)?;
            }
            2 => {
                let length = cursor.le_u32()? as usize;
                return cursor.take(length.min(cursor.0.len()));
            }
            _ => return None,
        }
    }
}

fn pieces(table: &[u8], fib: &Fib) -> Vec<Piece> {
    let n_pieces = table.len().saturating_sub(4) / 12;
    let (positions, descriptors) = table.split_at(4 * (n_pieces + 1).min(table.len() / 4));
    let positions: Vec<usize> = positions
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes) as usize)
        .collect();
    let descriptors = descriptors.as_chunks::<8>().0;
    positions
        .windows(2)
        .zip(descriptors)
        .map(|(ends, descriptor)| {
            let offset =
                u32::from_le_bytes([descriptor[2], descriptor[3], descriptor[4], descriptor[5]]);
            let is_8_bit = match fib.is_word_97 {
                true => offset & 0x4000_0000 != 0,
                false => !fib.is_double_byte,
            };
            let at = (offset & 0x3fff_ffff) as usize;
            Piece {
                n_characters: ends[1].saturating_sub(ends[0]),
                at: if fib.is_word_97 && is_8_bit {
                    at / 2
                } else {
                    at
                },
                is_8_bit,
            }
        })
        .collect()
}
