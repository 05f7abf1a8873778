//! Tests of properties that hold for all of Unicode: each character is tried, alone and inside a
//! word.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{analyze, folded, script};
use ken_core::Field;

/// Returns the terms of a text with their positions; checks invariants.
fn terms(text: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut last = (0, 0);
    analyze(Field::Body, text, |term, position, bytes| {
        assert!(text.get(bytes.clone()).is_some(), "{text:?} {bytes:?}");
        assert!(bytes.start < bytes.end, "{text:?} {term:?}");
        assert!(position >= last.0, "positions rise: {text:?}");
        if position > last.0 {
            assert!(bytes.start >= last.1, "ranges rise: {text:?} {term:?}");
        }
        last = (position, bytes.start);
        assert!(!term.is_empty(), "{text:?}");
        let is_letter = |c| script::is_word(c) || script::has_no_spaces(c) || is_combining_mark(c);
        let is_emoji = |c| matches!(c, '*' | '\u{231a}'..='\u{2bff}' | '\u{1f000}'..='\u{1ffff}' | '\u{e0020}'..='\u{e007f}');
        let is_term = |c| is_letter(c) || is_emoji(c) || matches!(c, '+' | '#');
        assert!(term.chars().all(is_term), "{text:?} {term:?}");
        found.push((term.to_owned(), position));
    });
    found
}

/// All planes that have characters, except those of private use.
fn each_character(mut each: impl FnMut(char)) {
    ('\0'..='\u{33fff}').for_each(&mut each);
    ('\u{e0000}'..='\u{e0fff}').for_each(&mut each);
}

/// Returns whether the compatibility form of a character is of the same kind, completely inside
/// words. A sign (`™`) is a separate word, its letters (`TM`) join the preceding ones.
fn is_plain(character: char) -> bool {
    script::is_word(character) && character.nfkd().all(script::is_word)
}

#[test]
fn folding_is_idempotent() {
    each_character(|character| {
        let once = folded(&character.to_string());
        assert_eq!(folded(&once), once, "{character:?}");
    });
}

#[test]
fn case_does_not_matter_in_any_script() {
    each_character(|character| {
        // A small iota below a letter decorates it; in capitals it follows the letter.
        if character.nfkd().any(|c| c == '\u{345}') {
            return;
        }
        let plain = folded(&character.to_string());
        let upper: String = character.to_uppercase().collect();
        let lower: String = character.to_lowercase().collect();
        assert_eq!(folded(&upper), plain, "{character:?} {upper}");
        assert_eq!(folded(&lower), plain, "{character:?} {lower}");
    });
}

#[test]
fn canonical_forms_are_the_same_terms() {
    each_character(|character| {
        for text in [format!("{character}"), format!("x{character}{character}y")] {
            let expected = terms(&text);
            let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
            assert_eq!(terms(&nfc), expected, "{text:?} {character:?}");
            assert_eq!(terms(&nfd), expected, "{text:?} {character:?}");
        }
    });
}

#[test]
fn compatibility_forms_are_the_same_terms() {
    each_character(|character| {
        let alone = character.to_string();
        // A unit (㎑) is one word, without the case changes of its letters.
        let form = alone.nfkc().collect::<String>().to_lowercase();
        assert_eq!(terms(&form), terms(&alone), "{character:?} {form:?}");
        if is_plain(character) {
            let inside = format!("ab{character}cd");
            let form: String = inside.nfkc().collect();
            // A capital in the form (Ĳ) is another part of an identifier.
            assert_eq!(terms(&form)[0], terms(&inside)[0], "{character:?} {form:?}");
        }
    });
}

#[test]
fn digits_of_all_scripts_are_those_of_ascii() {
    for (text, expected) in [
        ("٢٠٢٤", "2024"),
        ("۲۰۲۴", "2024"),
        ("२०२४", "2024"),
        ("২০২৪", "2024"),
        ("๒๐๒๔", "2024"),
        ("២០២៤", "2024"),
        ("၂၀၂၄", "2024"),
        ("໒໐໒໔", "2024"),
        ("２０２４", "2024"),
        ("𝟐𝟎𝟐𝟒", "2024"),
        ("𞥒𞥐", "20"),
        ("x٣", "x3"),
    ] {
        assert_eq!(terms(text), [(expected.to_owned(), 0)], "{text}");
    }
}

/// Generates text of many scripts, with characters between their words.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        " ",
        "-\n",
        "\u{ad}\n",
        "\n",
        "\r\n  ",
        "_",
        "-",
        ".",
        ",",
        "++",
        "#",
        "10kg",
        "'",
        "’",
        "/",
        "&",
        "U.S.",
        "É.U",
        "e-",
        "Wi-Fi",
        "H.264",
        "👍",
        "🏽",
        "🇩",
        "️",
        "⃣",
        "ŉ",
        "3.5mm",
        "RFC2822",
        "parseHTTP",
        "a",
        "B",
        "7",
        "½",
        "㎏",
        "™",
        "ﬁ",
        "ß",
        "İ",
        "ı",
        "ς",
        "é",
        "e\u{301}",
        "\u{301}",
        "\u{200b}",
        "\u{200d}",
        "\u{ad}",
        "カ",
        "\u{3099}",
        "ｶﾞ",
        "東",
        "京",
        "한",
        "\u{1112}\u{1161}",
        "ไ",
        "ท",
        "ํา",
        "ำ",
        "ខ",
        "្",
        "မ",
        "ဦ",
        "१",
        "٣",
        "क",
        "़",
        "ि",
        "\0",
    ]);
    let piece =
        prop_oneof![4 => pieces.prop_map(String::from), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Returns whether a mark of a script without spaces follows a letter of another script, which no
/// language writes: the canonical order of marks may move it away.
fn is_mixed(text: &str) -> bool {
    let letters: Vec<char> = text.nfd().collect();
    letters.windows(2).any(|pair| {
        let is_mark = script::has_no_spaces(pair[1]) && is_combining_mark(pair[1]);
        is_mark && !script::has_no_spaces(pair[0])
    })
}

proptest! {
    #[test]
    fn canonical_forms_of_texts_are_the_same_terms(text in text()) {
        if is_mixed(&text) {
            return Ok(());
        }
        let expected = terms(&text.nfd().collect::<String>());
        prop_assert_eq!(terms(&text.nfc().collect::<String>()), expected);
    }

    #[test]
    fn any_text_has_terms_in_order(text in any::<String>()) {
        terms(&text);
    }

    #[test]
    fn folding_a_text_twice_changes_nothing(text in text()) {
        let once = folded(&text);
        prop_assert_eq!(folded(&once), once);
    }
}
