//! Documents of one segment that have some or all of several words, with their scores.
//!
//! Words are joined window by window. What a word can add at most is known, as its frequency is
//! dampened: once the best hits so far are better than what the commonest words can add together,
//! those words are only looked up where the rarer ones found something (H. Turtle and J. Flood,
//! "Query evaluation: strategies and optimizations", 1995: MaxScore).

use std::cmp::Ordering;
use std::sync::Arc;

use tantivy::fastfield::AliveBitSet;
use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

use super::list::List;
use super::window::{SIZE, Window};
use crate::limits::{Limits, reached};

/// What is wanted of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Which documents there are.
    Documents,
    /// The best by their scores: what cannot be among them may be missing.
    Best,
    /// All documents, and the best: the scores of others may be too low.
    BestOfAll,
}

impl Goal {
    fn is_scored(self) -> bool {
        self != Self::Documents
    }
}

/// Scores that are added up in another order differ by rounding.
const SLACK: f32 = 1.0001;

/// What a word adds to a score at most.
#[derive(Clone, Copy)]
pub(super) struct Worth {
    pub(super) own: f32,
    pub(super) derived: f32,
    pub(super) share: f32,
}

pub(super) struct Share { pub(super) lambda: f32, pub(super) mu: f32 }
impl Share {
    pub(super) fn new(n: usize) -> Self {
        let v = |name: &str, d: f32| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
        match n {
            1 => Self { lambda: v("L1", 0.5), mu: v("M1", 0.5) },
            _ => Self { lambda: v("LN", 0.0), mu: v("MN", 1.0) },
        }
    }
}

impl Worth {
    fn score(self, amount: f32, k1: f32) -> f32 {
        if amount < 0.0 {
            return self.derived * amount / (amount - k1);
        }
        self.own * (self.share + (1.0 - self.share) * amount / (k1 + amount))
    }
}

fn joined(sum: f32, amount: f32, derived: bool) -> f32 {
    match derived {
        true if sum <= 0.0 => sum - amount,
        _ => sum + amount,
    }
}

/// A word, open in a segment.
pub(super) struct OpenWord {
    lists: Vec<List>,
    /// Whether positions must be read to tell which documents have it.
    has_spans: bool,
    /// The most that it can add to a score.
    most: f32,
    worth: Worth,
    k1: f32,
    /// How rare it is in the index.
    idf: f32,
}

impl OpenWord {
    pub(super) fn new(lists: Vec<List>, worth: Worth, k1: f32, idf: f32) -> Self {
        Self {
            has_spans: lists.len() <= MAX_LOOK_UP_LISTS && lists.iter().any(List::is_span),
            lists,
            most: worth.own.max(worth.derived),
            worth,
            k1,
            idf,
        }
    }

    /// Dampens how much a document has of a word: many places count little more than a few.
    fn score(&self, amount: f32) -> f32 {
        self.worth.score(amount, self.k1)
    }

    fn size_hint(&self) -> u32 {
        let sizes = self.lists.iter().map(List::size_hint);
        sizes.fold(0, u32::saturating_add)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let docs = self.lists.iter_mut().map(|list| list.seek(target));
        docs.min().unwrap_or(TERMINATED)
    }

    /// Returns what the word adds to the score of a document; `None` if the document lacks it. What
    /// does not matter, as the document cannot be among the best with so much, is not counted up.
    fn look_up(&mut self, doc: DocId, goal: Goal, matters: impl Fn(f32) -> bool) -> Option<f32> {
        let counts = match goal {
            Goal::Documents => false,
            Goal::Best | Goal::BestOfAll => !self.has_spans || matters(self.at_most(doc) * SLACK),
        };
        match goal {
            _ if counts => self.amount(doc).map(|amount| self.score(amount)),
            Goal::Best => None,
            Goal::Documents | Goal::BestOfAll => self.has(doc).then_some(0.0),
        }
    }

    /// Returns the most that the word can add to the score of a document.
    fn at_most(&mut self, doc: DocId) -> f32 {
        let mut sum = 0.0;
        for list in &mut self.lists {
            if list.seek(doc) == doc {
                sum = joined(sum, list.at_most(), list.derived);
            }
        }
        self.score(sum)
    }

    /// Returns whether a document has the word; positions are read last.
    fn has(&mut self, doc: DocId) -> bool {
        let mut lists = self.lists.iter_mut();
        if lists.any(|list| !list.is_span() && list.seek(doc) == doc) {
            return true;
        }
        let mut spans = self.lists.iter_mut().filter(|list| list.is_span());
        spans.any(|span| span.seek(doc) == doc && span.is_there())
    }

    /// Returns how much a document has; `None` if it lacks the word.
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

/// Looking a document up in a list takes about as long as adding so many of the list to a window.
const LOOK_UP_COST: u32 = 16;

/// Words whose lists are more than these are never looked up document by document.
const MAX_LOOK_UP_LISTS: usize = 32;

/// Documents that have some or all words, and pass the filters.
pub(super) struct WordsScorer {
    /// If all are wanted, the rarest first, else the one that says most.
    words: Vec<OpenWord>,
    /// What the words from this one on can add together.
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
            // In the order of the whole index, so that equal documents of two segments have sums that
            // are equal to the last bit. Only what the segment lacks comes before all else.
            let order = |of: &OpenWord| (!of.lists.is_empty(), -of.idf);
            words.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal));
        } else if goal == Goal::Documents {
            // What another word found needs no positions.
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

    /// Goes to the first document.
    pub(super) fn start(mut self) -> Self {
        self.move_to(0);
        self
    }

    /// Calls `take` with documents better than the threshold, which it returns anew.
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

    /// Finds the next window that has documents, from one on; false if there is none. Documents
    /// that cannot be better than the threshold may be missing. There is none once limits are reached.
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

    /// Returns how many of the words can alone bring a document above the threshold.
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
                found.add(doc, word.worth.score(*amount, word.k1));
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
        // Positions are read for what passes the filters.
        let mut filtered = first.has_spans;
        if filtered {
            self.fill_with_spans(start, threshold);
        } else {
            first.fill(&mut self.found, start, self.goal.is_scored());
            if self.goal.is_scored() {
                self.found.retain(|_, amount| {
                    *amount = first.worth.score(*amount, first.k1);
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

    /// Fills the window with what has the first word and passes the filters.
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

    /// Adds a word to the documents that were found; removes those that are not good enough even
    /// with all that is to come, and if all words are wanted those that lack it.
    fn add(&mut self, number: usize, threshold: Score) {
        let (all, goal) = (self.all, self.goal);
        let (rest, after) = (self.rest[number], self.rest[number + 1]);
        if goal == Goal::Best {
            self.found.retain(|_, score| *score + rest > threshold);
        }
        let word = &mut self.words[number];
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
                    None => !all,
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
            false => !all,
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
