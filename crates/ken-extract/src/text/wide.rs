//! Recognises UTF-16 and UTF-32, by their mark, by their NUL bytes, or by their words.

use encoding_rs::{UTF_16BE, UTF_16LE};

/// Number of bytes that are searched for the pattern of UTF-16 and UTF-32.
const PATTERN_BYTES: usize = 1 << 10;

/// The encodings in which ASCII text holds NUL bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
}

/// Recognises UTF-16 and UTF-32 by byte order mark (whose length is returned) or NUL pattern.
pub(super) fn wide(bytes: &[u8]) -> Option<(Wide, usize)> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] => return Some((Wide::Utf32Le, 4)),
        [0, 0, 0xfe, 0xff, ..] => return Some((Wide::Utf32Be, 4)),
        [0xff, 0xfe, ..] => return Some((Wide::Utf16Le, 2)),
        [0xfe, 0xff, ..] => return Some((Wide::Utf16Be, 2)),
        _ => {}
    }
    let sample = &bytes[..bytes.len().min(PATTERN_BYTES)];
    let has_nul = memchr::memchr(0, sample).is_some();
    let by_pattern = || has_nul.then(|| wide_by_pattern(sample)).flatten();
    let by_words = || {
        (has_nul || !may_be_utf8(sample))
            .then(|| wide_by_words(sample))
            .flatten()
    };
    by_pattern().or_else(by_words).map(|wide| (wide, 0))
}

/// Returns whether a sample, which may end within a character, is UTF-8.
fn may_be_utf8(sample: &[u8]) -> bool {
    std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Recognises East Asian UTF-16 without a mark, in which hardly a byte is NUL: every pair of bytes must
/// be a character of a text, and one in eight a frequent one. Other charsets fail at their first
/// line end or space.
fn wide_by_words(sample: &[u8]) -> Option<Wide> {
    let is_text = |to_unit: fn([u8; 2]) -> u16| {
        let (mut n_units, mut n_frequent) = (0, 0);
        for unit in sample.as_chunks::<2>().0 {
            let character = char::from_u32(u32::from(to_unit(*unit)))?;
            if !is_of_text(character) {
                return None;
            }
            n_units += 1;
            n_frequent += usize::from(is_frequent(character));
        }
        (n_units >= MIN_UNITS && n_frequent * 8 >= n_units).then_some(())
    };
    match (is_text(u16::from_le_bytes), is_text(u16::from_be_bytes)) {
        (Some(()), None) => Some(Wide::Utf16Le),
        (None, Some(())) => Some(Wide::Utf16Be),
        _ => None,
    }
}

/// Number of characters that are needed to recognise UTF-16 by its words.
const MIN_UNITS: usize = 8;

fn is_of_text(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{17f}' | '\u{370}'..='\u{52f}'
            | '\u{2010}'..='\u{2026}' | '\u{2460}'..='\u{2473}' | '\u{3000}'..='\u{30ff}'
            | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff9f}'
    )
}

fn is_frequent(character: char) -> bool {
    matches!(character, '\n' | ' ' | '\u{3000}'..='\u{30ff}' | '\u{ff0c}' | '\u{ff1a}' | '\u{ff1b}')
        || "的一是不了在人有我他这这個个们中来上大为為和国國地到以说時时要就出会會可也你对對生能而子那得于着下自之年过過发發后後作里用道行所然家种種事成方多经經去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心本前开開但因只从從想实實日月"
            .contains(character)
        || "이다는의가을에고하지한를은로도서기사인대어자나부리아전시그해수있정".contains(character)
}

/// Judges pairs of bytes. Even text that is mostly not Latin has spaces, digits and line ends: one
/// pair in ten must be half NUL, always on the same side, without control characters other than
/// those of lines. Pairs of two ASCII characters indicate 8-bit text with stray NUL bytes.
fn wide_by_pattern(sample: &[u8]) -> Option<Wide> {
    let (mut low, mut high, mut both, mut ascii, mut units) = (0, 0, 0, 0, 0);
    for unit in sample.chunks_exact(2) {
        units += 1;
        match (unit[0], unit[1]) {
            (0, 0) => both += 1,
            (character, 0) if is_latin(character) => low += 1,
            (0, character) if is_latin(character) => high += 1,
            (0, _) | (_, 0) => return None,
            (first, second) if is_ascii_text(first) && is_ascii_text(second) => ascii += 1,
            _ => {}
        }
    }
    if units < 2 || (low + high) * 10 < units || low + high <= ascii {
        return None;
    }
    match (low, high, both) {
        (_, 0, 0) => Some(Wide::Utf16Le),
        (0, _, 0) => Some(Wide::Utf16Be),
        (_, 0, _) if low == both => Some(Wide::Utf32Le),
        (0, _, _) if high == both => Some(Wide::Utf32Be),
        _ => None,
    }
}

fn is_ascii_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | 0x20..=0x7e)
}

/// Returns whether the byte is a printable character of ISO 8859-1, the first block of Unicode.
fn is_latin(byte: u8) -> bool {
    is_ascii_text(byte) || byte >= 0xa0
}

pub(super) fn decode_wide(bytes: &[u8], wide: Wide) -> String {
    let from_units = |to_u32: fn([u8; 4]) -> u32| {
        let units = bytes.as_chunks::<4>().0;
        let scalar = |unit: &[u8; 4]| char::from_u32(to_u32(*unit)).unwrap_or('\u{fffd}');
        units.iter().map(scalar).collect()
    };
    match wide {
        Wide::Utf16Le => UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
        Wide::Utf16Be => UTF_16BE.decode_without_bom_handling(bytes).0.into_owned(),
        Wide::Utf32Le => from_units(u32::from_le_bytes),
        Wide::Utf32Be => from_units(u32::from_be_bytes),
    }
}
