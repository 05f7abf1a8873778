//! Finds where a word stands alone in a text, without analysing the rest.
//!
//! Such an occurrence certainly belongs to the word's term. There may be others (parts of
//! identifiers, words divided at line ends); the number of all occurrences shows whether these are
//! complete.

use std::ops::Range;

use super::words::{ASCII_WORD, CLASS};
use super::{encoded, script};

/// English letters from the most frequent to the rarest.
const BY_FREQUENCY: &[u8] = b"etaoinshrdlcumwfgypbvkjxqz";

/// Returns whether this search supports a term.
pub(crate) fn is_plain(term: &str) -> bool {
    !term.is_empty() && term.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Calls `each` with all ranges where a plain term stands alone, in either case. Returns whether
/// all of them certainly belong to the term, since some may be in encoded data.
pub(crate) fn occurrences(text: &str, term: &str, mut each: impl FnMut(Range<usize>)) -> bool {
    let bytes = text.as_bytes();
    let rank = |byte: u8| BY_FREQUENCY.iter().position(|letter| *letter == byte);
    let rarest = term.bytes().enumerate().max_by_key(|(_, byte)| rank(*byte));
    let Some((offset, rarest)) = rarest else {
        return false;
    };
    for at in memchr::memchr2_iter(rarest, rarest.to_ascii_uppercase(), bytes) {
        let Some(start) = at.checked_sub(offset) else {
            continue;
        };
        let range = start..start + term.len();
        let is_term = |word: &[u8]| word.eq_ignore_ascii_case(term.as_bytes());
        if !bytes.get(range.clone()).is_some_and(is_term) || !is_alone(text, &range) {
            continue;
        }
        if encoded::may_hold(bytes, range.clone()) {
            return false;
        }
        each(range);
    }
    true
}

/// Returns whether no character next to a range belongs to the same word.
fn is_alone(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let before = range.start.checked_sub(1).map(|before| bytes[before]);
    let after = bytes.get(range.end).copied();
    if [before, after]
        .into_iter()
        .flatten()
        .all(|byte| byte < 0x80)
    {
        let parts = |byte: Option<u8>| byte.is_none_or(|of| CLASS[of as usize] & ASCII_WORD == 0);
        return parts(before) && parts(after);
    }
    let parts = |c: Option<char>| c.is_none_or(|c| !script::is_word(c) || script::has_no_spaces(c));
    parts(text[..range.start].chars().next_back()) && parts(text[range.end..].chars().next())
}

#[cfg(test)]
mod tests {
    use ken_core::{Field, Glob, GlobPart, Pattern, Written};
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::{Form, analyze};

    /// Generates characters around words, in words, and similar ones.
    fn piece() -> impl Strategy<Value = String> {
        let beside = [
            " ",
            "\n",
            "-",
            "-\n",
            "-\r\n  ",
            "_",
            ".",
            "+",
            "/",
            "++",
            "#",
            "'",
            "’",
            "é",
            "中",
            "の",
            "\u{ad}",
            "\u{200b}",
            "\u{301}",
            "ไทย",
            "½",
            "™",
            "1",
            "10",
            "“",
            "\0",
        ];
        let words = [
            "linux",
            "Linux",
            "LINUX",
            "LiNux",
            "LinuxKernel",
            "a",
            "M",
            "gnu",
            "lin",
            "ux",
        ];
        let base64 = "TGludXggaXMgbm90IFVuaXg+Linux/Rmlyc3QgQ2l0aXplbiwgbGV0IHVzIGhlYXIgTGludXg";
        let uuencoded = "\nM5&AE(#(P,#$@06YN=6%L(%)E<&]R='LINUX\"!O9B!T:&4@)$-O=6YC:6P@;V8@\n";
        prop_oneof![
            8 => prop::sample::select(beside.to_vec()).prop_map(str::to_owned),
            8 => prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            1 => Just(base64.to_owned()),
            1 => Just(uuencoded.to_owned()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// If there are as many occurrences as the term has, they are the same.
        #[test]
        fn equal_counts_mean_equal_occurrences(pieces in prop::collection::vec(piece(), 1..40)) {
            let text = pieces.concat();
            for term in ["linux", "a", "gnu", "m"] {
                let mut analyzed = Vec::new();
                analyze(Field::Body, &text, |found, _, bytes| {
                    if found == term {
                        analyzed.push(bytes);
                    }
                });
                let mut alone = Vec::new();
                if occurrences(&text, term, |range| alone.push(range)) && alone.len() == analyzed.len() {
                    prop_assert_eq!(&alone, &analyzed, "{} in {:?}", term, text);
                }
                prop_assert!(alone.iter().all(|range| analyzed.contains(range)), "{} in {:?}", term, text);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn what_fits_is_never_ruled_out(pieces in prop::collection::vec(piece(), 1..40), diacritics: bool) {
            let text = pieces.concat();
            for word in ["Linux", "LINUX", "LiNux", "linux", "GNU", "gnu"] {
                let written = Written {
                    terms: Box::new(Pattern::Term(word.to_lowercase())),
                    text: Glob(vec![GlobPart::Literal(word.to_owned())]),
                    case: true,
                    diacritics,
                };
                let form = Form::new(&written);
                let mut fits = false;
                analyze(Field::Body, &text, |term, _, bytes| fits |= form.fits(term, &text[bytes]));
                prop_assert!(!fits || form.may_be_in(&text), "{} in {:?}", word, text);
                if text.is_ascii() {
                    prop_assert_eq!(form.may_be_in(&text), text.contains(word));
                }
            }
        }
    }

    #[test]
    fn common_text_is_understood_without_analysis() {
        let text = "Linux is not LINUX’s “linux”, (Linux)-based GNU/Linux or liNux.";
        let mut found = Vec::new();
        assert!(occurrences(text, "linux", |range| found.push(&text[range])));
        assert_eq!(
            found,
            ["Linux", "LINUX", "linux", "Linux", "Linux", "liNux"]
        );
    }
}
