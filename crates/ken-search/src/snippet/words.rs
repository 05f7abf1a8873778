//! Where one of several words stands in a text, whatever the case of their ASCII letters.
//!
//! The automaton for all words (A. Aho and M. Corasick, "Efficient string matching", 1975) is led by single rare
//! bytes where case does not matter, and in a table of numbers each byte is frequent. So the first letters of the words,
//! in each case, are looked for with vector instructions (Teddy, of Hyperscan: X. Wang et al., "Hyperscan: a fast
//! multi-pattern regex matcher for modern CPUs", 2019), and where some stand the words are compared. Of many words
//! the automaton is left.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::packed::{self, Searcher};
use aho_corasick::{AhoCorasick, Input, MatchKind, Span};

/// Bytes of a word that are looked for: longer ones are in more cases.
const START_BYTES: usize = 3;
/// More starts are found by looking at too many places.
const MAX_STARTS: usize = 32;

#[derive(Debug)]
pub(super) enum Words {
    ByStarts {
        starts: Searcher,
        words: Vec<Vec<u8>>,
    },
    Automaton(AhoCorasick),
}

impl Words {
    /// Returns `None` if there are too many.
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        if let Some(starts) = starts(words.clone()) {
            let words = words.map(|word| word.as_bytes().to_vec()).collect();
            return Some(Self::ByStarts { starts, words });
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostFirst)
            .build(words);
        automaton.ok().map(Self::Automaton)
    }

    /// Returns the first place after `from` where one stands, and its number; of those at one place the first.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<(usize, Range<usize>)> {
        match self {
            Self::ByStarts { starts, words } => find(text, from, starts, words),
            Self::Automaton(automaton) => {
                let found = automaton.find(Input::new(text).span(from..text.len()))?;
                Some((found.pattern().as_usize(), found.range()))
            }
        }
    }
}

fn find(
    text: &[u8],
    mut from: usize,
    starts: &Searcher,
    words: &[Vec<u8>],
) -> Option<(usize, Range<usize>)> {
    loop {
        let span = Span::from(from..text.len());
        let at = starts.find_in(text, span)?.start();
        let stands = |word: &Vec<u8>| {
            let there = text.get(at..at + word.len());
            there.is_some_and(|there| there.eq_ignore_ascii_case(word))
        };
        if let Some(number) = words.iter().position(stands) {
            return Some((number, at..at + words[number].len()));
        }
        from = at + 1;
    }
}

/// Returns what finds the starts of words in each case, if they are few and the machine has the instructions.
fn starts<'a>(words: impl Iterator<Item = &'a str>) -> Option<Searcher> {
    let mut all = BTreeSet::new();
    for word in words {
        let start = &word.as_bytes()[..word.len().min(START_BYTES)];
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

    proptest! {
        #[test]
        fn both_ways_find_the_same(
            words in prop::collection::vec("[abAк]{1,5}", 1..7),
            text in "[abABкК\n]{0,200}",
            from in 0..20_usize,
        ) {
            let from = from.min(text.len());
            let words = words.iter().map(String::as_str);
            let starts = starts(words.clone());
            let automaton = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostFirst)
                .build(words.clone())
                .unwrap();
            let found = Words::Automaton(automaton).find(text.as_bytes(), from);
            if let Some(starts) = starts {
                let words = words.map(|word| word.as_bytes().to_vec()).collect();
                let by_starts = Words::ByStarts { starts, words };
                prop_assert_eq!(by_starts.find(text.as_bytes(), from), found);
            }
        }
    }

    #[test]
    fn few_words_are_found_by_their_starts() {
        let is_by_starts = |words: &[&str]| {
            matches!(
                Words::new(words.iter().copied()),
                Some(Words::ByStarts { .. })
            )
        };
        // Where the machine has no such instructions there is nothing to see.
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
}
