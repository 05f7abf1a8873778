//! Documents of one segment that have some or all of several words, with their scores.
//!
//! Words are joined window by window. What a word can add at most is known, as its frequency is
//! dampened: once the best hits so far are better than what the commonest words can add together,
//! those words are only looked up where the rarer ones found something (H. Turtle and J. Flood,
//! "Query evaluation: strategies and optimizations", 1995: MaxScore).

use tantivy::query::Scorer;
use tantivy::{DocId, DocSet, Score, TERMINATED};

use super::list::List;
use super::window::{SIZE, Window};

/// A word, open in a segment.
pub(super) struct OpenWord {
    pub(super) lists: Vec<List>,
    /// The most that it can add to a score.
    pub(super) most: f32,
    pub(super) k1: f32,
}

impl OpenWord {
    /// Dampens how much a document has of a word: many places count little more than a few.
    fn score(&self, amount: f32) -> f32 {
        self.most * amount / (self.k1 + amount)
    }

    fn size_hint(&self) -> u32 {
        let sizes = self.lists.iter().map(List::size_hint);
        sizes.fold(0, u32::saturating_add)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let docs = self.lists.iter_mut().map(|list| list.seek(target));
        docs.min().unwrap_or(TERMINATED)
    }

    /// Returns how much a document has; `None` if it lacks the word.
    fn amount(&mut self, doc: DocId) -> Option<f32> {
        let mut sum = None;
        for list in &mut self.lists {
            if list.seek(doc) == doc {
                sum = Some(sum.unwrap_or(0.0) + list.amount());
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
    scored: bool,
    filters: Vec<Box<dyn Scorer>>,
    excluded: Vec<Box<dyn Scorer>>,
    max_doc: DocId,
    /// Found documents and their scores.
    found: Window,
    scratch: Window,
    doc: DocId,
}

impl WordsScorer {
    pub(super) fn new(
        mut words: Vec<OpenWord>,
        all: bool,
        scored: bool,
        filters: Vec<Box<dyn Scorer>>,
        excluded: Vec<Box<dyn Scorer>>,
        max_doc: DocId,
    ) -> Self {
        if all {
            words.sort_by_key(OpenWord::size_hint);
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
            scored,
            filters,
            excluded,
            max_doc,
            found: Window::new(),
            scratch: Window::new(),
            doc: 0,
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

    /// Counts the documents that `counts` holds for.
    pub(super) fn count(mut self, counts: Option<&dyn Fn(DocId) -> bool>) -> u32 {
        let (mut sum, mut from) = (0, 0);
        while self.next_window(from, Score::MIN) {
            match counts {
                None => sum += self.found.len(),
                Some(counts) => self.found.retain(|doc, _| {
                    sum += u32::from(counts(doc));
                    true
                }),
            }
            from = self.found.end();
        }
        sum
    }

    /// Finds the next window that has documents, from one on; false if there is none. Documents
    /// that cannot be better than the threshold may be missing.
    fn next_window(&mut self, mut from: DocId, threshold: Score) -> bool {
        loop {
            from = self.first_candidate(from, threshold);
            if from >= self.max_doc {
                self.found.clear(from.min(self.max_doc));
                return false;
            }
            if self.all {
                self.fill_all(from, threshold);
            } else {
                self.fill_any(from, threshold);
            }
            self.filter();
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
        for word in &mut self.words[..n] {
            word.fill(&mut self.scratch, start, self.scored);
            let found = &mut self.found;
            self.scratch.retain(|doc, amount| {
                found.add(doc, word.most * *amount / (word.k1 + *amount));
                true
            });
        }
        if self.scored {
            for number in n..self.words.len() {
                self.add(number, threshold);
            }
        }
    }

    fn fill_all(&mut self, start: DocId, threshold: Score) {
        self.found.clear(start);
        let Some(first) = self.words.first_mut() else {
            return;
        };
        first.fill(&mut self.found, start, self.scored);
        if self.scored {
            self.found.retain(|_, amount| {
                *amount = first.most * *amount / (first.k1 + *amount);
                true
            });
        }
        for number in 1..self.words.len() {
            self.add(number, threshold);
        }
    }

    /// Adds a word to the documents that were found; removes those that are not good enough even
    /// with all that is to come, and if all words are wanted those that lack it.
    fn add(&mut self, number: usize, threshold: Score) {
        let (all, scored) = (self.all, self.scored);
        let rest = self.rest[number];
        if scored {
            self.found.retain(|_, score| *score + rest > threshold);
        }
        let word = &mut self.words[number];
        let n_found = u64::from(self.found.len());
        let share = SIZE as f64 / f64::from(self.max_doc.max(1));
        let in_window = f64::from(word.size_hint()) * share;
        let look_ups = n_found * word.lists.len() as u64 * u64::from(LOOK_UP_COST);
        if word.lists.len() <= MAX_LOOK_UP_LISTS && (look_ups as f64) < in_window {
            self.found.retain(|doc, score| match word.amount(doc) {
                Some(amount) => {
                    *score += word.score(amount);
                    true
                }
                None => !all,
            });
            return;
        }
        let scratch = &mut self.scratch;
        word.fill(scratch, self.found.start(), scored);
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
