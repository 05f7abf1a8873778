//! A phrase in one segment: terms at fixed distances from each other.
//!
//! This module finds phrases. Where a phrase is one of the words of a ranked query, it is scored as a word, in
//! `query/word/list.rs`; a [`ken_core::Plan::Span`] is scored in `query/span/mod.rs`.
//!
//! Positions of a term are moved so that those of one phrase are equal; what all terms share is
//! where it stands. Frequent terms have thousands of positions in a document, and which of two lists
//! has the next one is as good as random: no branch asks for it. Mostly the positions of one are marked, and
//! those of the other looked up, each by itself: to go through both in order, each step waits for the one before.

use tantivy::DocId;

use super::leaf::Leaf;
use super::{PositionRange, leap};

/// A list this many times longer than another is searched for the places of that one.
const LONGER: usize = 4;

/// Positions that are compared together, which the compiler makes a few instructions of.
const LANE: usize = 16;

/// Positions from here on are not marked: a mark takes a byte for each position before it.
const MAX_MARKED: u32 = 1 << 16;

pub(super) struct Phrase {
    /// With the place in the phrase of each, the rarest first.
    terms: Vec<(u32, Leaf)>,
    /// The first place of a term, and the last.
    first: u32,
    last: u32,
    /// Places of the terms so far, as positions of the last; kept for their memory.
    common: Vec<u32>,
    next: Vec<u32>,
    marks: Marks,
}

impl Phrase {
    pub(super) fn new(mut terms: Vec<(u32, Leaf)>) -> Self {
        terms.sort_by_key(|(_, leaf)| leaf.n_documents);
        let places = || terms.iter().map(|(at, _)| *at);
        Self {
            first: places().min().unwrap_or(0),
            last: places().max().unwrap_or(0),
            terms,
            common: Vec::new(),
            next: Vec::new(),
            marks: Marks::until(MAX_MARKED),
        }
    }

    pub(super) fn leaves(&mut self, each: &mut dyn FnMut(&mut Leaf)) {
        self.terms.iter_mut().for_each(|(_, leaf)| each(leaf));
    }

    /// Returns the first document from `target` on that has all terms.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        leap(&mut self.terms, target, |(_, leaf), doc| leaf.seek(doc))
    }

    pub(super) fn size_hint(&self) -> u32 {
        self.terms.first().map_or(0, |(_, leaf)| leaf.n_documents)
    }

    /// Returns how often a document may have the phrase at most; `seek` must have returned it.
    pub(super) fn at_most(&self, doc: DocId) -> u32 {
        let counts = self.terms.iter().map(|(_, leaf)| leaf.at_most(doc));
        counts.min().unwrap_or(0)
    }

    /// Adds where a document has the phrase, in order; `seek` must have returned it.
    pub(super) fn places(&mut self, doc: DocId, found: &mut Vec<PositionRange>) {
        self.join(doc, self.terms.len());
        let last = self.last;
        let place = |end: &u32| (end - last, end + 1);
        found.extend(self.common.iter().map(place));
    }

    /// Returns whether a document has the phrase; `seek` must have returned it.
    pub(super) fn is_there(&mut self, doc: DocId) -> bool {
        let before = self.terms.len().saturating_sub(1).max(1);
        self.join(doc, before);
        if self.common.is_empty() || before == self.terms.len() {
            return !self.common.is_empty();
        }
        self.read(doc, before);
        if self.common.len() <= self.next.len() {
            shares(&self.common, &self.next)
        } else {
            shares(&self.next, &self.common)
        }
    }

    /// Finds the places that the first `n_terms` terms share.
    fn join(&mut self, doc: DocId, n_terms: usize) {
        self.common.clear();
        for number in 0..n_terms.min(self.terms.len()) {
            self.read(doc, number);
            if self.next.len() < self.common.len() || number == 0 {
                std::mem::swap(&mut self.common, &mut self.next);
            }
            if number > 0 {
                intersect(&mut self.common, &mut self.next, &mut self.marks);
            }
            if self.common.is_empty() {
                return;
            }
        }
    }

    /// Reads the positions of a term, each as that of the last term were it in the phrase.
    fn read(&mut self, doc: DocId, number: usize) {
        let (at, leaf) = &mut self.terms[number];
        leaf.positions(doc, self.last - *at, &mut self.next);
        // A phrase that begins with any word does not begin before the text.
        if self.first > 0 {
            self.next.retain(|end| *end >= self.last);
        }
    }
}

/// Whether each position is marked. No position is marked between two uses.
struct Marks {
    marked: Vec<bool>,
    /// Only positions before this one may be marked.
    end: u32,
}

impl Marks {
    fn until(end: u32) -> Self {
        Self {
            marked: Vec::new(),
            end,
        }
    }

    /// Keeps those positions of the second list that the first one has too, each once. Both lists are in order, and the
    /// first one ends before [`Self::end`].
    fn intersect(&mut self, first: &[u32], second: &mut Vec<u32>) {
        let end = first.last().map_or(0, |last| *last as usize + 1);
        if self.marked.len() < end {
            self.marked.resize(end, false);
        }
        first.iter().for_each(|at| self.marked[*at as usize] = true);
        let mut n_kept = 0;
        for number in 0..second.len() {
            let at = second[number];
            second[n_kept] = at;
            // Once: a word may stand twice at a place, as a part and as the end of a divided one.
            let marked = self.marked.get_mut(at as usize).map(std::mem::take);
            n_kept += usize::from(marked.unwrap_or_default());
        }
        second.truncate(n_kept);
        first
            .iter()
            .for_each(|at| self.marked[*at as usize] = false);
    }
}

/// Keeps of the shorter list what the longer one has too, which is of no use then, each place once; both in order.
fn intersect(kept: &mut Vec<u32>, longer: &mut Vec<u32>, marks: &mut Marks) {
    let mut n_kept = 0;
    if longer.len() > LONGER * kept.len() {
        let mut rest = &longer[..];
        for number in 0..kept.len() {
            let wanted = kept[number];
            let has;
            (has, rest) = look_up(rest, wanted);
            kept[n_kept] = wanted;
            n_kept += usize::from(has);
        }
    } else if kept.last().is_none_or(|last| *last < marks.end) {
        marks.intersect(kept, longer);
        return std::mem::swap(kept, longer);
    } else {
        let (mut left, mut right) = (0, 0);
        while left < kept.len() && right < longer.len() {
            let (a, b) = (kept[left], longer[right]);
            kept[n_kept] = a;
            n_kept += usize::from(a == b);
            left += usize::from(a <= b);
            right += usize::from(b <= a);
        }
    }
    kept.truncate(n_kept);
    kept.dedup();
}

/// Returns whether two lists have anything in common; both in order, the shorter first.
fn shares(shorter: &[u32], longer: &[u32]) -> bool {
    if longer.len() > LONGER * shorter.len() {
        let mut rest = longer;
        return shorter.iter().any(|wanted| {
            let has;
            (has, rest) = look_up(rest, *wanted);
            has
        });
    }
    let (mut left, mut right) = (0, 0);
    while left < shorter.len() && right < longer.len() {
        let (a, b) = (shorter[left], longer[right]);
        if a == b {
            return true;
        }
        left += usize::from(a < b);
        right += usize::from(b < a);
    }
    false
}

/// Returns whether a list in order has a number, and the list without what is far before it.
fn look_up(mut list: &[u32], wanted: u32) -> (bool, &[u32]) {
    while let Some(end) = list.get(LANE - 1)
        && *end < wanted
    {
        list = &list[LANE..];
    }
    let has = match list.first_chunk::<LANE>() {
        Some(lane) => lane.iter().fold(false, |has, at| has | (*at == wanted)),
        None => list.contains(&wanted),
    };
    (has, list)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// In order; a place may be there twice.
    fn list(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0_u32..300, length).prop_map(|mut list| {
            list.sort_unstable();
            list
        })
    }

    proptest! {
        #[test]
        fn lists_are_joined_like_sets(pairs in prop::collection::vec((list(0..12), list(0..200)), 1..4)) {
            // Marks serve one pair after the other.
            let mut marks = Marks::until(200);
            for (a, b) in pairs {
                let (shorter, longer) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
                let set = |list: &[u32]| -> BTreeSet<u32> { list.iter().copied().collect() };
                let both: Vec<u32> = set(&a).intersection(&set(&b)).copied().collect();
                let mut kept = shorter.clone();
                intersect(&mut kept, &mut longer.clone(), &mut marks);
                prop_assert_eq!(&kept, &both);
                prop_assert_eq!(shares(shorter, longer), !both.is_empty());
            }
        }
    }
}
