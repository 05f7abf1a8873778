//! Decodes text in the code pages of Windows, DOS and the Macintosh, by number.
//!
//! `encoding_rs` has those that the web uses; `tables` has the others.

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, IBM866, ISO_2022_JP, ISO_8859_8_I, KOI8_R,
    KOI8_U, MACINTOSH, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_874, WINDOWS_1250,
    WINDOWS_1251, WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256,
    WINDOWS_1257, WINDOWS_1258, X_MAC_CYRILLIC,
};

use super::tables::{MAINFRAMES, SUPERSETS};

/// Western Europe, on Windows.
pub const WESTERN: u16 = 1252;
/// UTF-16, little-endian.
pub const UTF16: u16 = 1200;

/// Decodes bytes in a code page; an unknown code page is taken as the Western one.
pub fn decode(bytes: &[u8], code_page: u16) -> Cow<'_, str> {
    if let Some(table) = table(SUPERSETS, code_page) {
        return by_table(bytes, table);
    }
    if let Some(table) = table(MAINFRAMES, code_page) {
        return bytes
            .iter()
            .map(|&byte| of_mainframe(byte, table))
            .collect();
    }
    let encoding = encoding(code_page).unwrap_or(WINDOWS_1252);
    encoding.decode_without_bom_handling(bytes).0
}

/// Returns whether this module has a table for the code page.
pub(super) fn has_table(code_page: u16) -> bool {
    table(SUPERSETS, code_page).is_some() || is_mainframe(code_page)
}

/// Returns whether the code page is one of EBCDIC.
pub(super) fn is_mainframe(code_page: u16) -> bool {
    table(MAINFRAMES, code_page).is_some()
}

fn table(tables: &[(u16, &'static str)], code_page: u16) -> Option<&'static str> {
    let found = tables.iter().find(|(number, _)| *number == code_page);
    found.map(|(_, table)| *table)
}

/// Returns the character of a byte of EBCDIC; lines end with NL, or with LF on newer machines.
fn of_mainframe(byte: u8, table: &str) -> char {
    match byte {
        0x05 => '\t',
        0x0c => '\u{c}',
        0x15 | 0x25 => '\n',
        0x0d => '\r',
        0..0x40 => '\u{1a}',
        _ => {
            let mut characters = table.chars();
            characters
                .nth(usize::from(byte - 0x40))
                .unwrap_or('\u{fffd}')
        }
    }
}

/// Returns the code page of Windows for one of its languages, by number.
pub fn of_language(language: u16) -> u16 {
    match (language & 0x3ff, language) {
        (0x11, _) => 932,
        (0x04, 0x0804 | 0x1004) => 936,
        (0x04, _) => 950,
        (0x12, _) => 949,
        (0x1e, _) => 874,
        (0x19 | 0x02 | 0x22 | 0x23 | 0x2f, _) => 1251,
        (0x05 | 0x0e | 0x15 | 0x18 | 0x1a | 0x1b | 0x1c | 0x24, _) => 1250,
        (0x08, _) => 1253,
        (0x1f, _) => 1254,
        (0x0d, _) => 1255,
        (0x01 | 0x20 | 0x29, _) => 1256,
        (0x25..=0x27, _) => 1257,
        (0x2a, _) => 1258,
        _ => WESTERN,
    }
}

/// Decodes little-endian UTF-16.
pub fn utf16(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes, UTF16)
}

fn by_table<'a>(bytes: &'a [u8], upper: &str) -> Cow<'a, str> {
    if bytes.is_ascii() {
        return String::from_utf8_lossy(bytes);
    }
    let upper: Vec<char> = upper.chars().collect();
    let character = |&byte: &u8| match byte {
        0..0x80 => char::from(byte),
        _ => upper[usize::from(byte - 0x80)],
    };
    bytes.iter().map(character).collect()
}

/// Returns whether a code page is an encoding of the web.
pub fn is_encoding(code_page: u16, web: &'static Encoding) -> bool {
    encoding(code_page) == Some(web)
}

/// Returns the encoding of a code page that the web uses too.
pub(super) fn encoding(code_page: u16) -> Option<&'static Encoding> {
    Some(match code_page {
        866 => IBM866,
        874 | 10021 => WINDOWS_874,
        932 | 10001 => SHIFT_JIS,
        936 | 10008 | 20936 | 51936 => GBK,
        949 | 10003 | 51949 => EUC_KR,
        950 | 10002 => BIG5,
        UTF16 => UTF_16LE,
        1201 => UTF_16BE,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        WESTERN | 20127 | 28591 => WINDOWS_1252,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 | 10005 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10000 => MACINTOSH,
        10007 | 10017 => X_MAC_CYRILLIC,
        20866 => KOI8_R,
        21866 => KOI8_U,
        38598 => ISO_8859_8_I,
        28592..=28606 => {
            let label = format!("iso-8859-{}", code_page - 28590);
            return Encoding::for_label(label.as_bytes());
        }
        50220..=50222 => ISO_2022_JP,
        20932 | 51932 => EUC_JP,
        54936 => GB18030,
        65001 => UTF_8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_by_number() {
        for (page, bytes, text) in [
            (437, &b"\x81 \xe0 \xff"[..], "ü α \u{a0}"),
            (850, b"\x81 \xd0", "ü ð"),
            (852, b"\xa6 \xfd", "Ž ř"),
            (737, b"\x80", "Α"),
            (775, b"\xd0", "ą"),
            (857, b"\xa7", "ğ"),
            (862, b"\x80", "א"),
            (866, b"\x8f", "П"),
            (10029, b"\x8b", "č"),
            (10006, b"\xe1", "α"),
            (37, b"\xc8\x85\x93\x93\x96\x15\xf1", "Hello\n1"),
            (273, b"\xc0\xd0", "äü"),
            (1047, b"\xad\xbd", "[]"),
            (932, b"\x93\xfa\x96{", "日本"),
            (936, b"\xd6\xd0", "中"),
            (1200, b"\xe4\0", "ä"),
            (1251, b"\xcf", "П"),
            (10000, b"\x8a", "ä"),
            (28592, b"\xbe", "ž"),
            (65001, "ä".as_bytes(), "ä"),
            (of_language(0x419), b"\xcf", "П"),
            (of_language(0x409), b"\x80", "€"),
            (0, b"\x80", "€"),
        ] {
            assert_eq!(decode(bytes, page), text, "{page}");
        }
    }

    #[test]
    fn each_table_has_a_character_for_each_byte() {
        for (page, table) in SUPERSETS {
            assert_eq!(table.chars().count(), 128, "{page}");
        }
        for (page, table) in MAINFRAMES {
            assert_eq!(table.chars().count(), 192, "{page}");
        }
    }
}
