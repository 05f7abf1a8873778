//! The code page of each font (`\fcharset`), and text in that code page.

use std::collections::HashMap;

use crate::text::charset::{SYMBOL, of_charset};
use crate::text::code_page::{self, WESTERN};

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

/// Appends text in a code page.
pub(super) fn decode(bytes: &[u8], page: u16, text: &mut String) {
    if page != SYMBOL {
        text.push_str(&code_page::decode(bytes, page));
    }
}
