//! Analyses text to terms: the same code serves indexing and queries.
//!
//! A *word* is a run of letters, digits, marks and `_`. Its term is the word with case and
//! diacritics folded. An identifier (`parseHTTPHeader`, `snake_case`) yields its whole form and its
//! parts at one position, so that it is found by both and counts as one word in a phrase: "the
//! iPhone camera" is found by `"the iphone camera"`. The same holds for a number with its unit
//! (`10kg`). Scripts without spaces (Han, Kana, Hangul, Thai …) yield overlapping pairs of
//! characters. An emoji is a word. Everything else separates words, so an e-mail address or a URL is
//! the phrase of its parts; some compounds (`e-mail`, `U.S.A.`) are one word as well.

pub(crate) mod alone;
mod compound;
mod emoji;
mod encoded;
mod fold;
pub(crate) mod function_words;
mod identifier;
mod language;
mod language_words;
#[cfg(test)]
mod properties;
mod script;
mod spaceless;
mod words;
mod written;

use std::ops::Range;

use ken_core::{Field, FieldKind, language as tags};

pub(crate) use language::{detect as detect_language, frequent_words};
pub(crate) use words::Analyzer;
pub(crate) use written::Form;

/// Maximum length of a word in bytes; longer ones are encoded data, not language, and not indexed.
pub const MAX_TERM_BYTES: usize = 64;

/// Calls `each` with every term of `text`, its position, and its range of bytes.
///
/// Terms come in the order of their positions. Several may share one position; then the whole word
/// precedes its parts. A keyword field has one term, the value in lower case; a language also has
/// the language that it is a variant of, `en` for `en-GB`.
pub fn analyze(field: Field, text: &str, mut each: impl FnMut(&str, u32, Range<usize>)) {
    match field.info().kind {
        FieldKind::Keyword if field == Field::Lang => {
            tags::each_prefix(text, |tag| each(tag, 0, 0..text.len()));
        }
        FieldKind::Keyword => each(&keyword(text), 0, 0..text.len()),
        FieldKind::Path => path_names(text, each),
        _ => Analyzer::default().words(text, &mut each),
    }
}

/// The term at the beginning and the end of each value of a text field, which no text contains.
pub(crate) const BORDER: &str = "\0";

/// Calls `each` with the names of a path's folders, unchanged; an absolute path starts with the
/// term `/`.
fn path_names(path: &str, mut each: impl FnMut(&str, u32, Range<usize>)) {
    let mut position = 0;
    if path.starts_with('/') {
        each("/", 0, 0..1);
        position = 1;
    }
    let mut start = 0;
    for name in path.split('/') {
        if !name.is_empty() {
            each(name, position, start..start + name.len());
            position += 1;
        }
        start += name.len() + 1;
    }
}

/// Returns text with case and diacritics folded.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = String::new();
    fold::fold(text, &mut folded);
    folded
}

/// Returns the term of a keyword value.
pub(crate) fn keyword(value: &str) -> String {
    value.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> String {
        let mut all = Vec::new();
        analyze(Field::Body, text, |term, position, _| {
            all.push(format!("{term}@{position}"));
        });
        all.join(" ")
    }

    #[test]
    fn words_are_folded() {
        for (text, expected) in [
            ("Hello, World 42", "hello@0 world@1 42@2"),
            ("Café über Ångström", "cafe@0 uber@1 angstrom@2"),
            ("Straße ŒUVRE ﬁnd", "strasse@0 oeuvre@1 find@2"),
            ("ΣΊΣΥΦΟΣ Ёлка", "σισυφοσ@0 елка@1"),
            ("don't l'amour", "don@0 t@1 l@2 amour@3"),
            ("anna.b@example.org", "anna@0 b@1 example@2 org@3"),
            ("10:30 3.14 C:\\x", "10@0 30@1 3@2 14@3 c@4 x@5"),
            ("… — “x”", "x@0"),
            ("", ""),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn identifiers_are_split_and_whole_at_one_position() {
        for (text, expected) in [
            (
                "parseHTTPHeader x",
                "parsehttpheader@0 parse@0 http@0 header@0 x@1",
            ),
            ("snake_case_2 y", "snake_case_2@0 snake@0 case@0 2@0 y@1"),
            ("__init__ z", "init@0 z@1"),
            ("the iPhone camera", "the@0 iphone@1 i@1 phone@1 camera@2"),
            ("HTTP utf8 A1b2", "http@0 utf8@1 a1b2@2"),
            (
                "10kg 5GHz 3.5mm",
                "10kg@0 10@0 kg@0 5ghz@1 5@1 ghz@1 3@2 5mm@3 5@3 mm@3",
            ),
            (
                "10µm 9f86d08 0xff 0b",
                "10μm@0 10@0 μm@0 9f86d08@1 0xff@2 0b@3",
            ),
            (
                "_5GHz __10kg_ 5_GHz",
                "5ghz@0 5@0 ghz@0 10kg@1 10@1 kg@1 5_ghz@2 5@2 g@2 hz@2",
            ),
            ("größeÄndern", "grosseandern@0 grosse@0 andern@0"),
            ("___", ""),
            ("\u{300}Aa", "aa@0"),
            ("\u{300}_", ""),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn words_divided_at_line_ends_are_joined() {
        for (text, expected) in [
            ("an exam-\nple of", "an@0 exam@1 example@1 ple@1 ple@2 of@2"),
            ("well-\r\n  known", "well@0 wellknown@0 known@0 known@1"),
            ("größ-  \nte", "gross@0 grosste@0 te@0 te@1"),
            ("exam\u{2010}\nple", "exam@0 example@0 ple@0 ple@1"),
            ("exam\u{ad}\nple x", "exam@0 example@0 ple@0 ple@1 x@1"),
            (
                "nar-\nrow-\ner x",
                "nar@0 narrow@0 row@0 narrower@0 er@0 er@1 x@1",
            ),
            ("exam\u{ad}ple", "example@0"),
            (
                "a-\nbC d-\ne2 f-\ng東",
                "a@0 bc@1 b@1 c@1 d@2 e2@3 f@4 fg@4 g@4 g@5 東@5",
            ),
            (
                "Anna-\nMaria x - \ny 1-\n2",
                "anna@0 maria@1 x@2 y@3 1@4 2@5",
            ),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn prefixes_and_names_are_also_joined() {
        for (text, expected) in [
            ("an e-mail.", "an@0 e@1 email@1 mail@2"),
            ("(e-mail", "e@0 email@0 mail@1"),
            ("“e‑mail”", "e@0 email@0 mail@1"),
            (
                "Co-Operation on-line",
                "co@0 cooperation@0 operation@1 on@2 online@2 line@3",
            ),
            ("Wi-Fi Wi‐Fi", "wi@0 wifi@0 fi@1 wi@2 wifi@2 fi@3"),
            ("é-mail э-почта", "e@0 email@0 mail@1 э@2 эпочта@2 почта@3"),
            (
                "well-known a-b-c x-ray-tube",
                "well@0 known@1 a@2 b@3 c@4 x@5 ray@6 tube@7",
            ),
            ("--no-color e-1 re-x5yz", "no@0 color@1 e@2 1@3 re@4 x5yz@5"),
            (
                "H.264, B-52 x-86 A.1",
                "h@0 h264@0 264@1 b@2 b52@2 52@3 x@4 x86@4 86@5 a@6 a1@6 1@7",
            ),
            (
                "utf-8 1.5 a.1 I.2.3",
                "utf@0 8@1 1@2 5@3 a@4 1@5 i@6 2@7 3@8",
            ),
            (
                "TCP/IP I/O n/a R&D OS/2",
                "tcp@0 tcpip@0 ip@1 i@2 io@2 o@3 n@4 na@4 a@5 r@6 rd@6 d@7 os@8 os2@8 2@9",
            ),
            (
                "and/or A/B/C 1/2 x/A",
                "and@0 or@1 a@2 b@3 c@4 1@5 2@6 x@7 a@8",
            ),
            ("O'Brien d’Arcy", "o@0 obrien@0 brien@1 d@2 darcy@2 arcy@3"),
            (
                "l'arbre don't floor's floorʼs",
                "l@0 arbre@1 don@2 t@3 floor@4 s@5 floor@6 s@7",
            ),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn acronyms_are_one_word_in_a_phrase() {
        for (text, expected) in [
            ("U.S.A. i.e., x", "usa@0 u@0 s@0 a@0 ie@1 i@1 e@1 x@2"),
            ("the U.S.A of", "the@0 usa@1 u@1 s@1 a@1 of@2"),
            ("(U.S) “U.S.”", "us@0 u@0 s@0 us@1 u@1 s@1"),
            (
                "С.Ш.А. т.е. É.U.",
                "сша@0 с@0 ш@0 а@0 те@1 т@1 е@1 eu@2 e@2 u@2",
            ),
            ("E\u{301}.U. x", "eu@0 e@0 u@0 x@1"),
            (
                "J.R.R.Tolkien a.b p.x.y.",
                "jrr@0 j@0 r@0 r@0 tolkien@1 a@2 b@3 pxy@4 p@4 x@4 y@4",
            ),
            ("U.S. foo.a.b. end.", "us@0 u@0 s@0 foo@1 a@2 b@3 end@4"),
            (
                "Ph.D. M.Sc J.Smith",
                "phd@0 ph@0 d@0 msc@1 m@1 sc@1 j@2 smith@3",
            ),
            ("it. I. J. Smith a.b1", "it@0 i@1 j@2 smith@3 a@4 b1@5"),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn each_emoji_is_a_word() {
        for (text, expected) in [
            ("great👍", "great@0 👍@1"),
            ("ok👍👎ok", "ok@0 👍@1 👎@2 ok@3"),
            ("❤️ ❤", "❤@0 ❤@1"),
            ("👍🏽", "👍🏽@0 👍@0"),
            ("👨‍👩‍👧x", "👨‍👩‍👧@0 x@1"),
            ("🧑🏿‍🚀", "🧑🏿‍🚀@0 🧑‍🚀@0"),
            ("🏳️‍🌈", "🏳‍🌈@0"),
            ("🇩🇪🇫🇷 🇩", "🇩🇪@0 🇫🇷@1"),
            ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿@0"),
            ("1️⃣2⃣ #️⃣a", "1@0 1⃣@0 2@1 2⃣@1 #⃣@2 a@3"),
            ("日本🎌", "日本@0 本@1 🎌@2"),
            ("™ ↔ ▶ • ★", "tm@0"),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn names_with_signs_are_words() {
        for (text, expected) in [
            ("C++ and C#.", "c@0 c++@0 and@1 c@2 c#@2"),
            ("notepad++", "notepad@0 notepad++@0"),
            ("a+++b x+y #tag id++;", "a@0 b@1 x@2 y@3 tag@4 id@5"),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(terms("日本語"), "日本@0 本語@1 語@2");
        assert_eq!(terms("x字y"), "x@0 字@1 y@2");
        assert_eq!(terms("ガイド"), "ガイ@0 イド@1 ド@2");
        assert_eq!(terms("ｶﾞ"), "ガ@0");
        assert_eq!(terms("ไทย ๒๕๖๗"), "ไท@0 ทย@1 ย@2 2567@3");
        assert_eq!(terms("ລາວ"), "ລາ@0 າວ@1 ວ@2");
        assert_eq!(terms("ខ្មែ"), "ខ្@0 ្ម@1 មែ@2 ែ@3");
        assert_eq!(terms("မြန်"), "မြ@0 ြန@1 န်@2 ်@3");
        assert_eq!(terms("한국어 문서"), "한국@0 국어@1 어@2 문서@3 서@4");
    }

    #[test]
    fn encoded_data_is_left_out_but_keeps_its_position() {
        let text = format!("a {} b", "x".repeat(MAX_TERM_BYTES + 1));
        assert_eq!(terms(&text), "a@0 b@2");
    }

    #[test]
    fn lines_of_encoded_data_are_one_unknown_word() {
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAYAAAAf8/9hAAAABHNCSVQICAgIfAhkiAAAAAlwSFlz";
        assert_eq!(terms(&format!("a {base64}\nb")), "a@0 b@2");
        let uuencoded = "M(R$O8FEN+W-H\"B,@5&AI<R!I<R!A('-H96QL(&%R8VAI=F4@*'!R;V1U8V5D";
        assert_eq!(terms(&format!("{uuencoded}\nb")), "b@1");
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert_eq!(terms(hash), format!("{hash}@0"));
        for path in [
            "Usr/Lib/Python3/Framework2/Versions/Current/Resources/English/Localizable",
            "lucene50/Lucene50StoredFieldsFormat/Lucene50StoredFieldsWriterImplementation",
        ] {
            assert!(terms(path).contains("resources@") || terms(path).contains("fields@"));
        }
    }

    #[test]
    fn paths_are_their_folders() {
        for (path, expected) in [
            ("/home/a/My Docs", "/@0 home@1 a@2 My Docs@3"),
            ("projects//ken/", "projects@0 ken@1"),
            ("/", "/@0"),
        ] {
            let mut all = Vec::new();
            analyze(Field::Dir, path, |term, position, range| {
                assert_eq!(&path[range], term);
                all.push(format!("{term}@{position}"));
            });
            assert_eq!(all.join(" "), expected);
        }
    }

    #[test]
    fn keywords_are_one_term() {
        let mut all = Vec::new();
        analyze(Field::Mime, "Text/HTML", |term, _, _| {
            all.push(term.to_owned())
        });
        assert_eq!(all, ["text/html"]);
    }

    proptest! {
        #[test]
        fn ranges_lie_in_the_text_and_positions_rise(text in "\\PC{0,80}") {
            let mut last = 0;
            analyze(Field::Body, &text, |term, position, range| {
                assert!(position >= last);
                last = position;
                assert!(text.get(range).is_some());
                assert!(!term.is_empty());
            });
        }

        #[test]
        fn folding_twice_changes_nothing(text in "[\\p{Latin}\\p{Greek}\\p{Cyrillic}0-9]{1,12}") {
            let once = terms(&text);
            let plain: Vec<&str> = once.split(' ').filter_map(|t| t.split('@').next()).collect();
            // Identifiers lose their case changes when folded, so only plain words are compared.
            if plain.len() == 1 && !plain[0].is_empty() {
                let twice = terms(plain[0]);
                prop_assert_eq!(twice.split(' ').next(), Some(once.as_str()));
            }
        }
    }
}
