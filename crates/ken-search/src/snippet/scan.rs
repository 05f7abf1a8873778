//! Finds the stretches of a body that are worth an analysis.
//!
//! Analysis allocates and reaches some hundred megabytes a second at best. Searching for the letters of all terms
//! ([`Words`]) takes a small part of that time; text outside ASCII is folded first ([`Folded`]). A window around each
//! candidate is analysed. A term that is found often enough is no longer searched for, so that frequent words do not
//! use up the effort before rare ones are found. Patterns are joined in one regular expression.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::{Input, meta::Regex};

use super::folded::{self, Folded};
use super::matcher::{Hit, Hits, TermMatcher, TermTest};
use super::words::Words;
use crate::plan::Analyze;

/// Bodies up to this length are analysed whole.
const SMALL_BYTES: usize = 8 << 10;
/// How much of a larger body is searched.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Bytes that are scanned.
    scan_bytes: usize,
    /// Windows analysed for each term.
    windows_per_term: usize,
    /// Windows analysed for all terms.
    windows: usize,
    /// Candidates checked for each term; `in` is inside many words.
    candidates_per_term: usize,
    /// The overlap of neighbouring windows, for phrases that begin in one and end in the next.
    overlap: usize,
}

impl Effort {
    /// Enough to find a good passage: the analysis of about 50 kB.
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

/// The most terms searched for, and the most characters of each.
const TERMS: usize = 32;
const TERM_CHARACTERS: usize = 24;
/// A window around a candidate, in bytes before and after its start.
const BEFORE: usize = 200;
const AFTER: usize = 320;

/// Returns the matches in a body: all if it is small, else some of each term, and no further ones once `is_over` returns
/// true.
pub(super) fn hits(
    body: &str,
    finder: &Hits<'_>,
    expressions: &Expressions,
    effort: Effort,
    is_over: &dyn Fn() -> bool,
) -> Vec<Hit> {
    let mut hits = Vec::new();
    if finder.matchers.is_empty() {
        return hits;
    }
    if body.len() <= SMALL_BYTES {
        finder.find(body, 0..body.len(), &mut hits);
        return hits;
    }
    let is_ascii = body.is_ascii();
    let mut needles: Vec<Needle> = finder
        .matchers
        .iter()
        .flat_map(Needle::of)
        .take(TERMS)
        .collect();
    for (number, needle) in needles.iter_mut().enumerate() {
        needle.number = number;
        needle.text = folded::plain(&needle.text);
    }
    // A body of ASCII has no term outside ASCII.
    needles.retain(|needle| !needle.is_empty() && (!is_ascii || needle.text.is_ascii()));
    // At one offset the automaton prefers the first needle: the longer one says more.
    needles.sort_by_key(|needle| std::cmp::Reverse(needle.text.len()));
    let (patterns, terms): (Vec<_>, Vec<_>) =
        needles.into_iter().partition(|of| of.regex.is_some());
    let mut windows = effort.windows;
    for mut needles in [terms, patterns] {
        let mut scan = Scan::new(body, is_ascii, effort, finder.analyze, is_over);
        while !needles.is_empty()
            && windows > 0
            && let Some(expression) = expressions.of(&needles)
        {
            let often = scan.search(&expression, &mut needles, |window| {
                finder.find(body, window, &mut hits);
                windows -= 1;
                windows > 0 && !is_over()
            });
            let Some(number) = often else {
                break;
            };
            needles.remove(number);
        }
    }
    hits
}

/// A term to scan for.
struct Needle {
    /// Its number among the needles of the query.
    number: usize,
    text: String,
    /// Whether the word must end with the needle.
    exact: bool,
    /// An expression instead of the text.
    regex: Option<String>,
    /// Whether the match may start within a word.
    inside: bool,
    windows: usize,
    candidates: usize,
}

impl Needle {
    /// Returns the needles of a matcher: for a phrase its rarest term, judged by length, and for alternatives
    /// each of them.
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
            // Words in a range may begin with most letters.
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
    // A pattern may match anywhere; among terms the longest is the rarest.
    needles
        .max_by_key(|needles| needles.iter().map(|needle| needle.text.len()).min())
        .unwrap_or_default()
}

/// Returns an expression that matches in a text at least where `regex` matches one of its words.
fn inside(regex: &str) -> String {
    let regex = regex.strip_prefix("(?i)").unwrap_or(regex);
    let regex = match regex
        .strip_prefix("^(?s:")
        .and_then(|rest| rest.strip_suffix(")$"))
    {
        // The pattern is for a whole word, so it must not run over spaces.
        Some(glob) => glob.replace('.', "\\w"),
        None => regex.replace(['^', '$'], "\\b"),
    };
    format!("(?i:{regex})")
}

/// A scan of one body.
struct Scan<'b> {
    body: &'b str,
    /// Where the scan ends.
    limit: usize,
    effort: Effort,
    /// The bytes before this offset have been searched.
    from: usize,
    /// The bytes before this offset have been analysed.
    analysed: usize,
    /// The stretch of the body that is searched, and where in its text the search goes on.
    chunk: Range<usize>,
    next: usize,
    folded: Folded,
    /// Whether the stretch is searched without folding.
    is_plain: bool,
    is_over: &'b dyn Fn() -> bool,
}

/// Bytes that are folded and searched at a time.
const CHUNK_BYTES: usize = 16 << 10;
/// The overlap of chunks: a term with its marks has fewer bytes.
const CHUNK_OVERLAP: usize = 256;

impl<'b> Scan<'b> {
    fn new(
        body: &'b str,
        is_ascii: bool,
        effort: Effort,
        analyze: Analyze,
        is_over: &'b dyn Fn() -> bool,
    ) -> Self {
        let limit = floor_boundary(body, effort.scan_bytes);
        let mut this = Self {
            body,
            limit,
            effort,
            from: 0,
            analysed: 0,
            chunk: 0..limit,
            next: 0,
            folded: Folded::new(analyze),
            is_plain: true,
            is_over,
        };
        if !is_ascii {
            this.open_chunk(0);
        }
        this
    }

    fn open_chunk(&mut self, start: usize) {
        let end = ceil_boundary(self.body, start + CHUNK_BYTES).min(self.limit);
        let text = &self.body[start..end];
        self.is_plain = text.is_ascii();
        if !self.is_plain {
            self.folded.fold(text, start);
        }
        self.chunk = start..end;
        self.next = 0;
    }

    /// Calls back with windows. Returns the number of a needle that has been found often enough; `None` at the end, or
    /// when the callback stops the search.
    fn search(
        &mut self,
        expression: &Expression,
        needles: &mut [Needle],
        mut each: impl FnMut(Range<usize>) -> bool,
    ) -> Option<usize> {
        while let Some((number, at)) = self.candidate(expression) {
            let needle = &mut needles[number];
            if !self.take(needle, at, &mut each) {
                return None;
            }
            if needle.windows >= self.effort.windows_per_term
                || needle.candidates >= self.effort.candidates_per_term
            {
                return Some(number);
            }
        }
        None
    }

    /// Returns the number and range of the next needle in the body.
    fn candidate(&mut self, expression: &Expression) -> Option<(usize, Range<usize>)> {
        if self.from >= self.limit {
            return None;
        }
        let words = match expression {
            Expression::Words(words) => words,
            Expression::Patterns(regex) => {
                let input = Input::new(self.body).span(self.from..self.limit);
                let found = regex.search(&input)?;
                return Some((found.pattern().as_usize(), found.range()));
            }
        };
        loop {
            if let Some(found) = self.in_chunk(words) {
                return Some(found);
            }
            if self.chunk.end == self.limit || (self.is_over)() {
                return None;
            }
            let overlap = floor_boundary(self.body, self.chunk.end - CHUNK_OVERLAP);
            self.open_chunk(self.from.max(overlap));
        }
    }

    fn in_chunk(&mut self, words: &Words) -> Option<(usize, Range<usize>)> {
        let chunk = self.chunk.start;
        let text = match self.is_plain {
            true => &self.body.as_bytes()[self.chunk.clone()],
            false => self.folded.text(),
        };
        if self.is_plain {
            self.next = self.next.max(self.from.saturating_sub(chunk));
        }
        while self.next < text.len() {
            let Some((number, found)) = words.find(text, self.next) else {
                break;
            };
            self.next = found.start + 1;
            let (start, end) = match self.is_plain {
                true => (chunk + found.start, chunk + found.end),
                false => (
                    self.folded.offset_in_body(found.start),
                    self.folded.offset_in_body(found.end),
                ),
            };
            let start = floor_boundary(self.body, start);
            if start >= self.from {
                let end = ceil_boundary(self.body, end.max(start + 1));
                return Some((number, start..end));
            }
        }
        None
    }

    /// Checks a candidate and returns whether to go on.
    fn take(
        &mut self,
        needle: &mut Needle,
        at: Range<usize>,
        each: &mut impl FnMut(Range<usize>) -> bool,
    ) -> bool {
        let body = self.body;
        needle.candidates += 1;
        if !needle.inside && inside_word(body.as_bytes(), at.clone(), needle.exact) {
            self.from = ceil_boundary(body, at.start + 1);
            return true;
        }
        let window = window(body, at.start, at.end, self.analysed);
        self.analysed = floor_boundary(body, window.end.saturating_sub(self.effort.overlap));
        self.from = self.analysed.max(at.end);
        needle.windows += 1;
        each(window)
    }
}

/// Returns whether a candidate is inside a longer word and is not a part of an identifier. This needs no analysis.
fn inside_word(body: &[u8], at: Range<usize>, exact: bool) -> bool {
    let same = |left: u8, right: u8| {
        left.is_ascii_lowercase() && right.is_ascii_lowercase()
            || left.is_ascii_digit() && right.is_ascii_digit()
    };
    let goes_on =
        |border: usize| border > 0 && border < body.len() && same(body[border - 1], body[border]);
    goes_on(at.start) || exact && goes_on(at.end)
}

/// Returns a window around a candidate, cut at spaces if there are some.
fn window(body: &str, start: usize, end: usize, analysed: usize) -> Range<usize> {
    let from = floor_boundary(body, start.saturating_sub(BEFORE)).max(analysed);
    let to = ceil_boundary(body, (start + AFTER).max(end + 1));
    let from = match body[from..start].find(char::is_whitespace) {
        Some(space) if from > analysed => from + space,
        _ => from,
    };
    let to = match body[end..to].rfind(char::is_whitespace) {
        Some(space) if space > 0 && to < body.len() => end + space,
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

/// What is searched for.
#[derive(Debug)]
enum Expression {
    Words(Words),
    Patterns(Box<Regex>),
}

/// Expressions that are kept from body to body, as building one takes longer than searching most bodies.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    built: Mutex<HashMap<Vec<usize>, Option<Arc<Expression>>>>,
}

/// The most expressions that are kept. Frequent needles are left out one by one, in any order.
const EXPRESSIONS: usize = 64;

impl Expressions {
    /// Returns the expression that matches needles of one query, which are all terms or all patterns; `None` if it
    /// would be too large.
    fn of(&self, needles: &[Needle]) -> Option<Arc<Expression>> {
        let key: Vec<usize> = needles.iter().map(|needle| needle.number).collect();
        // Other threads that need the same expression wait until it is built.
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = built.get(&key) {
            return known.clone();
        }
        let expression = expression(needles).map(Arc::new);
        if built.len() < EXPRESSIONS {
            built.insert(key, expression.clone());
        }
        expression
    }
}

fn expression(needles: &[Needle]) -> Option<Expression> {
    let patterns: Vec<&str> = needles
        .iter()
        .filter_map(|of| of.regex.as_deref())
        .collect();
    if !patterns.is_empty() {
        let regex = Regex::new_many(&patterns).ok()?;
        return Some(Expression::Patterns(Box::new(regex)));
    }
    let words = needles.iter().map(|needle| needle.text.as_str());
    Words::new(words).map(Expression::Words)
}
