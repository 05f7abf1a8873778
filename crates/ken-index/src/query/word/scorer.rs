//! Finds the documents of one segment that have some or all of several words, with their scores.
//!
//! Words are joined window by window. The maximum that a word can add to a score is known, since
//! its frequency is dampened. Once the best hits so far score higher than the most common words can
//! together, these words are only looked up in documents that the rarer ones found (H. Turtle and
//! J. Flood, "Query evaluation: strategies and optimizations", 1995: MaxScore).

use std::cmp::Ordering;
use std::sync::Arc;

use tantivy::fastfield::AliveBitSet;
use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

use super::list::List;
use super::window::{SIZE, Window, joined};
use super::worth::Worth;
use crate::limits::{Limits, reached};

/// What a search needs from a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Only the documents.
    Documents,
    /// The best documents by score; others may be missing.
    Best,
    /// All documents, and the best of them; the scores of the others may be too low.
    BestOfAll,
}

impl Goal {
    fn is_scored(self) -> bool {
        self != Self::Documents
    }
}

/// Scores that are summed in another order differ by rounding.
const SLACK: f32 = 1.0001;

/// A word, opened in a segment.
pub(super) struct OpenWord {
    lists: Vec<List>,
    /// Whether positions are needed to determine the documents of the word.
    has_spans: bool,
    worth: Worth,
    /// The maximum that the word can add to a score.
    most: f32,
    /// The inverse document frequency of the word.
    idf: f32,
    /// Whether the word only raises the score of documents that have all other words ([`super::extra`]).
    is_extra: bool,
}

impl OpenWord {
    pub(super) fn new(lists: Vec<List>, worth: Worth, idf: f32) -> Self {
        Self {
            has_spans: lists.len() <= MAX_LOOK_UP_LISTS && lists.iter().any(List::is_span),
            lists,
            worth,
            most: worth.most(),
            idf,
            is_extra: false,
        }
    }

    /// Returns a word that only raises scores.
    pub(super) fn extra(lists: Vec<List>, worth: Worth, idf: f32) -> Self {
        Self {
            is_extra: true,
            ..Self::new(lists, worth, idf)
        }
    }

    /// Dampens the amount of a word in a document: many occurrences count little more than a few.
    fn score(&self, amount: f32) -> f32 {
        self.worth.score(amount)
    }

    fn size_hint(&self) -> u32 {
        let sizes = self.lists.iter().map(List::size_hint);
        sizes.fold(0, u32::saturating_add)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let docs = self.lists.iter_mut().map(|list| list.seek(target));
        docs.min().unwrap_or(TERMINATED)
    }

    /// Returns the score that the word adds to a document; `None` if the document lacks the word.
    /// Does not compute a score that does not matter because the document cannot be among the best.
    fn look_up(&mut self, doc: DocId, goal: Goal, matters: impl Fn(f32) -> bool) -> Option<f32> {
        let counts = match goal {
            Goal::Documents => false,
            Goal::Best | Goal::BestOfAll => !self.has_spans || matters(self.at_most(doc) * SLACK),
        };
        match goal {
            _ if counts => self.amount(doc).map(|amount| self.score(amount)),
            Goal::Best => None,
            _ if self.is_extra => None,
            Goal::Documents | Goal::BestOfAll => self.has(doc).then_some(0.0),
        }
    }

    /// Returns the maximum that the word can add to the score of a document.
    fn at_most(&mut self, doc: DocId) -> f32 {
        let mut sum = 0.0;
        for list in &mut self.lists {
            if list.seek(doc) == doc {
                sum = joined(sum, list.at_most(), list.derived);
            }
        }
        self.score(sum)
    }

    /// Returns whether a document has the word; reads positions last.
    fn has(&mut self, doc: DocId) -> bool {
        let mut lists = self.lists.iter_mut();
        if lists.any(|list| !list.is_span() && list.seek(doc) == doc) {
            return true;
        }
        let mut spans = self.lists.iter_mut().filter(|list| list.is_span());
        spans.any(|span| span.seek(doc) == doc && span.is_there())
    }

    /// Returns the amount of the word in a document; `None` if the document lacks the word.
    fn amount(&mut self, doc: DocId) -> Option<f32> {
        let mut sum = None;
        for list in &mut self.lists {
            if list.seek(doc) == doc
                && let Some(amount) = list.amount()
            {
                sum = Some(joined(sum.unwrap_or(0.0), amount, list.derived));
            }
        }
        sum
    }

    fn fill(&mut self, window: &mut Window, start: DocId, scored: bool) {
        window.clear(start);
        self.lists
            .iter_mut()
            .for_each(|list| list.fill(window, scored));
    }
}

/// Looking up a document in a list takes about as long as adding this many documents to a window.
const LOOK_UP_COST: u32 = 16;

/// Words with more lists are never looked up document by document.
const MAX_LOOK_UP_LISTS: usize = 32;

/// Documents that have some or all words, and pass the filters.
pub(super) struct WordsScorer {
    /// The rarest word first if all are required, otherwise the most significant one.
    words: Vec<OpenWord>,
    /// The maximum score of the words from each index on.
    rest: Vec<f32>,
    all: bool,
    goal: Goal,
    filters: Vec<Box<dyn Scorer>>,
    excluded: Vec<Box<dyn Scorer>>,
    max_doc: DocId,
    /// Found documents and their scores.
    found: Window,
    scratch: Window,
    doc: DocId,
    limits: Option<Arc<Limits>>,
}

impl WordsScorer {
    pub(super) fn new(
        mut words: Vec<OpenWord>,
        all: bool,
        goal: Goal,
        filters: Vec<Box<dyn Scorer>>,
        excluded: Vec<Box<dyn Scorer>>,
        max_doc: DocId,
        limits: Option<Arc<Limits>>,
    ) -> Self {
        if all {
            // Ordered as in the whole index, so that equal documents of two segments have sums that
            // are equal to the last bit. Only words that the segment lacks precede all others. What only raises scores
            // comes last.
            let order = |of: &OpenWord| (of.is_extra, !of.lists.is_empty(), -of.idf);
            words.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal));
        } else if goal == Goal::Documents {
            // Documents that another word found need no positions.
            words.sort_by_key(|word| word.has_spans);
        } else {
            words.sort_by(|a, b| b.most.total_cmp(&a.most));
        }
        let mut rest = vec![0.0; words.len() + 1];
        for number in (0..words.len()).rev() {
            rest[number] = rest[number + 1] + words[number].most;
        }
        Self {
            words,
            rest,
            all,
            goal,
            filters,
            excluded,
            max_doc,
            found: Window::new(),
            scratch: Window::new(),
            doc: 0,
            limits,
        }
    }

    /// Advances to the first document.
    pub(super) fn start(mut self) -> Self {
        self.move_to(0);
        self
    }

    /// Calls `take` with documents above the threshold; `take` returns the new threshold.
    pub(super) fn best(mut self, threshold: Score, take: &mut dyn FnMut(DocId, Score) -> Score) {
        let mut threshold = threshold;
        let mut from = 0;
        while self.next_window(from, threshold) {
            self.found.retain(|doc, score| {
                if *score > threshold {
                    threshold = take(doc, *score);
                }
                true
            });
            from = self.found.end();
        }
    }

    /// Counts the documents; [`Goal::BestOfAll`] also calls `take` like [`WordsScorer::best`].
    pub(super) fn count(
        mut self,
        alive: Option<&AliveBitSet>,
        threshold: Score,
        take: &mut dyn FnMut(DocId, Score) -> Score,
    ) -> u32 {
        let scored = self.goal.is_scored();
        let (mut sum, mut from, mut threshold) = (0, 0, threshold);
        while self.next_window(from, threshold) {
            if let Some(alive) = alive {
                self.found.retain(|doc, _| alive.is_alive(doc));
            }
            sum += self.found.len();
            if scored {
                self.found.retain(|doc, score| {
                    if *score > threshold {
                        threshold = take(doc, *score);
                    }
                    true
                });
            }
            from = self.found.end();
        }
        sum
    }

    /// Finds the next window with documents, starting at `from`; returns false if there is none.
    /// Documents that cannot exceed the threshold may be missing. After a limit is reached there
    /// are no more windows.
    fn next_window(&mut self, mut from: DocId, threshold: Score) -> bool {
        loop {
            from = self.first_candidate(from, threshold);
            if from >= self.max_doc || reached(self.limits.as_deref()) {
                self.found.clear(self.max_doc);
                return false;
            }
            if self.all {
                self.fill_all(from, threshold);
            } else {
                self.fill_any(from, threshold);
            }
            if self.found.len() > 0 {
                return true;
            }
            from = self.found.end();
        }
    }

    /// Returns how many of the words can lift a document above the threshold without the others.
    fn n_essential(&self, threshold: Score) -> usize {
        match self.all {
            true => self.words.len().min(1),
            false => {
                let n = self.rest.iter().take_while(|rest| **rest > threshold);
                n.count().min(self.words.len())
            }
        }
    }

    fn first_candidate(&mut self, from: DocId, threshold: Score) -> DocId {
        let n = self.n_essential(threshold);
        let docs = self.words[..n].iter_mut().map(|word| word.seek(from));
        let mut first = docs.min().unwrap_or(TERMINATED);
        for filter in &mut self.filters {
            if first < self.max_doc {
                first = first.max(seek(filter.as_mut(), first));
            }
        }
        first
    }

    fn fill_any(&mut self, start: DocId, threshold: Score) {
        self.found.clear(start);
        let n = self.n_essential(threshold);
        let (goal, found) = (self.goal, &mut self.found);
        for word in &mut self.words[..n] {
            if word.has_spans {
                let others = self.rest[0] - word.most;
                let matters = |score: f32| score + others * SLACK > threshold;
                let mut doc = word.seek(start);
                while doc < found.end() {
                    if goal.is_scored() || !found.holds(doc) {
                        let score = word.look_up(doc, goal, matters);
                        score.into_iter().for_each(|score| found.add(doc, score));
                    }
                    doc = word.seek(doc + 1);
                }
                continue;
            }
            word.fill(&mut self.scratch, start, goal.is_scored());
            self.scratch.retain(|doc, amount| {
                found.add(doc, word.worth.score(*amount));
                true
            });
        }
        if goal.is_scored() {
            for number in n..self.words.len() {
                self.add(number, threshold);
            }
        }
        self.filter();
    }

    fn fill_all(&mut self, start: DocId, threshold: Score) {
        self.found.clear(start);
        let Some(first) = self.words.first_mut() else {
            return;
        };
        // Positions are read only for documents that pass the filters.
        let mut filtered = first.has_spans;
        if filtered {
            self.fill_with_spans(start, threshold);
        } else {
            first.fill(&mut self.found, start, self.goal.is_scored());
            if self.goal.is_scored() {
                self.found.retain(|_, amount| {
                    *amount = first.worth.score(*amount);
                    true
                });
            }
        }
        for number in 1..self.words.len() {
            if self.words[number].has_spans && !filtered {
                self.filter();
                filtered = true;
            }
            self.add(number, threshold);
        }
        if !filtered {
            self.filter();
        }
    }

    /// Fills the window with the documents that have the first word and pass the filters.
    fn fill_with_spans(&mut self, start: DocId, threshold: Score) {
        let (word, rest) = (&mut self.words[0], self.rest[1]);
        let matters = |score: f32| score + rest * SLACK > threshold;
        let mut doc = word.seek(start);
        while doc < self.found.end() {
            let mut filters = self.filters.iter_mut();
            let mut excluded = self.excluded.iter_mut();
            if filters.all(|filter| seek(filter.as_mut(), doc) == doc)
                && excluded.all(|part| seek(part.as_mut(), doc) != doc)
                && let Some(score) = word.look_up(doc, self.goal, matters)
            {
                self.found.add(doc, score);
            }
            doc = word.seek(doc + 1);
        }
    }

    /// Adds a word to the documents found so far. Removes documents that cannot become good enough
    /// with the remaining words, and, if all words are required, documents that lack this one.
    fn add(&mut self, number: usize, threshold: Score) {
        let (all, goal) = (self.all, self.goal);
        let (rest, after) = (self.rest[number], self.rest[number + 1]);
        if goal == Goal::Best {
            self.found.retain(|_, score| *score + rest > threshold);
        }
        let word = &mut self.words[number];
        let is_required = all && !word.is_extra;
        let n_found = u64::from(self.found.len());
        let share = SIZE as f64 / f64::from(self.max_doc.max(1));
        let in_window = f64::from(word.size_hint()) * share;
        let look_ups = n_found * word.lists.len() as u64 * u64::from(LOOK_UP_COST);
        let few = word.lists.len() <= MAX_LOOK_UP_LISTS && (look_ups as f64) < in_window;
        if word.has_spans || few {
            self.found.retain(|doc, score| {
                let so_far = *score + after * SLACK;
                match word.look_up(doc, goal, |more| so_far + more > threshold) {
                    Some(more) => {
                        *score += more;
                        true
                    }
                    None => !is_required,
                }
            });
            return;
        }
        let scratch = &mut self.scratch;
        word.fill(scratch, self.found.start(), goal.is_scored());
        self.found.retain(|doc, score| match scratch.holds(doc) {
            true => {
                *score += word.score(scratch.sum(doc));
                true
            }
            false => !is_required,
        });
    }

    fn filter(&mut self) {
        for filter in &mut self.filters {
            self.found
                .retain(|doc, _| seek(filter.as_mut(), doc) == doc);
        }
        for excluded in &mut self.excluded {
            self.found
                .retain(|doc, _| seek(excluded.as_mut(), doc) != doc);
        }
    }

    fn move_to(&mut self, target: DocId) -> DocId {
        let here = self.found.next(target);
        self.doc = match here {
            Some(doc) => doc,
            None if self.next_window(target.max(self.found.start()), Score::MIN) => {
                self.found.next(target).unwrap_or(TERMINATED)
            }
            None => TERMINATED,
        };
        self.doc
    }
}

fn seek(scorer: &mut dyn Scorer, target: DocId) -> DocId {
    match scorer.doc() {
        doc if doc >= target => doc,
        _ => scorer.seek(target),
    }
}

impl DocSet for WordsScorer {
    fn advance(&mut self) -> DocId {
        match self.doc {
            TERMINATED => TERMINATED,
            doc => self.move_to(doc + 1),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        match self.doc {
            doc if doc >= target => doc,
            _ if target >= self.max_doc => {
                self.doc = TERMINATED;
                TERMINATED
            }
            _ => self.move_to(target),
        }
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let mut sizes = self.words.iter().map(OpenWord::size_hint);
        match self.all {
            true => sizes.next().unwrap_or(0),
            false => sizes.fold(0, u32::saturating_add).min(self.max_doc),
        }
    }
}

impl Scorer for WordsScorer {
    fn score(&mut self) -> Score {
        self.found.sum(self.doc)
    }
}
