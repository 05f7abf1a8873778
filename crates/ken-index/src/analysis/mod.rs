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

use std::ops::Range;

use ken_core::{Field, FieldKind, Glob, GlobPart, Pattern, Written, language as tags, lower_range};
use memchr::memmem;

pub(crate) use language::{detect as detect_language, frequent_words};

/// Maximum length of a word in bytes; longer ones are encoded data, not language, and not indexed.
pub const MAX_TERM_BYTES: usize = 64;

/// Maximum number of bytes of a letter with its marks, as in an acronym.
const MAX_LETTER_BYTES: usize = 8;

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

/// The required way of writing of words.
pub(crate) struct Form<'a> {
    written: &'a Written,
    /// The words, without differences that do not count.
    words: Glob,
    /// The prefix of their terms.
    start: String,
}

impl<'a> Form<'a> {
    pub(crate) fn new(written: &'a Written) -> Self {
        let range = |(first, last)| match written.case {
            true => (first, last),
            false => lower_range((first, last)),
        };
        let start = match &*written.terms {
            Pattern::Term(start) | Pattern::Prefix(start) => start.clone(),
            Pattern::Glob(glob) => match glob.0.first() {
                Some(GlobPart::Literal(start)) => start.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        let literal = |text: &str| fold::form(text, written.case, written.diacritics);
        Self {
            written,
            words: written.text.map(literal, range),
            start,
        }
    }

    /// Returns the one term of the words, if there is only one.
    pub(crate) fn term(&self) -> Option<&str> {
        match &*self.written.terms {
            Pattern::Term(term) => Some(term),
            _ => None,
        }
    }

    /// Returns whether a text may have a word in this form: ASCII letters occur in it as required.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        if !self.written.case || !text.is_ascii() {
            return true;
        }
        self.words.0.iter().all(|part| match part {
            GlobPart::Literal(part) => memmem::find(text.as_bytes(), part.as_bytes()).is_some(),
            _ => true,
        })
    }

    /// Returns whether a word with this term has the form.
    pub(crate) fn fits(&self, term: &str, word: &str) -> bool {
        let Written {
            case, diacritics, ..
        } = self.written;
        term.starts_with(&self.start) && self.words.matches(&fold::form(word, *case, *diacritics))
    }
}

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
const ASCII_WORD: u8 = LOWER | UPPER | DIGIT | UNDERSCORE;

/// The class of each byte; 0 for separators of words.
const CLASS: [u8; 256] = {
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
