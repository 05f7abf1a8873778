//! Folds case and diacritics.
//!
//! The steps are Unicode compatibility decomposition (UAX #15), removal of combining marks that
//! only decorate a letter, lower case, and recomposition. Vowel signs of Indic scripts are
//! effectively letters and stay. Digits of all scripts become ASCII digits. The dotless ı of
//! Turkish becomes i, as does İ: the language of a word is not known, and `DIYARBAKIR` is written
//! in capitals of both.

use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;

use super::script::is_invisible;

/// Writes the folded form of `word` into `out`.
pub(super) fn fold(word: &str, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
        return;
    }
    if word.chars().all(is_folded) {
        out.push_str(word);
        return;
    }
    for character in word.chars() {
        let Some(letters) = european(character) else {
            out.clear();
            return by_tables_of_unicode(word, out);
        };
        out.extend(letters.iter().filter(|letter| **letter != NOTHING));
    }
}

/// Represents no letter.
const NOTHING: char = '\0';

/// Number of letters that are looked up in the tables of Unicode together: a query needs few
/// scripts.
const BLOCK: usize = 64;

/// The folded form of each letter of Latin, Greek and Cyrillic (and the first of Armenian), if it
/// has at most two letters. Neighbouring letters do not change it, since marks are removed.
static EUROPEAN: [OnceLock<[Option<[char; 2]>; BLOCK]>; 0x540 / BLOCK] =
    [const { OnceLock::new() }; _];

fn european(character: char) -> Option<[char; 2]> {
    let (block, at) = (character as usize / BLOCK, character as usize % BLOCK);
    EUROPEAN.get(block)?.get_or_init(|| letters_of(block))[at]
}

/// Returns the folded forms of the letters in a block.
fn letters_of(block: usize) -> [Option<[char; 2]>; BLOCK] {
    let mut folded = String::new();
    std::array::from_fn(|at| {
        let character = char::from_u32((block * BLOCK + at) as u32)?;
        by_tables_of_unicode(character.encode_utf8(&mut [0; 4]), &mut folded);
        let mut letters = folded.chars();
        let pair = [(); 2].map(|()| letters.next().unwrap_or(NOTHING));
        (character != NOTHING && letters.next().is_none()).then_some(pair)
    })
}

/// Returns whether a character of a script without case is already folded, among others of these
/// scripts.
fn is_folded(character: char) -> bool {
    matches!(character,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'
        | '\u{904}'..='\u{939}' | '\u{93e}'..='\u{94c}'
        | '\u{e01}'..='\u{e32}' | '\u{e34}'..='\u{e37}' | '\u{e40}'..='\u{e47}'
        | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17d1}'
        | '\u{1000}'..='\u{102d}' | '\u{102f}'..='\u{1036}' | '\u{103b}'..='\u{103f}')
}

fn by_tables_of_unicode(word: &str, out: &mut String) {
    out.clear();
    let folded = word
        .nfkd()
        .filter(|c| !is_decoration(*c))
        .flat_map(char::to_lowercase)
        // Lower case may create new marks (İ becomes i and a dot).
        .filter(|c| !is_decoration(*c));
    for character in folded.nfc() {
        match letter_pair(character) {
            Some(pair) => out.push_str(pair),
            None => out.push(ascii_digit(character)),
        }
    }
}

/// Returns a word without those differences that do not count.
pub(super) fn form(word: &str, case: bool, diacritics: bool) -> String {
    let kept = |c: &char| !is_invisible(*c) && (diacritics || !is_decoration(*c));
    let letters: String = word.nfkd().filter(kept).nfc().map(ascii_digit).collect();
    let letters = if case {
        letters
    } else {
        letters.to_lowercase()
    };
    if diacritics {
        return letters;
    }
    let mut plain = String::with_capacity(letters.len());
    for character in letters.chars() {
        let lower = character.to_lowercase().next().unwrap_or(character);
        match letter_pair(lower) {
            Some(pair) if lower == character => plain.push_str(pair),
            Some(pair) => plain.push_str(&pair.to_uppercase()),
            None => plain.push(character),
        }
    }
    plain
}

/// Returns whether a mark only decorates the letter before it.
fn is_decoration(character: char) -> bool {
    if character < '\u{300}' {
        // The dot of the Catalan l·l, to which ŀ decomposes, and the soft hyphen.
        return matches!(character, '\u{b7}' | '\u{ad}');
    }
    matches!(character,
        '\u{300}'..='\u{36f}'       // combining diacritical marks
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' // Hebrew points
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' // Arabic kashida and vowels
        | '\u{610}'..='\u{61a}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}' // of the Quran
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
        || is_invisible(character)
}

/// Returns the plain letters for letters without a decomposition.
fn letter_pair(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŋ' => "n",
        'ŧ' => "t",
        'ɨ' => "i",
        'ƶ' => "z",
        'ƀ' => "b",
        'ǥ' => "g",
        'ı' => "i",
        'ł' => "l",
        'þ' => "th",
        // Upper case has one sigma, so folding has one too.
        'ς' => "σ",
        // Variants of Cyrillic letters in old books, which share their capitals.
        '\u{1c80}' => "в",
        '\u{1c81}' => "д",
        '\u{1c82}' => "о",
        '\u{1c83}' => "с",
        '\u{1c84}' | '\u{1c85}' => "т",
        '\u{1c86}' => "ъ",
        '\u{1c87}' => "ѣ",
        '\u{1c88}' => "ꙋ",
        _ => return None,
    })
}

/// The zeros of the decimal digits of all scripts (general category Nd), except those that
/// decompose.
const ZEROS: [u32; 67] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0x104a0,
    0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0,
    0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1,
    0x1e950,
];

/// Returns the ASCII digit for a digit of another script, and other characters unchanged.
fn ascii_digit(character: char) -> char {
    let code = u32::from(character);
    if code < ZEROS[0] || !character.is_numeric() {
        return character;
    }
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last();
    match zero.map(|zero| code - zero) {
        Some(digit @ 0..=9) => char::from_digit(digit, 10).unwrap_or(character),
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_become_what_the_tables_of_unicode_say() {
        let (mut found, mut expected) = (String::new(), String::new());
        for character in '\u{1}'..'\u{600}' {
            let word = character.to_string();
            fold(&word, &mut found);
            by_tables_of_unicode(&word, &mut expected);
            assert_eq!(found, expected, "{character:?}");
        }
    }

    proptest! {
        #[test]
        fn words_become_what_the_tables_of_unicode_say(word in "[\u{80}-\u{5ff}a-zA-Z]{1,5}") {
            let (mut found, mut expected) = (String::new(), String::new());
            fold(&word, &mut found);
            by_tables_of_unicode(&word, &mut expected);
            prop_assert_eq!(found, expected);
        }
    }
}
