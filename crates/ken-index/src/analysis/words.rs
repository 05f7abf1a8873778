//! Divides a text into words and their terms.

use std::ops::Range;

use super::{MAX_TERM_BYTES, compound, emoji, encoded, fold, identifier, script, spaceless};

/// Maximum number of bytes of a letter with its marks, as in an acronym.
const MAX_LETTER_BYTES: usize = 8;

/// The state for analysing one text; reuses its buffers from word to word.
#[derive(Default)]
pub(crate) struct Analyzer {
    term: String,
    parts: Vec<Range<usize>>,
    position: u32,
}

/// Classes of bytes, as bits: a word is described by the classes that it contains.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const UNDERSCORE: u8 = 8;
const NOT_ASCII: u8 = 16;
const LETTER: u8 = LOWER | UPPER;
pub(super) const ASCII_WORD: u8 = LOWER | UPPER | DIGIT | UNDERSCORE;

/// The class of each byte; 0 for separators of words.
pub(super) const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            0x80.. => NOT_ASCII,
            _ => 0,
        };
        byte += 1;
    }
    class
};

impl Analyzer {
    /// Calls `each` with the terms of a text field; positions continue from the last call.
    pub(crate) fn words(&mut self, text: &str, each: &mut impl FnMut(&str, u32, Range<usize>)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let first = CLASS[bytes[at] as usize];
            if first == 0 {
                at += 1;
                continue;
            }
            let start = at;
            let mut rest = 0;
            let mut class = first;
            while class & ASCII_WORD != 0 {
                at += 1;
                class = bytes.get(at).map_or(0, |byte| CLASS[*byte as usize]);
                rest |= class;
            }
            if class == NOT_ASCII {
                at = self.unicode_word(text, start, each);
                continue;
            }
            let all = first | rest;
            if (all & UPPER != 0 || all & DIGIT != 0)
                && let Some(end) = encoded::end(bytes, start..at)
            {
                self.position += 1;
                at = end;
                continue;
            }
            if bytes.get(at) == Some(&b'.')
                && at - start <= 2
                && let Some(end) = self.acronym(text, start, each)
            {
                at = end;
                continue;
            }
            let humps = rest & UPPER != 0 && all & LOWER != 0;
            let is_measure =
                || first == DIGIT && rest & LETTER != 0 && identifier::is_measure(&text[start..at]);
            if humps || all & UNDERSCORE != 0 || is_measure() {
                self.ascii_identifier(text, start..at, all & UPPER != 0, each);
            } else {
                self.ascii_word(text, start..at, all & UPPER != 0, each);
            }
            match bytes.get(at) {
                Some(b'-') => {
                    at = self.divided(text, start..at, each);
                    self.joined(text, start..at, each);
                }
                Some(b'.' | b'\'') if at - start == 1 => self.joined(text, start..at, each),
                Some(b'/' | b'&') => self.joined(text, start..at, each),
                Some(b'+' | b'#') => self.signed(text, start..at, each),
                _ => {}
            }
        }
    }

    fn ascii_word(
        &mut self,
        text: &str,
        range: Range<usize>,
        has_capitals: bool,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        if range.len() <= MAX_TERM_BYTES {
            let word = &text[range.clone()];
            if has_capitals {
                self.term.clear();
                self.term.push_str(word);
                self.term.make_ascii_lowercase();
                each(&self.term, self.position, range);
            } else {
                each(word, self.position, range);
            }
        }
        self.position += 1;
    }

    /// Adds the word that hyphens at line ends divide, if they do, and its further parts; returns
    /// its end.
    ///
    /// All terms are at the position of the first part, so that phrases continue after the word.
    /// `well-known` may be divided there too, so the last part also follows the others.
    fn divided(
        &mut self,
        text: &str,
        first: Range<usize>,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) -> usize {
        let mut last = first.clone();
        let mut whole = String::new();
        while let Some(next) = compound::continued(text, last.clone()) {
            if whole.is_empty() {
                whole.push_str(&text[first.clone()]);
            }
            if whole.len() + next.len() > MAX_TERM_BYTES {
                break;
            }
            whole.push_str(&text[next.clone()]);
            let position = self.position.saturating_sub(1);
            fold::fold(&whole, &mut self.term);
            each(&self.term, position, first.start..next.end);
            fold::fold(&text[next.clone()], &mut self.term);
            each(&self.term, position, next.clone());
            last = next;
        }
        if last != first {
            each(&self.term, self.position, last.clone());
        }
        last.end
    }

    /// Adds the compound that begins with a word as one word, at the position of its first part.
    fn joined(
        &mut self,
        text: &str,
        first: Range<usize>,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        if let Some(end) = compound::end(text, first.clone()) {
            self.without_signs(
                text,
                first.start..end,
                self.position.saturating_sub(1),
                each,
            );
        }
    }

    /// Adds the acronym at `start`, if there is one, and returns its end. It is one word in a phrase,
    /// so that `U.S.A. today` is found by `"USA today"`.
    fn acronym(
        &mut self,
        text: &str,
        start: usize,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) -> Option<usize> {
        self.parts.clear();
        let end = compound::acronym(text, start, |part| self.parts.push(part))?;
        self.without_signs(text, start..end, self.position, each);
        for part in &self.parts {
            fold::fold(&text[part.clone()], &mut self.term);
            each(&self.term, self.position, part.clone());
        }
        self.position += 1;
        Some(end)
    }

    /// Adds the letters and digits of a compound as one word.
    fn without_signs(
        &mut self,
        text: &str,
        place: Range<usize>,
        position: u32,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let letters = text[place.clone()].chars();
        let letters: String = letters.filter(|c| script::is_word(*c)).collect();
        if letters.len() <= MAX_TERM_BYTES {
            fold::fold(&letters, &mut self.term);
            each(&self.term, position, place);
        }
    }

    /// Adds `c++` and `c#` as words, in addition to those of their letters.
    fn signed(
        &mut self,
        text: &str,
        letters: Range<usize>,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let after = &text[letters.end..];
        let length = letters.len();
        let sign = match after.as_bytes() {
            [b'+', b'+', ..] if length == 1 || length > 2 => "++",
            [b'#', ..] if length == 1 => "#",
            _ => return,
        };
        let word = &text[letters.clone()];
        let goes_on = after[sign.len()..].starts_with(|c: char| c == '+' || c.is_alphanumeric());
        if goes_on || length > MAX_TERM_BYTES || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
            return;
        }
        self.term.clear();
        self.term.push_str(word);
        self.term.make_ascii_lowercase();
        self.term.push_str(sign);
        let bytes = letters.start..letters.end + sign.len();
        each(&self.term, self.position.saturating_sub(1), bytes);
    }

    /// Adds an ASCII identifier and its parts at one position.
    fn ascii_identifier(
        &mut self,
        text: &str,
        range: Range<usize>,
        has_capitals: bool,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let (start, word) = identifier::without_underscores(text, range);
        if word.is_empty() {
            return;
        }
        self.term.clear();
        self.term.push_str(word);
        if has_capitals {
            self.term.make_ascii_lowercase();
        }
        if word.len() <= MAX_TERM_BYTES {
            each(&self.term, self.position, start..start + word.len());
        }
        identifier::each_part(word, has_capitals, |part| {
            if part.len() <= MAX_TERM_BYTES {
                let bytes = start + part.start..start + part.end;
                each(&self.term[part], self.position, bytes);
            }
        });
        self.position += 1;
    }

    /// Adds an identifier and its parts at one position.
    fn identifier(
        &mut self,
        text: &str,
        range: Range<usize>,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let (start, word) = identifier::without_underscores(text, range.clone());
        if word.is_ascii() {
            return self.ascii_identifier(text, range, true, each);
        }
        fold::fold(word, &mut self.term);
        if self.term.is_empty() {
            return;
        }
        if word.len() <= MAX_TERM_BYTES {
            each(&self.term, self.position, start..start + word.len());
        }
        identifier::split(word, &mut self.parts);
        for part in &self.parts {
            fold::fold(&word[part.clone()], &mut self.term);
            // A mark alone is not a part.
            if part.len() <= MAX_TERM_BYTES && !self.term.is_empty() {
                each(
                    &self.term,
                    self.position,
                    start + part.start..start + part.end,
                );
            }
        }
        self.position += 1;
    }

    /// Reads a word that is not all ASCII from `start`; returns its end.
    fn unicode_word(
        &mut self,
        text: &str,
        start: usize,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) -> usize {
        let rest = &text[start..];
        let mut is_framed = false;
        let is_end = |(_, c): &(usize, char)| {
            let ends = std::mem::replace(&mut is_framed, *c == emoji::FRAME);
            ends || !script::is_word(*c) || script::has_no_spaces(*c)
        };
        let end = rest.char_indices().find(is_end);
        let end = end.map_or(rest.len(), |(at, _)| at);
        if end > 0 {
            let word = &rest[..end];
            if word.len() <= MAX_LETTER_BYTES
                && rest[end..].starts_with('.')
                && let Some(end) = self.acronym(text, start, each)
            {
                return end;
            }
            if identifier::is_identifier(word) || identifier::is_measure(word) {
                self.identifier(text, start..start + end, each);
            } else if script::holds_a_letter(word) {
                if word.len() <= MAX_TERM_BYTES {
                    fold::fold(word, &mut self.term);
                    if !self.term.is_empty() {
                        each(&self.term, self.position, start..start + end);
                    }
                }
                self.position += 1;
                self.joined(text, start..start + end, each);
            }
            if let Some(key) = emoji::key(text, start..start + end) {
                self.key(text, key, start, each);
            }
            return self.divided(text, start..start + end, each);
        }
        if let Some(end) = emoji::end(text, start) {
            self.emoji(&text[start..end], start..end, each);
            return end;
        }
        let Some(first) = rest.chars().next() else {
            return text.len();
        };
        if script::has_no_spaces(first) {
            return self.pairs(text, start, each);
        }
        let end = start + first.len_utf8();
        if script::may_be_composite(first) {
            self.composite(&text[start..end], start, each);
        }
        end
    }

    /// Adds an emoji as a word. One with a skin tone is also found by the one without.
    fn emoji(
        &mut self,
        emoji: &str,
        place: Range<usize>,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        emoji::term(emoji, &mut self.term);
        if emoji.len() <= MAX_TERM_BYTES {
            each(&self.term, self.position, place.clone());
            if emoji::without_skin(&mut self.term) {
                each(&self.term, self.position, place);
            }
        }
        self.position += 1;
    }

    /// Adds a key (`1️⃣`) at the position of its digit, or at one of its own if no word has it.
    fn key(
        &mut self,
        text: &str,
        key: Range<usize>,
        word: usize,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let is_apart = key.start < word;
        self.position = self.position.saturating_sub(u32::from(!is_apart));
        emoji::term(&text[key.clone()], &mut self.term);
        each(&self.term, self.position, key);
        self.position += 1;
    }

    /// Adds the words of a sign that represents some: `½`, `㎏`, `™`.
    fn composite(
        &mut self,
        sign: &str,
        start: usize,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) {
        let mut written = String::new();
        fold::fold(sign, &mut written);
        if written == sign {
            return;
        }
        let bytes = start..start + sign.len();
        let mut each: Each<'_> = &mut |term, position, _| each(term, position, bytes.clone());
        self.words(&written, &mut each);
    }

    /// Adds overlapping pairs of the characters of a run without spaces, and the last character
    /// alone, so that each character starts a term and a single one is found by prefix.
    fn pairs(
        &mut self,
        text: &str,
        start: usize,
        each: &mut impl FnMut(&str, u32, Range<usize>),
    ) -> usize {
        let mut current = spaceless::character(text, start);
        let mut end = start;
        while let Some(character) = current {
            let next = spaceless::character(text, character.end);
            end = next.as_ref().map_or(character.end, |next| next.end);
            match &next {
                Some(next) if next.start > character.end => {
                    let pair = [&text[character.clone()], &text[next.clone()]].concat();
                    fold::fold(&pair, &mut self.term);
                }
                _ => fold::fold(&text[character.start..end], &mut self.term),
            }
            if !self.term.is_empty() {
                each(&self.term, self.position, character.start..end);
            }
            self.position += 1;
            current = next;
        }
        end
    }
}

/// The receiver of terms, as a trait object where its type would grow with each call.
type Each<'a> = &'a mut dyn FnMut(&str, u32, Range<usize>);
