//! Folding of case and diacritics.
//!
//! Unicode compatibility decomposition (UAX #15), combining marks that only decorate a letter
//! removed, lower case, recomposed. Vowel signs of Indic scripts are letters in all but name and
//! stay.

use unicode_normalization::UnicodeNormalization;

/// Writes the folded form of `word` into `out`.
pub(super) fn fold(word: &str, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
        return;
    }
    let folded = word
        .nfkd()
        .filter(|c| !is_decoration(*c))
        .flat_map(char::to_lowercase)
        // Lower case may bring new marks (İ gives i and a dot).
        .filter(|c| !is_decoration(*c));
    for character in folded.nfc() {
        match letter_pair(character) {
            Some(pair) => out.push_str(pair),
            None => out.push(character),
        }
    }
}

/// Returns a word with those differences taken away that do not count.
pub(super) fn form(word: &str, case: bool, diacritics: bool) -> String {
    let kept = |c: &char| !is_invisible(*c) && (diacritics || !is_decoration(*c));
    let letters: String = word.nfkd().filter(kept).nfc().collect();
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

/// Returns whether a mark is not seen: soft hyphens, joiners, directions.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
    )
}

/// Returns whether a mark only decorates the letter before it.
fn is_decoration(character: char) -> bool {
    matches!(character,
        '\u{b7}'                     // the dot of l·l in Catalan, which ŀ is made of
        | '\u{300}'..='\u{36f}'     // combining diacritical marks
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}' | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' // Hebrew points
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' // Arabic kashida and vowels
        | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' // invisible
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Returns the plain letters for letters that have no decomposition.
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
        _ => return None,
    })
}
