//! What a query looks for in a text, and where a stretch of text has it.
//!
//! The test is made on terms, by the analysis of the index, so that what is highlighted is what
//! was found: `cafe` in `Café`, `header` in `parseHTTPHeader`.

use std::ops::Range;

use ken_core::{Bound, Field, Pattern, Plan, Span, Written};
use regex_automata::meta::Regex;

use crate::plan::Analyze;
use strsim::osa_distance;

/// What is looked for.
#[derive(Clone, Debug)]
pub enum TermMatcher {
    /// A term.
    Term(TermTest),
    /// Terms at these relative positions.
    Phrase(Vec<(u32, TermTest)>),
    /// All of these, with so many other terms between them at most.
    Near {
        /// What each of them may be.
        parts: Vec<TermTest>,
        /// Other terms between them.
        slop: u32,
    },
}

/// Which terms are meant.
#[derive(Clone, Debug)]
pub enum TermTest {
    /// This one.
    Exact(String),
    /// Those that start so.
    Prefix(String),
    /// Those between these, with all that start as the last; no last if it is empty.
    Range(String, String),
    /// Those that the expression matches.
    Regex(Box<Regex>, String),
    /// Those that are close to this one.
    Fuzzy(String, u8),
    /// Those that are meant by one of these.
    Any(Vec<Self>),
}

impl TermTest {
    /// Returns `None` for what cannot be tested; nothing is then highlighted.
    fn new(pattern: &Pattern) -> Option<Self> {
        Some(match pattern {
            Pattern::Term(term) | Pattern::Stem(term) => Self::Exact(term.clone()),
            Pattern::Written(Written { terms, .. }) => Self::new(terms)?,
            Pattern::Any(terms) => Self::Any(terms.iter().cloned().map(Self::Exact).collect()),
            Pattern::Border | Pattern::Address(_) | Pattern::Folder(_) => return None,
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
            Pattern::Regex(regex) => Self::Regex(Box::new(Regex::new(regex).ok()?), regex.clone()),
            Pattern::Fuzzy(term, distance) => Self::Fuzzy(term.clone(), *distance),
        })
    }

    /// Returns whether a single character is asked for that is not of ASCII.
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
    /// Returns how much a match counts against those of other terms.
    pub(super) fn worth(&self) -> usize {
        match self {
            Self::Term(_) => 1,
            Self::Phrase(_) | Self::Near { .. } => 2,
        }
    }

    /// Calls `each` with the tests of all terms.
    pub(super) fn tests<'a>(&'a self, each: &mut dyn FnMut(&'a TermTest)) {
        match self {
            Self::Term(test) => each(test),
            Self::Phrase(terms) => terms.iter().for_each(|(_, test)| each(test)),
            Self::Near { parts, .. } => parts.iter().for_each(each),
        }
    }
}

/// Returns what a plan looks for in a field: not what it excludes, nor what only filters.
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
        Plan::Weight(_, part) => collect(part, wanted, found),
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

/// A place that matches.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    /// Number of the matcher.
    pub(super) matcher: usize,
    /// The place in the body.
    pub(super) bytes: Range<usize>,
}

/// Finds hits in a stretch of text.
pub(super) struct Hits<'a> {
    pub(super) matchers: &'a [TermMatcher],
    pub(super) analyze: Analyze,
    shapes: Shapes,
}

/// What terms look like that may be meant: most others need no comparison.
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

/// Where one test of a matcher holds: position in the text, and bytes.
type Place = (u32, Range<usize>);

impl<'a> Hits<'a> {
    pub(super) fn new(matchers: &'a [TermMatcher], analyze: Analyze) -> Self {
        Self {
            matchers,
            analyze,
            shapes: Shapes::new(matchers),
        }
    }

    /// Adds the hits in a window of the body.
    pub(super) fn find(&self, body: &str, window: Range<usize>, hits: &mut Vec<Hit>) {
        // For each matcher of several terms, for each of them, where it holds.
        let mut places: Vec<Vec<Vec<Place>>> = self.matchers.iter().map(room).collect();
        (self.analyze)(
            Field::Body,
            &body[window.clone()],
            &mut |term, position, bytes| {
                if !self.shapes.have(term) {
                    return;
                }
                let place = |test: &TermTest| {
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
                                bytes: place(test),
                            });
                        }
                        continue;
                    }
                    let mut slot = 0;
                    matcher.tests(&mut |test| {
                        if test.matches(term) {
                            places[number][slot].push((position, place(test)));
                        }
                        slot += 1;
                    });
                }
            },
        );
        for (number, (matcher, places)) in self.matchers.iter().zip(&places).enumerate() {
            let mut add = |bytes| {
                hits.push(Hit {
                    matcher: number,
                    bytes,
                });
            };
            match matcher {
                TermMatcher::Term(_) => {}
                TermMatcher::Phrase(terms) => phrases(terms, places, &mut add),
                TermMatcher::Near { slop, .. } => together(places, *slop, &mut add),
            }
        }
    }
}

/// Returns where the first character of a match stands, if the match is a pair of a script without
/// blanks: the index has a character as the start of those. Else the match.
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

/// Returns room for the places of several terms.
fn room(matcher: &TermMatcher) -> Vec<Vec<Place>> {
    let mut room = Vec::new();
    if !matches!(matcher, TermMatcher::Term(_)) {
        matcher.tests(&mut |_| room.push(Vec::new()));
    }
    room
}

fn phrases(terms: &[(u32, TermTest)], places: &[Vec<Place>], add: &mut dyn FnMut(Range<usize>)) {
    let first = terms.first().map_or(0, |(at, _)| *at);
    let starts = places.first().map_or(&[][..], Vec::as_slice);
    for (start, _) in starts {
        let found = terms.iter().zip(places).map(|((at, _), places)| {
            let at = start.checked_add(at.checked_sub(first)?)?;
            let place = places.partition_point(|(position, _)| *position < at);
            places.get(place).filter(|(position, _)| *position == at)
        });
        if let Some(found) = found.collect::<Option<Vec<_>>>() {
            add(cover(&found));
        }
    }
}

/// Finds the shortest stretches that hold a place of each list, in any order.
fn together(places: &[Vec<Place>], slop: u32, add: &mut dyn FnMut(Range<usize>)) {
    let most = slop as usize + places.len();
    let mut next = vec![0; places.len()];
    loop {
        let here = places.iter().zip(&next).map(|(list, next)| list.get(*next));
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

fn cover(places: &[&Place]) -> Range<usize> {
    let from = places.iter().map(|(_, bytes)| bytes.start).min();
    let to = places.iter().map(|(_, bytes)| bytes.end).max();
    from.unwrap_or(0)..to.unwrap_or(0)
}
