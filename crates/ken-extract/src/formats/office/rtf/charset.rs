//! The code page of each font (`\fcharset`), and text in that code page.

use std::collections::HashMap;

use crate::text::code_page::{self, WESTERN};

/// Code page of fonts whose characters are pictures.
pub(super) const SYMBOL: u16 = 42;
/// More fonts than any file has.
const MAX_FONTS: usize = 1 << 14;

/// The code pages of a file.
pub(super) struct Charsets {
    /// The code page of the file itself.
    default: u16,
    /// Whether the file declares its code page by number.
    is_declared: bool,
    fonts: HashMap<i32, u16>,
}

impl Charsets {
    pub(super) fn new() -> Self {
        Self {
            default: WESTERN,
            is_declared: false,
            fonts: HashMap::new(),
        }
    }

    /// Handles a control word that declares the code page of the file; returns whether it is one.
    pub(super) fn declare(&mut self, word: &[u8], number: Option<i32>) -> bool {
        self.is_declared |= word == b"ansicpg";
        self.default = match (word, number) {
            (b"ansicpg", Some(page)) => match u16::try_from(page) {
                Ok(0) | Err(_) => WESTERN,
                Ok(page) => page,
            },
            (b"ansi", _) => WESTERN,
            (b"mac", _) => 10000,
            (b"pc", _) => 437,
            (b"pca", _) => 850,
            _ => return false,
        };
        true
    }

    /// Sets the code page of a font, given as a Windows character set or directly.
    pub(super) fn set_font(&mut self, font: i32, word: &[u8], number: i32) {
        if self.fonts.len() >= MAX_FONTS {
            return;
        }
        let page = match word {
            b"fcharset" => of_charset(number),
            _ => u16::try_from(number).ok().filter(|&page| page != 0),
        };
        if let Some(page) = page {
            self.fonts.insert(font, page);
        }
    }

    /// Returns the code page for text in a font.
    pub(super) fn page(&self, font: i32) -> u16 {
        self.fonts.get(&font).copied().unwrap_or(self.default)
    }
}

impl Charsets {
    /// Returns the code page for text without a font: the declared one, otherwise that of the default
    /// font.
    pub(super) fn page_of_file(&self, default_font: i32) -> u16 {
        match self.is_declared {
            true => self.default,
            false => self.page(default_font),
        }
    }
}

/// Returns the code page of a Windows character set; none if it is that of the file.
pub(in crate::formats) fn of_charset(charset: i32) -> Option<u16> {
    Some(match charset {
        0 => WESTERN,
        2 => SYMBOL,
        77 => 10000,
        78 => 10001,
        79 => 10003,
        80 => 10008,
        81 => 10002,
        83 => 10005,
        84 => 10004,
        85 => 10006,
        86 => 10081,
        88 => 10029,
        89 => 10007,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 | 181 => 1255,
        178..=180 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        254 => 437,
        255 => 850,
        _ => return None,
    })
}

/// Appends text in a code page.
pub(super) fn decode(bytes: &[u8], page: u16, text: &mut String) {
    if page != SYMBOL {
        text.push_str(&code_page::decode(bytes, page));
    }
}
