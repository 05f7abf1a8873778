//! Finds a phrase in one segment: terms at fixed distances from each other.
//!
//! This module only finds phrases. A phrase that is a word of a ranked query is scored as a word,
//! in `query/word/list.rs`; a [`ken_core::Plan::Span`] is scored in `query/span/mod.rs`.
//!
//! Positions of a term are shifted so that those of one phrase are equal; the phrase is where all
//! terms have a position in common. Frequent terms have thousands of positions in a document, and
//! which of two lists has the next one is unpredictable, so no branch depends on it. Mostly the
//! positions of one list are marked, and those of the other looked up independently of each other:
//! in a merge of both, each step would wait for the previous one.

use tantivy::DocId;

use super::leaf::Leaf;
use super::{PositionRange, leap};

/// If a list is this many times longer than another, it is searched for the positions of the
/// shorter one.
const LONGER: usize = 4;

/// Number of positions that are compared together, which the compiler turns into a few
/// instructions.
const LANE: usize = 16;

/// Positions from here on are not marked: a mark takes a byte for each position before it.
const MAX_MARKED: u32 = 1 << 16;

pub(super) struct Phrase {
    /// Each term with its offset in the phrase, the rarest first.
    terms: Vec<(u32, Leaf)>,
    /// The offsets of the first and the last term.
    first: u32,
    last: u32,
    /// Positions that the terms so far share, as positions of the last term; kept to reuse their
    /// memory.
    common: Vec<u32>,
    next: Vec<u32>,
    marks: Marks,
}

impl Phrase {
    pub(super) fn new(mut terms: Vec<(u32, Leaf)>) -> Self {
        terms.sort_by_key(|(_, leaf)| leaf.n_documents);
        let offsets = || terms.iter().map(|(at, _)| *at);
        Self {
            first: offsets().min().unwrap_or(0),
            last: offsets().max().unwrap_or(0),
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

    /// Returns the maximum frequency of the phrase in a document, which `seek` must have returned.
    pub(super) fn at_most(&self, doc: DocId) -> u32 {
        let counts = self.terms.iter().map(|(_, leaf)| leaf.at_most(doc));
        counts.min().unwrap_or(0)
    }

    /// Adds the positions of the phrase in a document, in order; `seek` must have returned the
    /// document.
    pub(super) fn ranges(&mut self, doc: DocId, found: &mut Vec<PositionRange>) {
        self.join(doc, self.terms.len());
        let last = self.last;
        let range = |end: &u32| (end - last, end + 1);
        found.extend(self.common.iter().map(range));
    }

    /// Returns whether a document has the phrase; `seek` must have returned the document.
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

    /// Finds the positions that the first `n_terms` terms share.
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

    /// Reads the positions of a term, converted to those of the last term in the phrase.
    fn read(&mut self, doc: DocId, number: usize) {
        let (at, leaf) = &mut self.terms[number];
        leaf.positions(doc, self.last - *at, &mut self.next);
        // A phrase that begins with an arbitrary word does not begin before the text.
        if self.first > 0 {
            self.next.retain(|end| *end >= self.last);
        }
    }
}

/// The marks of positions. No position is marked between two uses.
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

    /// Keeps the positions of the second list that are also in the first, each once. Both lists are
    /// in order, and the first one ends before [`Self::end`].
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
            // Removed after one use: a word may occur twice at a position, as a part and as the end
            // of a divided word.
            let marked = self.marked.get_mut(at as usize).map(std::mem::take);
            n_kept += usize::from(marked.unwrap_or_default());
        }
        second.truncate(n_kept);
        first
            .iter()
            .for_each(|at| self.marked[*at as usize] = false);
    }
}

/// Keeps the elements of the shorter list that are also in the longer one, each once. Both are in
/// order; the longer list is not usable afterwards.
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

/// Returns whether two lists have an element in common; both are in order, the shorter first.
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

/// Returns whether an ordered list has a number, and the list without elements far before it.
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

    /// Generates an ordered list, in which a position may occur twice.
    fn list(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0_u32..300, length).prop_map(|mut list| {
            list.sort_unstable();
            list
        })
    }

    proptest! {
        #[test]
        fn lists_are_joined_like_sets(pairs in prop::collection::vec((list(0..12), list(0..200)), 1..4)) {
            // The marks serve one pair after the other.
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
