//! A stretch of a body with its letters folded, so that terms can be searched for as bytes.
//!
//! Each letter becomes what analysis makes of it, without marks. Every term that analysis finds has the same letters
//! here. Other text may have the same letters too, which only costs an analysis. ASCII capitals stay, as the search
//! ignores their case.

use ken_core::Field;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::plan::Analyze;

/// The number of folded letters that are kept; texts in one script have about a hundred.
const MEMORY: usize = 1024;
/// The most bytes of a folded letter that is kept; only some ligatures have more.
const LETTER_BYTES: usize = 8;

/// The folded text, and where its bytes come from.
pub(super) struct Folded {
    analyze: Analyze,
    text: Vec<u8>,
    /// Pairs of an offset in the text and one in the body, for each offset at which their distance changes.
    steps: Vec<(usize, usize)>,
    memory: Vec<Letter>,
}

/// A letter and its folded form.
#[derive(Clone, Copy)]
struct Letter {
    letter: char,
    folded: [u8; LETTER_BYTES],
    length: u8,
}

impl Folded {
    pub(super) fn new(analyze: Analyze) -> Self {
        Self {
            analyze,
            text: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
        }
    }

    /// Folds a stretch that begins at `start` of its body.
    pub(super) fn fold(&mut self, stretch: &str, start: usize) {
        self.text.clear();
        self.steps.clear();
        self.steps.push((0, start));
        let bytes = stretch.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = at + n_ascii(&bytes[at..]);
            self.text.extend_from_slice(&bytes[at..end]);
            at = end;
            let Some(letter) = stretch[at..].chars().next() else {
                return;
            };
            let before = self.text.len();
            self.push(letter);
            at += letter.len_utf8();
            if self.text.len() - before != letter.len_utf8() {
                self.steps.push((self.text.len(), start + at));
            }
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns approximately where in the body an offset of the text is; it may be within a letter.
    pub(super) fn offset_in_body(&self, at: usize) -> usize {
        let next = self.steps.partition_point(|(text, _)| *text <= at);
        let offset = match self.steps.get(next.saturating_sub(1)) {
            Some((text, body)) => body + (at - text),
            None => at,
        };
        // A folded letter may be longer than the letter.
        self.steps
            .get(next)
            .map_or(offset, |(_, end)| offset.min(*end))
    }

    fn push(&mut self, letter: char) {
        if self.memory.is_empty() {
            let none = Letter {
                letter: 'a',
                folded: [0; LETTER_BYTES],
                length: 0,
            };
            self.memory.resize(MEMORY, none);
        }
        let slot = u32::from(letter) as usize % MEMORY;
        if self.memory[slot].letter != letter {
            let folded = self.letter(letter);
            let mut known = Letter {
                letter,
                folded: [0; LETTER_BYTES],
                length: folded.len() as u8,
            };
            let Some(room) = known.folded.get_mut(..folded.len()) else {
                self.text.extend_from_slice(folded.as_bytes());
                return;
            };
            room.copy_from_slice(folded.as_bytes());
            self.memory[slot] = known;
        }
        let known = &self.memory[slot];
        let folded = &known.folded[..usize::from(known.length)];
        self.text.extend_from_slice(folded);
    }

    fn letter(&self, letter: char) -> String {
        let mut folded = String::new();
        let text = letter.encode_utf8(&mut [0; 4]).to_owned();
        (self.analyze)(Field::Body, &text, &mut |term, _, _| {
            folded += &plain(term);
        });
        folded
    }
}

/// Returns the number of ASCII bytes before the first byte that is not ASCII. Texts have thousands of such stretches,
/// of a dozen bytes each.
fn n_ascii(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let high = u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        if high != 0 {
            return 8 * number + high.trailing_zeros() as usize / 8;
        }
    }
    let of_rest = rest.iter().take_while(|byte| byte.is_ascii());
    8 * words.len() + of_rest.count()
}

/// Returns a term as folded text has it.
pub(super) fn plain(term: &str) -> String {
    term.nfkd().filter(|c| !is_combining_mark(*c)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANALYZE: Analyze = |field, text, each| ken_index::analysis::analyze(field, text, each);

    #[test]
    fn offsets_are_those_of_the_letters() {
        let body = "x Ünïcode Straße e\u{301}t\u{e9} ﬁn";
        let mut folded = Folded::new(ANALYZE);
        folded.fold(&body[2..], 2);
        let text = String::from_utf8(folded.text().to_vec()).unwrap();
        assert_eq!(text, "unicode Strasse ete fin");
        for (word, there) in [("unicode", "Ünï"), ("Strasse", "Straße"), ("fin", "ﬁn")] {
            let at = folded.offset_in_body(text.find(word).unwrap());
            assert!(body[at..].starts_with(there), "{word}");
        }
    }

    #[test]
    fn stretches_of_ascii_are_measured() {
        for length in 0..40 {
            let text = "a".repeat(length);
            assert_eq!(n_ascii(text.as_bytes()), length);
            let more = format!("{text}é and é more text");
            assert_eq!(n_ascii(more.as_bytes()), length);
        }
    }

    proptest! {
        #[test]
        fn analysed_words_stand_in_folded_text(body in "(\\PC|[a-zéßÑæŁ\u{301}ﬁ ]){0,40}") {
            let mut folded = Folded::new(ANALYZE);
            folded.fold(&body, 0);
            let text = String::from_utf8(folded.text().to_vec()).unwrap().to_lowercase();
            ANALYZE(Field::Body, &body, &mut |term, _, bytes| {
                // The search does not find words with a gap, such as `fo-\\nund`.
                if body[bytes].chars().all(char::is_alphanumeric) {
                    let term = plain(term);
                    assert!(text.contains(&term), "{term:?} in {body:?}: {text:?}");
                }
            });
            for at in 0..=folded.text().len() {
                prop_assert!(folded.offset_in_body(at) <= body.len());
            }
        }
    }
}
