//! The text of glyphs whose names are numbers, and of codes that have no name.
//!
//! Programs that rename glyphs mostly keep the code in the name (`G4B` and `C75` are `K`), or the
//! number of the glyph in the original font (`g0024` is `A`).

use hayro_syntax::object::{Array, Dict, Name, Object};
use skrifa::raw::ps::agl;
use skrifa::raw::tables::post::DEFAULT_GLYPH_NAMES;

/// Fonts of pictures and signs, whose glyphs have an order of their own.
const SYMBOLS: [&str; 6] = ["symbol", "dings", "bats", "mtextra", "icon", "math"];

/// Returns the character of a glyph in a font that follows the order of the Macintosh, as most fonts
/// for texts do (OpenType, `post` format 1).
pub(super) fn usual_char(glyph: u32) -> Option<char> {
    let name = DEFAULT_GLYPH_NAMES.get(glyph as usize)?;
    agl::name_to_char(name)
}

/// Returns whether a font of this name is for texts.
pub(super) fn is_for_text(font: &[u8]) -> bool {
    let name = String::from_utf8_lossy(font)
        .to_lowercase()
        .replace([' ', '-'], "");
    !SYMBOLS.iter().any(|symbols| name.contains(symbols))
}

/// The encoding of a simple font, as far as its dictionary gives it.
pub(super) struct Encoding {
    names: Vec<(u8, String)>,
    /// Whether names hold hexadecimal digits.
    is_hexadecimal: bool,
    /// Whether codes without a name have that of another encoding.
    has_base: bool,
    /// Whether the codes count the glyphs from 0 in the order of their use, as printer drivers do, so that they tell
    /// nothing. Fonts for texts rarely have the capitals of Greek that TeX has there.
    pub(super) is_by_use: bool,
}

impl Encoding {
    pub(super) fn of_font(font: &Dict<'_>) -> Self {
        let dict = font.get::<Dict<'_>>(b"Encoding").unwrap_or_default();
        let differences = dict.get::<Array<'_>>(b"Differences").unwrap_or_default();
        let mut names = Vec::new();
        let mut code = 0_i64;
        for object in differences.iter::<Object<'_>>() {
            match object {
                Object::Number(number) => code = number.as_i64(),
                Object::Name(name) => {
                    names.extend(u8::try_from(code).map(|code| (code, name.as_str().to_owned())));
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
        let is_hexadecimal = names.iter().any(|(_, name)| {
            let digits = digits(name);
            digits.len() == 2 && digits.contains(|digit: char| !digit.is_ascii_digit())
        });
        let is_named = font.get::<Name<'_>>(b"Encoding").is_some();
        let first = (0..0x0B).filter(|code| {
            let is_glyph = |(named, name): &(u8, String)| named == code && name != ".notdef";
            names.iter().any(is_glyph)
        });
        let is_by_use = first.count() >= 8;
        Self {
            is_by_use,
            has_base: is_named || dict.contains_key(b"BaseEncoding"),
            names,
            is_hexadecimal,
        }
    }

    /// Returns whether codes are those of the font's program.
    pub(super) fn is_of_program(&self) -> bool {
        !self.has_base && self.names.is_empty()
    }

    /// Returns the character of a code, by the number in its name.
    pub(super) fn numbered(&self, code: u8) -> Option<char> {
        let (_, name) = self.names.iter().rev().find(|(named, _)| *named == code)?;
        let digits = digits(name);
        match digits.len() {
            2 if self.is_hexadecimal => character(u32::from_str_radix(digits, 16).ok()?),
            2 | 3 => character(digits.parse().ok()?),
            4 => usual_char(u32::from_str_radix(digits, 16).ok()?),
            _ => None,
        }
    }

    /// Returns the character of a code that nothing gives a name: in the encoding of the Macintosh for
    /// a font that is embedded, otherwise of Windows.
    pub(super) fn unnamed(&self, code: u8, is_embedded: bool) -> Option<char> {
        let has_name = self.names.iter().any(|(named, _)| *named == code);
        if self.has_base || has_name {
            return None;
        }
        let code = [code];
        let encoding = match is_embedded {
            true => encoding_rs::MACINTOSH,
            false => encoding_rs::WINDOWS_1252,
        };
        let (text, _) = encoding.decode_without_bom_handling(&code);
        text.chars().next().filter(|char| !char.is_control())
    }
}

/// Returns what follows the one or two letters that begin a name, if those are digits.
fn digits(name: &str) -> &str {
    let letters = ["char", "cid", "glyph", "uni"];
    let rest = letters
        .iter()
        .find_map(|letters| name.strip_prefix(letters));
    let rest = rest.or_else(|| name.strip_prefix(|first: char| first.is_ascii_alphabetic()));
    let rest = rest.unwrap_or("");
    match rest.chars().all(|char| char.is_ascii_hexdigit()) {
        true => rest,
        false => "",
    }
}

fn character(number: u32) -> Option<char> {
    let char = char::from_u32(number)?;
    (matches!(number, 0x20..=0x7E | 0xA0..=0xFF)).then_some(char)
}
