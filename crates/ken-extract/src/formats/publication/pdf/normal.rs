//! The text of a glyph, made ready for layout: without meaningless marks, ligatures and letter shapes
//! taken apart.

use unicode_normalization::UnicodeNormalization;

/// The text of a character code.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    /// A glyph without Unicode: it takes space, but has no text.
    Unknown,
    /// White space.
    Space,
    /// One character.
    Char(char),
    /// Several characters, such as a decomposed ligature.
    Chars(Box<str>),
}

/// Normalises a text for layout: decomposes presentation forms, and removes meaningless marks and
/// spaces at the ends.
pub(super) fn normalise(text: &str) -> Text {
    if let Some(only) = only_char(text) {
        return normalise_char(only);
    }
    // Within a text, a soft hyphen is not seen.
    let meant = |char: &char| is_text(*char) && *char != '\u{AD}';
    let kept: String = text.chars().filter(meant).collect();
    if let Some(only) = only_char(&kept) {
        return normalise_char(only);
    }
    let spaced = kept.chars().map(|char| match char.is_whitespace() {
        true => ' ',
        false => char,
    });
    let kept: String = spaced.flat_map(decompose).collect();
    match kept.trim() {
        "" if kept.is_empty() => Text::Unknown,
        "" => Text::Space,
        trimmed => Text::Chars(trimmed.into()),
    }
}

pub(super) fn normalise_char(char: char) -> Text {
    if char.is_whitespace() {
        return Text::Space;
    }
    if !is_text(char) {
        return Text::Unknown;
    }
    if matches!(char, '\u{AD}' | '\u{2010}' | '\u{2011}') {
        return Text::Char('-');
    }
    let mut normal = decompose(char);
    match (normal.next(), normal.next()) {
        (Some(only), None) => Text::Char(only),
        _ => Text::Chars(decompose(char).collect()),
    }
}

/// Returns the character of a text with one character.
pub(super) fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let only = chars.next()?;
    chars.next().is_none().then_some(only)
}

/// Returns whether a character has meaning: controls, zero-width marks and private use do not.
fn is_text(char: char) -> bool {
    !(char.is_control() && !char.is_whitespace()
        || matches!(char, '\u{200B}'..='\u{200F}' | '\u{FEFF}' | '\u{FFFD}' | '\u{FFFE}' | '\u{FFFF}'
            | '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..))
}

/// Decomposes presentation forms: ligatures, Arabic letter shapes, radicals and compatibility
/// ideographs, which look like what a user types but compare as different.
fn decompose(char: char) -> impl Iterator<Item = char> {
    let presentation = matches!(char,
        '\u{2E80}'..='\u{2FDF}' | '\u{F900}'..='\u{FB06}' | '\u{FB13}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' | '\u{132}' | '\u{133}');
    let (plain, normal) = if presentation {
        (None, Some(std::iter::once(char).nfkc()))
    } else {
        (Some(char), None)
    };
    plain.into_iter().chain(normal.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presentation_forms_are_taken_apart_and_nothing_else() {
        assert_eq!(normalise_char('ﬁ'), Text::Chars("fi".into()));
        assert_eq!(normalise_char('\u{FEFB}'), Text::Chars("لا".into()));
        assert_eq!(normalise_char('\u{2F00}'), Text::Char('一'));
        assert_eq!(normalise_char('²'), Text::Char('²'));
        assert_eq!(normalise_char('\u{A0}'), Text::Space);
        assert_eq!(normalise_char('\u{F8E9}'), Text::Unknown);
        assert_eq!(normalise("ﬀi\0"), Text::Chars("ffi".into()));
        assert_eq!(normalise(" \n"), Text::Space);
        assert_eq!(normalise("\u{AD}\u{2010}"), Text::Char('-'));
        assert_eq!(normalise("s\u{AD}st"), Text::Chars("sst".into()));
    }
}
