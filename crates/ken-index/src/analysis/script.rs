//! Which characters make words, and which scripts write words without blanks between them.

/// Returns whether a character belongs to a word.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || is_mark(character)
}

/// Returns whether a word holds more than marks.
pub(super) fn holds_a_letter(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// Marks that follow letters and are not alphabetic themselves.
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}'
        | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}'
        | '\u{acd}' | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}'
        | '\u{d4d}' | '\u{dca}'
        | '\u{200c}' | '\u{200d}' | '\u{ad}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Returns whether a character is of a script that writes no blanks between words.
pub(super) fn has_no_blanks(character: char) -> bool {
    let code = u32::from(character);
    if code < 0x0e00 {
        return false;
    }
    matches!(code,
        0x0e01..=0x0e3a | 0x0e40..=0x0e4e       // Thai
        | 0x0e80..=0x0edf                       // Lao
        | 0x1000..=0x109f                       // Myanmar
        | 0x1780..=0x17d3                       // Khmer
        | 0x1100..=0x11ff | 0xac00..=0xd7ff | 0x3130..=0x318f   // Hangul
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035
        | 0x3040..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff   // Kana
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff   // Han
        | 0xff66..=0xff9f                       // half-width Kana
        | 0x20000..=0x3ffff)
}
