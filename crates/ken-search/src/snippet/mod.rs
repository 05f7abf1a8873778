//! Finds the passages of a document that show best why it was found.
//!
//! A body may have 32 MiB and a page shows ten hits, so bodies are not analysed as a whole. A scan of the bytes finds
//! candidates ([`scan`]), analysis confirms them in a window around each ([`matcher`]), and the stretch with the most
//! different terms close together becomes the fragment ([`cut`]).

mod cut;
mod folded;
mod matcher;
mod scan;
mod words;

use std::ops::Range;

use crate::plan::Analyze;

use cut::LineCounter;
use matcher::{Hit, Hits};
pub use matcher::{TermMatcher, TermTest, matchers};
use scan::{Effort, Expressions};

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The approximate length of a fragment in characters.
    pub length: usize,
    /// The most fragments of a body.
    pub count: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            length: 200,
            count: 1,
        }
    }
}

/// A passage of a body, fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The text with white space folded and without control characters.
    pub text: String,
    /// The matches: ranges of bytes of `text`, in order and without overlap.
    pub highlights: Vec<Range<usize>>,
    /// Whether the page has more text before the fragment.
    pub cut_start: bool,
    /// Whether the page has more text after the fragment.
    pub cut_end: bool,
    /// The bytes of the body that the fragment shows.
    pub at: Range<usize>,
    /// The page of the first match, from 1, if the body has pages.
    pub page: Option<usize>,
    /// The line of the first match in the body, from 1.
    pub line: usize,
}

/// Finds fragments in one body after the other.
#[derive(Debug)]
pub struct Finder {
    matchers: Vec<TermMatcher>,
    analyze: Analyze,
    expressions: Expressions,
}

impl Finder {
    /// Returns the finder for these matchers.
    pub fn new(matchers: Vec<TermMatcher>, analyze: Analyze) -> Self {
        Self {
            matchers,
            analyze,
            expressions: Expressions::default(),
        }
    }

    /// Returns the best fragments of a body, best first, or its beginning if nothing matches.
    ///
    /// An empty body has no fragment. The cost is about one scan of the body for the terms that are rare in it, and
    /// the analysis of some tens of kilobytes at most.
    pub fn fragments(&self, body: &str, settings: Settings) -> Vec<Fragment> {
        let mut hits = self.hits(body, Effort::SNIPPET, &|| false);
        hits.sort_by_key(|hit| (hit.bytes.start, hit.bytes.end, hit.matcher));
        hits.dedup_by(|a, b| a.bytes == b.bytes && a.matcher == b.matcher);
        let mut counter = LineCounter::new(body);
        let mut fragments = Vec::new();
        while fragments.len() < settings.count
            && let Some(span) = best_span(&hits, &self.matchers, settings.length)
        {
            let fragment = cut::fragment(&mut counter, &hits, span, settings.length);
            hits.retain(|hit| {
                hit.bytes.end <= fragment.at.start || hit.bytes.start >= fragment.at.end
            });
            fragments.push(fragment);
        }
        if fragments.is_empty() && settings.count > 0 {
            fragments.extend(cut::beginning(&mut counter, settings.length));
        }
        fragments
    }

    /// Calls `each` with a fragment for every match in a body, in order; matches close together share a fragment.
    /// `each` stops by returning false. Once `is_over` returns true, no further match is searched for, and `each` gets
    /// those that were found.
    ///
    /// The cost is the analysis of all windows with candidates, which is the whole body where terms are frequent.
    pub fn all(
        &self,
        body: &str,
        length: usize,
        is_over: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Fragment) -> bool,
    ) {
        let mut hits = self.hits(body, Effort::ALL, is_over);
        hits.sort_by_key(|hit| (hit.bytes.start, hit.bytes.end, hit.matcher));
        hits.dedup_by(|a, b| a.bytes == b.bytes && a.matcher == b.matcher);
        let mut counter = LineCounter::new(body);
        let mut rest = hits.as_slice();
        while let Some(first) = rest.first() {
            let start = first.bytes.start;
            let near = |hit: &&Hit| hit.bytes.end <= start + length;
            let n_near = rest.iter().take_while(near).count().max(1);
            let end = rest[..n_near].iter().map(|hit| hit.bytes.end).max();
            let span = start..end.unwrap_or(start);
            let fragment = cut::fragment(&mut counter, &rest[..n_near], span, length);
            // The fragment ends with its page: matches on the next page get a fragment of their own.
            let n_shown = rest[..n_near]
                .iter()
                .filter(|hit| hit.bytes.start < fragment.at.end);
            rest = &rest[n_shown.count().max(1)..];
            if !each(fragment) {
                return;
            }
        }
    }

    /// Returns the bytes of all matches in a body, in order and without overlap. Once `is_over` returns true, no further
    /// match is searched for.
    ///
    /// The cost is that of [`Finder::all`].
    pub fn ranges(&self, body: &str, is_over: &dyn Fn() -> bool) -> Vec<Range<usize>> {
        let mut hits = self.hits(body, Effort::ALL, is_over);
        hits.sort_by_key(|hit| (hit.bytes.start, hit.bytes.end));
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for hit in hits {
            match ranges.last_mut() {
                Some(last) if hit.bytes.start < last.end => last.end = last.end.max(hit.bytes.end),
                _ => ranges.push(hit.bytes),
            }
        }
        ranges
    }

    fn hits(&self, body: &str, effort: Effort, is_over: &dyn Fn() -> bool) -> Vec<Hit> {
        let hits = Hits::new(&self.matchers, self.analyze);
        scan::hits(body, &hits, &self.expressions, effort, is_over)
    }
}

/// Returns the stretch of at most `length` bytes whose matches are worth most.
///
/// Different terms count most, and phrases count double; then come repetitions, then closeness. Among equals the first
/// wins. Two pointers move over the matches, so the cost is linear.
fn best_span(hits: &[Hit], matchers: &[TermMatcher], length: usize) -> Option<Range<usize>> {
    let mut counts = vec![0_usize; matchers.len()];
    let mut worth = 0;
    let mut best: Option<(usize, Range<usize>)> = None;
    let mut next = 0;
    let mut end = 0;
    for (first, hit) in hits.iter().enumerate() {
        let start = hit.bytes.start;
        // A match longer than a fragment still makes one.
        while next < hits.len() && (next == first || hits[next].bytes.end <= start + length) {
            worth += gain(&mut counts, hits[next].matcher, matchers);
            end = end.max(hits[next].bytes.end);
            next += 1;
        }
        let repeats = (next - first).min(8);
        let closeness = length.saturating_sub(end - start) * 10 / length.max(1);
        let score = worth * 100 + repeats * 10 + closeness;
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, start..end));
        }
        counts[hit.matcher] -= 1;
        if counts[hit.matcher] == 0 {
            worth -= matchers[hit.matcher].worth();
        }
    }
    best.map(|(_, span)| span)
}

fn gain(counts: &mut [usize], matcher: usize, matchers: &[TermMatcher]) -> usize {
    counts[matcher] += 1;
    if counts[matcher] == 1 {
        matchers[matcher].worth()
    } else {
        0
    }
}
