//! What a query looks for in a text, and where a stretch of text has it.
//!
//! The test is made on terms, by the analysis of the index, so that what is highlighted is what
//! was found: `cafe` in `Café`, `header` in `parseHTTPHeader`.

use std::collections::HashMap;
use std::ops::Range;

use ken_core::{Field, Plan};

use crate::plan::Analyze;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermMatcher {
    /// A term.
    Exact(String),
    /// Terms that start so.
    Prefix(String),
    /// Terms at these relative positions.
    Phrase {
        /// The terms, with their positions from the first on.
        terms: Vec<(u32, String)>,
        /// Whether the last term stands for all terms that start so.
        prefix_last: bool,
    },
}

impl TermMatcher {
    /// Returns how much a match counts against those of other terms.
    pub(super) fn worth(&self) -> usize {
        match self {
            Self::Exact(_) | Self::Prefix(_) => 1,
            Self::Phrase { .. } => 2,
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
    let matcher = match plan {
        // The parts of one identifier.
        Plan::Phrase { field, terms, .. }
            if *field == wanted && terms.iter().all(|(position, _)| *position == 0) =>
        {
            let parts = terms
                .iter()
                .map(|(_, term)| TermMatcher::Exact(term.clone()));
            return add(parts, found);
        }
        Plan::Term { field, term } if *field == wanted => TermMatcher::Exact(term.clone()),
        Plan::Prefix { field, prefix } if *field == wanted && !prefix.is_empty() => {
            TermMatcher::Prefix(prefix.clone())
        }
        Plan::Phrase {
            field,
            terms,
            prefix_last,
        } if *field == wanted => TermMatcher::Phrase {
            terms: terms.clone(),
            prefix_last: *prefix_last,
        },
        Plan::And(parts) | Plan::Or(parts) => {
            parts.iter().for_each(|part| collect(part, wanted, found));
            return;
        }
        Plan::Weight(_, part) => return collect(part, wanted, found),
        _ => return,
    };
    add([matcher], found);
}

fn add(matchers: impl IntoIterator<Item = TermMatcher>, found: &mut Vec<TermMatcher>) {
    for matcher in matchers {
        if !found.contains(&matcher) {
            found.push(matcher);
        }
    }
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
    analyze: Analyze,
    atoms: Vec<Atom<'a>>,
}

/// One term of a matcher.
struct Atom<'a> {
    matcher: usize,
    /// Its position in the phrase.
    position: u32,
    term: &'a str,
    prefix: bool,
}

/// Where the terms of phrases stand: matcher, position in the phrase and position in the text.
type Places = HashMap<(usize, u32, u32), Range<usize>>;

impl<'a> Hits<'a> {
    pub(super) fn new(matchers: &'a [TermMatcher], analyze: Analyze) -> Self {
        let mut atoms = Vec::new();
        for (matcher, wanted) in matchers.iter().enumerate() {
            let mut push = |position, term, prefix| {
                atoms.push(Atom {
                    matcher,
                    position,
                    term,
                    prefix,
                });
            };
            match wanted {
                TermMatcher::Exact(term) => push(0, term.as_str(), false),
                TermMatcher::Prefix(term) => push(0, term.as_str(), true),
                TermMatcher::Phrase { terms, prefix_last } => {
                    for (number, (position, term)) in terms.iter().enumerate() {
                        let last = number + 1 == terms.len();
                        push(*position, term.as_str(), last && *prefix_last);
                    }
                }
            }
        }
        Self {
            matchers,
            analyze,
            atoms,
        }
    }

    /// Adds the hits in a window of the body.
    pub(super) fn find(&self, body: &str, window: Range<usize>, hits: &mut Vec<Hit>) {
        let mut places = Places::new();
        (self.analyze)(
            Field::Body,
            &body[window.clone()],
            &mut |term, position, bytes| {
                for atom in self.atoms.iter().filter(|atom| atom.matches(term)) {
                    let bytes = window.start + bytes.start..window.start + bytes.end;
                    let matcher = atom.matcher;
                    if matches!(self.matchers[matcher], TermMatcher::Phrase { .. }) {
                        places.insert((matcher, atom.position, position), bytes);
                    } else {
                        hits.push(Hit { matcher, bytes });
                    }
                }
            },
        );
        if !places.is_empty() {
            self.phrases(&places, hits);
        }
    }

    fn phrases(&self, places: &Places, hits: &mut Vec<Hit>) {
        for (matcher, wanted) in self.matchers.iter().enumerate() {
            let TermMatcher::Phrase { terms, .. } = wanted else {
                continue;
            };
            let Some((first, _)) = terms.first() else {
                continue;
            };
            let mut starts: Vec<u32> = places
                .keys()
                .filter(|(m, position, _)| *m == matcher && position == first)
                .map(|(_, _, at)| *at)
                .collect();
            starts.sort_unstable();
            for start in starts {
                let place = |(position, _): &(u32, String)| {
                    let at = start.checked_add(position.checked_sub(*first)?)?;
                    places.get(&(matcher, *position, at))
                };
                let found: Option<Vec<&Range<usize>>> = terms.iter().map(place).collect();
                if let Some(found) = found {
                    let from = found.iter().map(|bytes| bytes.start).min().unwrap_or(0);
                    let to = found.iter().map(|bytes| bytes.end).max().unwrap_or(from);
                    let bytes = from..to;
                    hits.push(Hit { matcher, bytes });
                }
            }
        }
    }
}

impl Atom<'_> {
    fn matches(&self, term: &str) -> bool {
        if self.prefix {
            term.starts_with(self.term)
        } else {
            term == self.term
        }
    }
}
