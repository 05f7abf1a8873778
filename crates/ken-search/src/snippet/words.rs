//! Finds the first of several words in a text, and ignores the case of ASCII letters.
//!
//! An automaton for all words (A. Aho and M. Corasick, "Efficient string matching", 1975) skips ahead by single rare
//! bytes only where case matters, and in a table of numbers each byte is frequent. So vector instructions search for
//! the first bytes of the words in each case (Teddy, of Hyperscan: X. Wang et al., "Hyperscan: a fast multi-pattern
//! regex matcher for modern CPUs", 2019), and the words are compared at each start. The automaton does the rest:
//! searches for many words, and texts in which starts without words are close together.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind, Span};

/// The bytes of a word that are searched for: more bytes have more combinations of case.
const START_BYTES: usize = 3;
/// With more starts the search stops too often.
const MAX_STARTS: usize = 32;

/// A text is full of false starts if it has this many of them within `FULL_BYTES`.
const FALSE_STARTS: usize = 64;
const FULL_BYTES: usize = 64 * FALSE_STARTS;

#[derive(Debug)]
pub(super) struct Words {
    words: Vec<Vec<u8>>,
    starts: Option<Searcher>,
    /// The automaton, built when needed; `None` if there are too many words.
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl Words {
    /// Returns `None` if there are too many words.
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let words: Vec<Vec<u8>> = words.map(|word| word.as_bytes().to_vec()).collect();
        let this = Self {
            starts: starts(&words),
            words,
            automaton: OnceLock::new(),
        };
        (this.starts.is_some() || this.automaton().is_some()).then_some(this)
    }

    /// Returns the number and range of the first word from `from` on. At one offset the first of the words wins.
    pub(super) fn find(&self, text: &[u8], mut from: usize) -> Option<(usize, Range<usize>)> {
        if let Some(starts) = &self.starts {
            let (mut since, mut n_false) = (from, 0);
            while n_false < FALSE_STARTS {
                let at = starts.find_in(text, Span::from(from..text.len()))?.start();
                let stands = |word: &Vec<u8>| {
                    let there = text.get(at..at + word.len());
                    there.is_some_and(|there| there.eq_ignore_ascii_case(word))
                };
                if let Some(number) = self.words.iter().position(stands) {
                    return Some((number, at..at + self.words[number].len()));
                }
                from = at + 1;
                n_false += 1;
                if from - since > FULL_BYTES {
                    (since, n_false) = (from, 0);
                }
            }
        }
        let input = Input::new(text).span(from..text.len());
        let found = self.automaton()?.find(input)?;
        Some((found.pattern().as_usize(), found.range()))
    }

    fn automaton(&self) -> Option<&AhoCorasick> {
        let build = || {
            AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostFirst)
                .build(&self.words)
                .ok()
        };
        self.automaton.get_or_init(build).as_ref()
    }
}

/// Returns the search for the starts of words in each case, if they are few and the machine has the instructions.
fn starts(words: &[Vec<u8>]) -> Option<Searcher> {
    let mut all = BTreeSet::new();
    for word in words {
        let start = &word[..word.len().min(START_BYTES)];
        let mut cases = vec![Vec::new()];
        for byte in start {
            let mut longer = Vec::with_capacity(2 * cases.len());
            for byte in BTreeSet::from([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]) {
                longer.extend(
                    cases
                        .iter()
                        .map(|case: &Vec<u8>| [case, &[byte][..]].concat()),
                );
            }
            cases = longer;
        }
        all.extend(cases);
        if all.len() > MAX_STARTS {
            return None;
        }
    }
    let mut builder = packed::Config::new().builder();
    builder.extend(&all);
    builder.build()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Words {
        /// Returns the same words, searched for by the automaton only.
        fn without_starts(&self) -> Self {
            Self {
                words: self.words.clone(),
                starts: None,
                automaton: OnceLock::new(),
            }
        }
    }

    proptest! {
        #[test]
        fn both_ways_find_the_same(
            words in prop::collection::vec("[abAк]{1,5}", 1..7),
            // More false starts in a row than are tried.
            run in 0..3 * FALSE_STARTS,
            text in "[abABкК\n]{0,200}",
            from in 0..20_usize,
        ) {
            let words = Words::new(words.iter().map(String::as_str)).unwrap();
            let text = "a".repeat(run) + &text;
            let (text, from) = (text.as_bytes(), from.min(text.len()));
            prop_assert_eq!(words.find(text, from), words.without_starts().find(text, from));
        }
    }

    #[test]
    fn few_words_are_found_by_their_starts() {
        let is_by_starts = |words: &[&str]| {
            let words = Words::new(words.iter().copied()).unwrap();
            words.starts.is_some()
        };
        // A machine without such instructions has nothing to test.
        if cfg!(target_arch = "x86_64") && std::is_x86_feature_detected!("ssse3") {
            assert!(is_by_starts(&["ebbc"]));
            assert!(is_by_starts(&[
                "relate",
                "related",
                "relation",
                "полилиния"
            ]));
        }
        assert!(!is_by_starts(&["abc", "def", "ghi", "jkl", "mno"]));
    }

    #[test]
    fn a_text_full_of_starts_is_left_to_the_automaton() {
        let words = Words::new(["000abc"].into_iter()).unwrap();
        let text = "0".repeat(10_000) + "ABC";
        assert_eq!(words.find(text.as_bytes(), 0), Some((0, 9_997..10_003)));
        assert!(words.automaton.get().is_some());
    }
}
