//! What a query searches for in a text, and where a stretch of text has it.
//!
//! Terms are compared as the analysis of the index makes them, so the highlights are what the search found: `cafe` in
//! `Café`, `header` in `parseHTTPHeader`.

use std::ops::Range;

use ken_core::{Bound, Field, Pattern, Plan, Span, Written};
use regex_automata::meta::Regex;

use crate::plan::Analyze;
use strsim::osa_distance;

/// What is searched for.
#[derive(Clone, Debug)]
pub enum TermMatcher {
    /// A term.
    Term(TermTest),
    /// Terms at these relative positions.
    Phrase(Vec<(u32, TermTest)>),
    /// All of these, with at most `slop` other terms between them.
    Near {
        /// The tests of the terms.
        parts: Vec<TermTest>,
        /// The most other terms between them.
        slop: u32,
    },
}

/// Which terms match.
#[derive(Clone, Debug)]
pub enum TermTest {
    /// This term.
    Exact(String),
    /// Terms that start with this.
    Prefix(String),
    /// Terms between these two, and those that start with the last. An empty last term means no end.
    Range(String, String),
    /// Terms that the expression matches.
    Regex(Box<Regex>, String),
    /// Terms at this distance or less.
    Fuzzy(String, u8),
    /// Terms that match one of these.
    Any(Vec<Self>),
}

impl TermTest {
    /// Returns the test of a pattern; `None` if it cannot be tested, and then nothing is highlighted.
    fn new(pattern: &Pattern) -> Option<Self> {
        Some(match pattern {
            Pattern::Term(term) | Pattern::Stem(term) => Self::Exact(term.clone()),
            Pattern::Written(Written { terms, .. }) => Self::new(terms)?,
            Pattern::Any(terms) => Self::Any(terms.iter().cloned().map(Self::Exact).collect()),
            Pattern::Border | Pattern::Address(_) | Pattern::Whole(_) | Pattern::Folder(_) => {
                return None;
            }
            Pattern::Prefix(prefix) if prefix.is_empty() => return None,
            Pattern::Prefix(prefix) => Self::Prefix(prefix.clone()),
            Pattern::Range(from, to) => {
                let text = |end: &Bound<String>| match end {
                    Bound::Included(text) | Bound::Excluded(text) => text.clone(),
                    Bound::Unbounded => String::new(),
                };
                Self::Range(text(from), text(to))
            }
            Pattern::Glob(glob) => {
                let regex = glob.to_regex();
                Self::Regex(Box::new(Regex::new(&regex).ok()?), regex)
            }
            Pattern::Name(glob) => {
                let regex = glob.to_plain_regex();
                Self::Regex(Box::new(Regex::new(&regex).ok()?), regex)
            }
            Pattern::Regex(regex) => Self::Regex(Box::new(Regex::new(regex).ok()?), regex.clone()),
            Pattern::Fuzzy(term, distance) => Self::Fuzzy(term.clone(), *distance),
        })
    }

    /// Returns whether the test is for a single character outside ASCII.
    fn is_character(&self) -> bool {
        matches!(self, Self::Prefix(prefix) if !prefix.is_ascii() && prefix.chars().nth(1).is_none())
    }

    fn matches(&self, term: &str) -> bool {
        match self {
            Self::Exact(wanted) => term == wanted,
            Self::Prefix(prefix) => term.starts_with(prefix.as_str()),
            Self::Range(from, to) => {
                term >= from.as_str() && (term <= to.as_str() || term.starts_with(to.as_str()))
            }
            Self::Regex(regex, _) => regex.is_match(term),
            Self::Fuzzy(wanted, most) => {
                let most = usize::from(*most);
                term.len().abs_diff(wanted.len()) <= 4 * most && osa_distance(term, wanted) <= most
            }
            Self::Any(tests) => tests.iter().any(|test| test.matches(term)),
        }
    }
}

impl PartialEq for TermTest {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b))
            | (Self::Prefix(a), Self::Prefix(b))
            | (Self::Regex(_, a), Self::Regex(_, b)) => a == b,
            (Self::Fuzzy(a, n), Self::Fuzzy(b, m)) => a == b && n == m,
            (Self::Range(a, x), Self::Range(b, y)) => a == b && x == y,
            (Self::Any(a), Self::Any(b)) => a == b,
            _ => false,
        }
    }
}

impl PartialEq for TermMatcher {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Term(a), Self::Term(b)) => a == b,
            (Self::Phrase(a), Self::Phrase(b)) => a == b,
            (Self::Near { parts: a, slop: x }, Self::Near { parts: b, slop: y }) => {
                a == b && x == y
            }
            _ => false,
        }
    }
}

impl TermMatcher {
    /// Returns how much a match is worth compared with matches of other terms.
    pub(super) fn worth(&self) -> usize {
        match self {
            Self::Term(_) => 1,
            Self::Phrase(_) | Self::Near { .. } => 2,
        }
    }

    /// Calls `each` with the test of every term.
    pub(super) fn tests<'a>(&'a self, each: &mut dyn FnMut(&'a TermTest)) {
        match self {
            Self::Term(test) => each(test),
            Self::Phrase(terms) => terms.iter().for_each(|(_, test)| each(test)),
            Self::Near { parts, .. } => parts.iter().for_each(each),
        }
    }
}

/// Returns what a plan searches for in a field, without what it excludes or only filters.
pub fn matchers(plan: &Plan, field: Field) -> Vec<TermMatcher> {
    let mut found = Vec::new();
    collect(plan, field, &mut found);
    found
}

fn collect(plan: &Plan, wanted: Field, found: &mut Vec<TermMatcher>) {
    match plan {
        Plan::Word(word) if word.looks_in(wanted) => {
            word.forms.iter().for_each(|form| spans(&form.span, found));
        }
        Plan::Match { field, pattern } if *field == wanted => {
            add(TermTest::new(pattern).map(TermMatcher::Term), found);
        }
        Plan::Span { field, span } if *field == wanted => spans(span, found),
        Plan::And(parts) | Plan::Or(parts) => {
            parts.iter().for_each(|part| collect(part, wanted, found));
        }
        Plan::Xor(left, right) => {
            collect(left, wanted, found);
            collect(right, wanted, found);
        }
        Plan::Weight(_, part) | Plan::Prefer(part) => collect(part, wanted, found),
        _ => {}
    }
}

fn spans(span: &Span, found: &mut Vec<TermMatcher>) {
    let single = |pattern| TermTest::new(pattern).map(TermMatcher::Term);
    match span {
        Span::Match(pattern) => add(single(pattern), found),
        Span::Any(parts) => parts.iter().for_each(|part| spans(part, found)),
        // The parts of one identifier.
        Span::Phrase(terms) if terms.iter().all(|(position, _)| *position == 0) => {
            terms
                .iter()
                .for_each(|(_, pattern)| add(single(pattern), found));
        }
        Span::Phrase(terms) => {
            let tests = terms
                .iter()
                .filter(|(_, pattern)| *pattern != Pattern::Border)
                .map(|(at, pattern)| Some((*at, TermTest::new(pattern)?)));
            add(tests.collect::<Option<_>>().map(TermMatcher::Phrase), found);
        }
        Span::Near { parts, slop, .. } => {
            let border = Span::Match(Pattern::Border);
            let parts = parts.iter().filter(|part| **part != border);
            let tests = parts.map(|part| {
                let mut tests = Vec::new();
                part.patterns(&mut |pattern| tests.extend(TermTest::new(pattern)));
                (!tests.is_empty()).then_some(TermTest::Any(tests))
            });
            let near = tests.collect::<Option<_>>();
            add(
                near.map(|parts| TermMatcher::Near { parts, slop: *slop }),
                found,
            );
        }
    }
}

fn add(matcher: Option<TermMatcher>, found: &mut Vec<TermMatcher>) {
    found.extend(matcher.filter(|matcher| !found.contains(matcher)));
}

/// A match.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// The number of its matcher.
    pub(super) matcher: usize,
    /// Its bytes in the body.
    pub(super) bytes: Range<usize>,
}

/// Finds matches in a stretch of text.
pub(super) struct Hits<'a> {
    pub(super) matchers: &'a [TermMatcher],
    pub(super) analyze: Analyze,
    shapes: Shapes,
}

/// Hashes of the terms that may match, so that most other terms need no comparison.
struct Shapes(Box<[bool; 256]>);

impl Shapes {
    fn new(matchers: &[TermMatcher]) -> Self {
        let mut shapes = Self(Box::new([false; 256]));
        for matcher in matchers {
            matcher.tests(&mut |test| shapes.add(test));
        }
        shapes
    }

    fn add(&mut self, test: &TermTest) {
        match test {
            TermTest::Exact(term) => self.0[usize::from(Self::of(term))] = true,
            TermTest::Any(tests) => tests.iter().for_each(|test| self.add(test)),
            _ => self.0.fill(true),
        }
    }

    fn of(term: &str) -> u8 {
        let first = term.bytes().next().unwrap_or(0);
        first ^ (term.len() as u8).wrapping_mul(37)
    }

    fn have(&self, term: &str) -> bool {
        self.0[usize::from(Self::of(term))]
    }
}

/// A match of one test: position in the text, and bytes.
type TermMatch = (u32, Range<usize>);

impl<'a> Hits<'a> {
    pub(super) fn new(matchers: &'a [TermMatcher], analyze: Analyze) -> Self {
        Self {
            matchers,
            analyze,
            shapes: Shapes::new(matchers),
        }
    }

    /// Adds the matches in a window of the body.
    pub(super) fn find(&self, body: &str, window: Range<usize>, hits: &mut Vec<Hit>) {
        // The matches of each term of each matcher of several terms.
        let mut lists: Vec<Vec<Vec<TermMatch>>> = self.matchers.iter().map(room).collect();
        (self.analyze)(
            Field::Body,
            &body[window.clone()],
            &mut |term, position, bytes| {
                if !self.shapes.have(term) {
                    return;
                }
                let range = |test: &TermTest| {
                    let bytes = window.start + bytes.start..window.start + bytes.end;
                    match test.is_character() {
                        true => first_character(body, bytes, self.analyze),
                        false => bytes,
                    }
                };
                for (number, matcher) in self.matchers.iter().enumerate() {
                    if let TermMatcher::Term(test) = matcher {
                        if test.matches(term) {
                            hits.push(Hit {
                                matcher: number,
                                bytes: range(test),
                            });
                        }
                        continue;
                    }
                    let mut slot = 0;
                    matcher.tests(&mut |test| {
                        if test.matches(term) {
                            lists[number][slot].push((position, range(test)));
                        }
                        slot += 1;
                    });
                }
            },
        );
        for (number, (matcher, lists)) in self.matchers.iter().zip(&lists).enumerate() {
            let mut add = |bytes| {
                hits.push(Hit {
                    matcher: number,
                    bytes,
                });
            };
            match matcher {
                TermMatcher::Term(_) => {}
                TermMatcher::Phrase(terms) => phrases(terms, lists, &mut add),
                TermMatcher::Near { slop, .. } => together(lists, *slop, &mut add),
            }
        }
    }
}

/// Returns the bytes of the first character, if the match is a pair in a script without spaces; else the whole match.
/// The index has such a character only as the start of pairs.
fn first_character(body: &str, bytes: Range<usize>, analyze: Analyze) -> Range<usize> {
    let text = &body[bytes.clone()];
    let mut second = None;
    analyze(Field::Body, text, &mut |_, position, of| {
        if position == 1 && second.is_none() {
            second = Some(of.start);
        }
    });
    let first = text[..second.unwrap_or(text.len())].trim_end();
    bytes.start..bytes.start + first.len()
}

/// Returns empty lists for the matches of several terms.
fn room(matcher: &TermMatcher) -> Vec<Vec<TermMatch>> {
    let mut room = Vec::new();
    if !matches!(matcher, TermMatcher::Term(_)) {
        matcher.tests(&mut |_| room.push(Vec::new()));
    }
    room
}

fn phrases(terms: &[(u32, TermTest)], lists: &[Vec<TermMatch>], add: &mut dyn FnMut(Range<usize>)) {
    let first = terms.first().map_or(0, |(at, _)| *at);
    let starts = lists.first().map_or(&[][..], Vec::as_slice);
    for (start, _) in starts {
        let found = terms.iter().zip(lists).map(|((at, _), list)| {
            let at = start.checked_add(at.checked_sub(first)?)?;
            let index = list.partition_point(|(position, _)| *position < at);
            list.get(index).filter(|(position, _)| *position == at)
        });
        if let Some(found) = found.collect::<Option<Vec<_>>>() {
            add(cover(&found));
        }
    }
}

/// Finds the shortest stretches that hold a match from each list, in any order.
fn together(lists: &[Vec<TermMatch>], slop: u32, add: &mut dyn FnMut(Range<usize>)) {
    let most = slop as usize + lists.len();
    let mut next = vec![0; lists.len()];
    loop {
        let here = lists.iter().zip(&next).map(|(list, next)| list.get(*next));
        let Some(here) = here.collect::<Option<Vec<_>>>() else {
            return;
        };
        let positions = || here.iter().map(|(position, _)| *position);
        let (start, end) = (positions().min(), positions().max());
        let (Some(start), Some(end)) = (start, end) else {
            return;
        };
        if ((end - start) as usize) < most {
            add(cover(&here));
        }
        let first = here.iter().position(|(position, _)| *position == start);
        next[first.unwrap_or(0)] += 1;
    }
}

fn cover(matches: &[&TermMatch]) -> Range<usize> {
    let from = matches.iter().map(|(_, bytes)| bytes.start).min();
    let to = matches.iter().map(|(_, bytes)| bytes.end).max();
    from.unwrap_or(0)..to.unwrap_or(0)
}
