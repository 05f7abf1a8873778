//! Recognises text of mainframes (EBCDIC): the space is `@` in ASCII, and all letters and digits are beyond
//! ASCII.

use std::borrow::Cow;

use super::{code_page, names};

/// Number of bytes that are looked at.
const SAMPLE_BYTES: usize = 4 << 10;
/// Text that is shorter is not recognised.
const MIN_BYTES: usize = 16;
/// The code page of Unix on mainframes, in which the letters of English are those of all others.
const LATIN: u16 = 1047;
/// Other code pages: German, Scandinavian, Italian, Spanish, French, international, Central European,
/// Icelandic, Greek, Cyrillic and Turkish.
const PAGES: [u16; 12] = [273, 277, 278, 280, 284, 297, 500, 870, 871, 875, 1025, 1026];

/// Returns whether bytes are text of a mainframe: mostly letters, digits and punctuation, with a space
/// in twenty bytes, and no space of ASCII.
pub(super) fn is_ebcdic(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let (mut n_letters, mut n_spaces, mut n_text) = (0, 0, 0);
    for byte in sample {
        match byte {
            0x20 | 0x0a => return false,
            0x81..=0x89 | 0x91..=0x99 | 0xa2..=0xa9 | 0xc1..=0xc9 | 0xd1..=0xd9 | 0xe2..=0xe9 => {
                n_letters += 1;
            }
            0x40 => n_spaces += 1,
            0xf0..=0xf9
            | 0x05
            | 0x0c
            | 0x0d
            | 0x15
            | 0x25
            | 0x4b
            | 0x4d
            | 0x5c..=0x5e
            | 0x60
            | 0x61
            | 0x6b
            | 0x6d
            | 0x6f
            | 0x7a
            | 0x7d..=0x7f => n_text += 1,
            _ => {}
        }
    }
    n_text += n_letters + n_spaces;
    sample.len() >= MIN_BYTES
        && n_spaces * 20 >= sample.len()
        && n_letters * 3 >= sample.len()
        && n_text * 6 >= sample.len() * 5
}

/// Decodes text of a mainframe, in the code page that makes the best words.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    code_page::decode(bytes, names::best_page(sample, LATIN, &PAGES))
}
