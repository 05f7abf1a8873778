//! Where in a body it is worth to look.
//!
//! Analysis yields some hundred megabytes a second at best, and allocates; a regular expression
//! that stands for all spellings of the terms is searched several times faster, and with the
//! literal prefilters of `regex-automata` at the speed of memory in bodies of ASCII. Where it
//! matches, a window is analysed. Terms that are found often enough are dropped from the
//! expression, so that frequent words do not use up the effort before rare ones are found.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;
use std::sync::OnceLock;

use regex_automata::{Input, meta::Regex};
use unicode_normalization::UnicodeNormalization;

use super::matcher::{Hit, Hits, TermMatcher, TermTest};

/// Bodies up to this length are analysed whole.
const SMALL_BYTES: usize = 8 << 10;
/// How much is looked at of a larger body.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// What is looked through.
    scan_bytes: usize,
    /// Windows analysed for each term.
    windows_per_term: usize,
    /// Windows analysed in all.
    windows: usize,
    /// Candidates looked at for each term; `in` stands within many words.
    candidates_per_term: usize,
    /// How far windows reach into each other, for phrases that begin in one and end in the next.
    overlap: usize,
}

impl Effort {
    /// Enough to find a good place: the analysis of about 50 kB.
    pub(super) const SNIPPET: Self = Self {
        scan_bytes: 32 << 20,
        windows_per_term: 16,
        windows: 96,
        candidates_per_term: 4096,
        overlap: 0,
    };
    /// Everything.
    pub(super) const ALL: Self = Self {
        scan_bytes: usize::MAX,
        windows_per_term: usize::MAX,
        windows: usize::MAX,
        candidates_per_term: usize::MAX,
        overlap: 200,
    };
}

/// Terms looked for, and the characters of each that are scanned for.
const TERMS: usize = 32;
const TERM_CHARACTERS: usize = 24;
/// A window around a candidate, in bytes before and after its start.
const BEFORE: usize = 200;
const AFTER: usize = 320;

/// Returns hits in a body: all if it is small, else some of each term.
pub(super) fn hits(
    body: &str,
    finder: &Hits<'_>,
    expressions: &Expressions,
    effort: Effort,
) -> Vec<Hit> {
    let mut hits = Vec::new();
    if finder.matchers.is_empty() {
        return hits;
    }
    if body.len() <= SMALL_BYTES {
        finder.find(body, 0..body.len(), &mut hits);
        return hits;
    }
    let ascii = body.is_ascii();
    let mut needles: Vec<Needle> = finder
        .matchers
        .iter()
        .flat_map(Needle::of)
        .take(TERMS)
        .collect();
    for (number, needle) in needles.iter_mut().enumerate() {
        needle.number = number;
    }
    // Terms that are not ASCII stand in no body of ASCII.
    needles.retain(|needle| !needle.is_empty() && (!ascii || needle.text.is_ascii()));
    // At one place the expression prefers the first: the longer one says more.
    needles.sort_by_key(|needle| std::cmp::Reverse(needle.text.len()));
    let limit = floor_boundary(body, effort.scan_bytes);
    let mut windows = effort.windows;
    let mut from = 0;
    while !needles.is_empty()
        && let Some(regex) = expressions.of(&needles, ascii)
    {
        let Some(number) = search(
            body,
            limit,
            effort,
            &mut from,
            &regex,
            &mut needles,
            |window| {
                finder.find(body, window, &mut hits);
                windows -= 1;
                windows > 0
            },
        ) else {
            break;
        };
        needles.remove(number);
    }
    hits
}

/// A term to scan for.
struct Needle {
    /// Which of those of its query it is.
    number: usize,
    text: String,
    /// Whether a word that goes on is no match.
    exact: bool,
    /// An expression instead of the text.
    regex: Option<String>,
    /// Whether it may start within a word.
    inside: bool,
    windows: usize,
    candidates: usize,
}

impl Needle {
    /// Returns what to scan for: of a phrase the term that is the rarest, as far as its length
    /// tells; of alternatives each.
    fn of(matcher: &TermMatcher) -> Vec<Self> {
        match matcher {
            TermMatcher::Term(test) => Self::of_test(test, true),
            TermMatcher::Phrase(terms) => rarest(terms.iter().map(|(_, test)| test)),
            TermMatcher::Near { parts, .. } => rarest(parts.iter()),
        }
    }

    fn of_test(test: &TermTest, whole: bool) -> Vec<Self> {
        match test {
            TermTest::Exact(term) => vec![Self::literal(term, whole)],
            TermTest::Prefix(term) => vec![Self::literal(term, false)],
            TermTest::Regex(_, regex) => vec![Self::pattern(inside(regex))],
            // Most letters begin a word that may lie between.
            TermTest::Range(..) => vec![Self::pattern(inside(r"\w"))],
            // A term that is close to another shares its first half or its second.
            TermTest::Fuzzy(term, _) => {
                let middle = term.ceil_char_boundary(term.len() / 2);
                let (first, second) = term.split_at(middle);
                vec![
                    Self::literal(first, false),
                    Self {
                        inside: true,
                        ..Self::literal(second, false)
                    },
                ]
            }
            TermTest::Any(tests) => {
                let needles = tests.iter().flat_map(|test| Self::of_test(test, whole));
                needles.collect()
            }
        }
    }

    fn literal(term: &str, exact: bool) -> Self {
        let text: String = term.chars().take(TERM_CHARACTERS).collect();
        Self {
            number: 0,
            exact: exact && text.len() == term.len(),
            text,
            regex: None,
            inside: false,
            windows: 0,
            candidates: 0,
        }
    }

    fn pattern(regex: String) -> Self {
        Self {
            regex: Some(regex),
            inside: true,
            ..Self::literal("", false)
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.regex.is_none()
    }
}

fn rarest<'a>(tests: impl Iterator<Item = &'a TermTest>) -> Vec<Needle> {
    let needles = tests.map(|test| Needle::of_test(test, false));
    // A pattern may stand everywhere; of terms the longest is the rarest.
    needles
        .max_by_key(|needles| needles.iter().map(|needle| needle.text.len()).min())
        .unwrap_or_default()
}

/// Returns an expression that matches in a text where `regex` matches one of its words, or more.
fn inside(regex: &str) -> String {
    let regex = regex.strip_prefix("(?i)").unwrap_or(regex);
    let regex = match regex
        .strip_prefix("^(?s:")
        .and_then(|rest| rest.strip_suffix(")$"))
    {
        // Of a pattern for a whole word: it must not run over blanks.
        Some(glob) => glob.replace('.', "\\w"),
        None => regex.replace(['^', '$'], "\\b"),
    };
    format!("(?i:{regex})")
}

/// Calls back with windows from `from` on. Returns the number of a needle that has been found
/// often enough; `None` at the end, or when the callback says stop.
fn search(
    body: &str,
    limit: usize,
    effort: Effort,
    from: &mut usize,
    regex: &Regex,
    needles: &mut [Needle],
    mut each: impl FnMut(Range<usize>) -> bool,
) -> Option<usize> {
    let mut analysed = *from;
    while let Some(found) = regex.search(&Input::new(body).span(*from..limit)) {
        let number = found.pattern().as_usize();
        let needle = &mut needles[number];
        needle.candidates += 1;
        if !needle.inside && inside_word(body.as_bytes(), found.range(), needle.exact) {
            *from = ceil_boundary(body, found.start() + 1);
        } else {
            let window = window(body, found.start(), found.end(), analysed);
            analysed = floor_boundary(body, window.end.saturating_sub(effort.overlap));
            *from = analysed.max(found.end());
            needle.windows += 1;
            if !each(window) {
                return None;
            }
        }
        if needle.windows >= effort.windows_per_term
            || needle.candidates >= effort.candidates_per_term
        {
            return Some(number);
        }
    }
    None
}

/// Tells candidates that are part of a longer word, and not a part of an identifier either,
/// without analysis.
fn inside_word(body: &[u8], at: Range<usize>, exact: bool) -> bool {
    let same = |left: u8, right: u8| {
        left.is_ascii_lowercase() && right.is_ascii_lowercase()
            || left.is_ascii_digit() && right.is_ascii_digit()
    };
    let goes_on =
        |border: usize| border > 0 && border < body.len() && same(body[border - 1], body[border]);
    goes_on(at.start) || exact && goes_on(at.end)
}

/// Returns a window around a candidate, at blanks if there are some.
fn window(body: &str, start: usize, end: usize, analysed: usize) -> Range<usize> {
    let from = floor_boundary(body, start.saturating_sub(BEFORE)).max(analysed);
    let to = ceil_boundary(body, (start + AFTER).max(end + 1));
    let from = match body[from..start].find(char::is_whitespace) {
        Some(blank) if from > analysed => from + blank,
        _ => from,
    };
    let to = match body[end..to].rfind(char::is_whitespace) {
        Some(blank) if blank > 0 && to < body.len() => end + blank,
        _ => to,
    };
    from..to
}

fn floor_boundary(body: &str, at: usize) -> usize {
    body.floor_char_boundary(at)
}

fn ceil_boundary(body: &str, at: usize) -> usize {
    body.ceil_char_boundary(at)
}

/// Expressions kept from body to body: building one takes longer than searching most bodies.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    built: RefCell<HashMap<Wanted, Option<Rc<Regex>>>>,
}

/// The numbers of the needles that an expression matches, and whether in a body of ASCII.
type Wanted = (Vec<usize>, bool);

/// More are not kept: needles that are found often are left out one by one, in any order.
const EXPRESSIONS: usize = 64;

impl Expressions {
    /// Returns the expression that matches all spellings of needles of the one query that this is
    /// for, each a pattern; `None` if it would be too large.
    fn of(&self, needles: &[Needle], ascii: bool) -> Option<Rc<Regex>> {
        let numbers = needles.iter().map(|needle| needle.number).collect();
        let key = (numbers, ascii);
        let mut built = self.built.borrow_mut();
        if let Some(known) = built.get(&key) {
            return known.clone();
        }
        let regex = expression(needles, ascii).map(Rc::new);
        if built.len() < EXPRESSIONS {
            built.insert(key, regex.clone());
        }
        regex
    }
}

/// Returns the expression that matches all spellings of the needles, each a pattern; `None` if
/// it would be too large.
fn expression(needles: &[Needle], ascii: bool) -> Option<Regex> {
    let patterns: Vec<String> = needles
        .iter()
        .map(|needle| match &needle.regex {
            Some(regex) => regex.clone(),
            None => pattern(&needle.text, ascii),
        })
        .collect();
    Regex::new_many(&patterns).ok()
}

/// Returns a pattern for a folded term: each character stands for all that fold to it, with
/// marks after it. It may match more than analysis does; less would lose hits.
fn pattern(term: &str, ascii: bool) -> String {
    let mut pattern = String::new();
    let mut rest = term;
    while let Some(first) = rest.chars().next() {
        let pair = LIGATURES.iter().find(|(_, pair)| rest.starts_with(pair));
        match pair {
            Some((letters, pair)) if !ascii => {
                let mut each = pair.chars();
                let (a, b) = (each.next(), each.next());
                pattern.push_str("(?:");
                a.into_iter()
                    .chain(b)
                    .for_each(|c| class(&mut pattern, c, ascii));
                let _ = write!(pattern, "|[{letters}])");
                rest = &rest[pair.len()..];
            }
            _ => {
                class(&mut pattern, first, ascii);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    pattern
}

/// Letters that analysis may take for two.
const LIGATURES: [(&str, &str); 7] = [
    ("ßẞ", "ss"),
    ("æÆǽǼ", "ae"),
    ("œŒ", "oe"),
    ("þÞ", "th"),
    ("ﬁ", "fi"),
    ("ﬂ", "fl"),
    ("ﬀ", "ff"),
];

/// What analysis takes out of words: soft hyphens, accents, points and vowels, joiners.
const MARKS: &str =
    "[\\xAD\\u0300-\\u036F\\u0591-\\u05C7\\u0640\\u064B-\\u065F\\u0670\\u200B-\\u200F\\u2060]*";

/// Writes the class of all characters that fold to this one. Writing to a String cannot fail.
fn class(pattern: &mut String, folded: char, ascii: bool) {
    pattern.push('[');
    for character in std::iter::once(folded).chain(folded.to_uppercase()) {
        let _ = write!(pattern, "\\x{{{:x}}}", u32::from(character));
    }
    if !ascii {
        for (_, variant) in variants(folded) {
            let _ = write!(pattern, "\\x{{{:x}}}", u32::from(*variant));
        }
        pattern.push(']');
        pattern.push_str(MARKS);
    } else {
        pattern.push(']');
    }
}

/// Returns the characters whose base letter in lower case this one is.
fn variants(folded: char) -> &'static [(char, char)] {
    static TABLE: OnceLock<Vec<(char, char)>> = OnceLock::new();
    let table = TABLE.get_or_init(variant_table);
    let start = table.partition_point(|(base, _)| *base < folded);
    let end = table.partition_point(|(base, _)| *base <= folded);
    &table[start..end]
}

/// Latin, Greek, Cyrillic and full-width letters with their base letters, sorted by these.
fn variant_table() -> Vec<(char, char)> {
    const BLOCKS: [(char, char); 4] = [
        ('\u{c0}', '\u{24f}'),
        ('\u{370}', '\u{52f}'),
        ('\u{1e00}', '\u{1fff}'),
        ('\u{ff21}', '\u{ff5a}'),
    ];
    const STROKES: [(char, char); 14] = [
        ('o', 'ø'),
        ('o', 'Ø'),
        ('d', 'đ'),
        ('d', 'Đ'),
        ('d', 'ð'),
        ('d', 'Ð'),
        ('l', 'ł'),
        ('l', 'Ł'),
        ('i', 'ı'),
        ('i', 'İ'),
        ('h', 'ħ'),
        ('h', 'Ħ'),
        ('k', '\u{212a}'),
        ('σ', 'ς'),
    ];
    let mut table = STROKES.to_vec();
    for (first, last) in BLOCKS {
        for variant in first..=last {
            let base = std::iter::once(variant).nfkd().next().unwrap_or(variant);
            let base = base.to_lowercase().next().unwrap_or(base);
            if base != variant {
                table.push((base, variant));
            }
        }
    }
    table.sort_unstable();
    table
}
