//! The query for words: finds documents with some or all of them, ranked by BM25F.
//!
//! A word counts once, whatever the fields and forms in which a document has it. Its frequencies in
//! all fields and forms are summed, by the weights of field and form and the length of the field;
//! the sum is then dampened and multiplied by the significance of the word. A title therefore does
//! not count like a second word, and a rare ending of a common word does not count like a rare word
//! (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted fields",
//! 2004).

mod list;
mod proximity;
mod scorer;
mod scoring;
mod terms;
mod window;
mod worth;

use std::fmt;
use std::sync::{Arc, OnceLock};

use ken_core::Word;
use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocAddress, DocId, Score, Searcher, TantivyError};

use crate::collector::{Best, BestOfSegment};
pub(crate) use proximity::Proximity;
use scorer::{Goal, OpenWord, WordsScorer};
pub(crate) use scoring::Scoring;
use terms::WordTerms;
use window::joined;
use worth::Worth;

use crate::parallel;

/// Documents that have some or all words, pass all filters, and match nothing excluded.
pub(crate) struct WordsQuery {
    /// The words, and how often the query contains each.
    pub(super) words: Vec<(Word, f32)>,
    pub(super) all: bool,
    pub(super) filters: Vec<Box<dyn Query>>,
    pub(super) excluded: Vec<Box<dyn Query>>,
    pub(super) scoring: Arc<Scoring>,
    /// The words with their terms, once they were looked up.
    ready: OnceLock<Arc<[WordTerms]>>,
}

impl WordsQuery {
    /// Creates a query without words.
    pub(super) fn new(scoring: &Arc<Scoring>, all: bool) -> Self {
        Self {
            words: Vec::new(),
            all,
            filters: Vec::new(),
            excluded: Vec::new(),
            scoring: Arc::clone(scoring),
            ready: OnceLock::new(),
        }
    }

    /// Returns the words with their terms in the snapshot, which must always be the same one.
    fn terms(&self, searcher: &Searcher) -> tantivy::Result<&Arc<[WordTerms]>> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let words = self.words.iter();
        let words =
            words.map(|(word, times)| WordTerms::new(word, *times, &self.scoring, searcher));
        let words = words.collect::<tantivy::Result<Vec<_>>>()?;
        Ok(self.ready.get_or_init(|| words.into()))
    }

    /// Adds a word, or increases its count.
    pub(super) fn add(&mut self, word: &Word, times: f32) {
        match self.words.iter_mut().find(|(other, _)| other == word) {
            Some((_, so_far)) => *so_far += times,
            None => self.words.push((word.clone(), times)),
        }
    }

    /// Returns the number of documents that the query finds, and the best of them; without
    /// counting, the number of those returned.
    pub(crate) fn best(
        &self,
        searcher: &Searcher,
        limit: usize,
        counted: bool,
    ) -> tantivy::Result<(usize, Vec<(Score, DocAddress)>)> {
        let weight = self.open(searcher, true)?;
        let best = Best::new(limit);
        let counts = parallel::over(searcher.segment_readers(), |number, segment| {
            let mut top = best.of_segment(number, segment)?;
            let count = weight.best(segment, &mut top, counted)?;
            top.finish();
            Ok(count as usize)
        })?;
        let found = best.finish()?;
        let total = match counted {
            true => counts.into_iter().sum(),
            false => found.len(),
        };
        Ok((total, found))
    }

    fn open(&self, searcher: &Searcher, scored: bool) -> tantivy::Result<WordsWeight> {
        let inner = |queries: &[Box<dyn Query>]| {
            let off = EnableScoring::disabled_from_searcher(searcher);
            let weights = queries.iter().map(|query| query.weight(off));
            weights.collect::<tantivy::Result<Vec<_>>>()
        };
        Ok(WordsWeight {
            words: Arc::clone(self.terms(searcher)?),
            all: self.all || self.words.len() == 1,
            filters: inner(&self.filters)?,
            excluded: inner(&self.excluded)?,
            scoring: Arc::clone(&self.scoring),
            scored,
        })
    }
}

impl Clone for WordsQuery {
    fn clone(&self) -> Self {
        let copies = |of: &[Box<dyn Query>]| of.iter().map(|query| query.box_clone()).collect();
        Self {
            words: self.words.clone(),
            all: self.all,
            filters: copies(&self.filters),
            excluded: copies(&self.excluded),
            scoring: Arc::clone(&self.scoring),
            ready: self.ready.clone(),
        }
    }
}

impl fmt::Debug for WordsQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({}", if self.all { "all of" } else { "any of" })?;
        for (word, times) in &self.words {
            let word = self.scoring.printed(word);
            match *times {
                1.0 => write!(f, " {word}")?,
                times => write!(f, " {times}*{word}")?,
            }
        }
        for filter in &self.filters {
            write!(f, " filter {filter:?}")?;
        }
        for excluded in &self.excluded {
            write!(f, " not {excluded:?}")?;
        }
        f.write_str(")")
    }
}

impl Query for WordsQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let Some(searcher) = scoring.searcher() else {
            return Err(TantivyError::InvalidArgument("no snapshot".to_owned()));
        };
        Ok(Box::new(self.open(searcher, scoring.is_scoring_enabled())?))
    }
}

struct WordsWeight {
    words: Arc<[WordTerms]>,
    all: bool,
    filters: Vec<Box<dyn Weight>>,
    excluded: Vec<Box<dyn Weight>>,
    scoring: Arc<Scoring>,
    scored: bool,
}

impl WordsWeight {
    fn worth(&self, word: &WordTerms, boost: Score) -> Worth {
        let ranking = &self.scoring.ranking;
        let n_words = self.words.len();
        let (literal, all) = (boost * word.literal_worth, boost * word.worth);
        Worth::new(literal, all, ranking.literal, n_words, ranking.k1)
    }

    fn open(
        &self,
        reader: &SegmentReader,
        boost: Score,
        goal: Goal,
    ) -> tantivy::Result<WordsScorer> {
        let mut words = Vec::with_capacity(self.words.len());
        for word in &*self.words {
            let with_frequencies = goal != Goal::Documents;
            let lists = word.open(reader, &self.scoring, with_frequencies)?;
            if self.all || !lists.is_empty() {
                words.push(OpenWord::new(lists, self.worth(word, boost), word.idf));
            }
        }
        let inner = |weights: &[Box<dyn Weight>]| {
            let scorers = weights.iter().map(|weight| weight.scorer(reader, 1.0));
            scorers.collect::<tantivy::Result<Vec<_>>>()
        };
        Ok(WordsScorer::new(
            words,
            self.all,
            goal,
            inner(&self.filters)?,
            inner(&self.excluded)?,
            reader.max_doc(),
            self.scoring.limits.clone(),
        ))
    }

    /// Counts the documents of a segment, if required, and adds the better ones to the best.
    fn best(
        &self,
        reader: &SegmentReader,
        top: &mut BestOfSegment<'_>,
        counted: bool,
    ) -> tantivy::Result<u32> {
        let alive = reader.alive_bitset();
        let threshold = top.threshold();
        let mut take = |doc, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                top.push(score, doc);
            }
            top.threshold()
        };
        if self.all && counted {
            let scorer = self.open(reader, 1.0, Goal::BestOfAll)?;
            return Ok(scorer.count(alive, threshold, &mut take));
        }
        // If one word is enough, most documents cannot be among the best and need no score, so
        // counting them in a second pass is faster.
        self.open(reader, 1.0, Goal::Best)?
            .best(threshold, &mut take);
        match counted {
            true => self.count(reader),
            false => Ok(0),
        }
    }
}

impl Weight for WordsWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let goal = match self.scored {
            true => Goal::Best,
            false => Goal::Documents,
        };
        Ok(Box::new(self.open(reader, boost, goal)?.start()))
    }

    fn for_each_pruning(
        &self,
        threshold: Score,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(DocId, Score) -> Score,
    ) -> tantivy::Result<()> {
        let scorer = self.open(reader, 1.0, Goal::Best)?;
        scorer.best(threshold, callback);
        Ok(())
    }

    fn count(&self, reader: &SegmentReader) -> tantivy::Result<u32> {
        let scorer = self.open(reader, 1.0, Goal::Documents)?;
        let alive = reader.alive_bitset();
        Ok(scorer.count(alive, Score::MIN, &mut |_, _| Score::MIN))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut total = 0.0;
        let mut parts = Vec::new();
        for word in &*self.words {
            let mut sum = 0.0;
            let mut details = Vec::new();
            for mut list in word.open(reader, &self.scoring, true)? {
                if list.seek(doc) != doc {
                    continue;
                }
                let (field, form) = list.of;
                let span = &word.word.forms[form].span;
                let (times, length) = (list.frequency(), list.length());
                let Some(amount) = list.amount() else {
                    continue;
                };
                let name = self.scoring.names.name(field);
                let text = format!("{name}:{span} {times} times in {length} terms");
                details.push(Explanation::new_with_string(text, amount));
                sum = joined(sum, amount, list.derived);
            }
            if details.is_empty() {
                continue;
            }
            let worth = self.worth(word, 1.0);
            let score = worth.score(sum);
            total += score;
            let mut part = Explanation::new_with_string(
                format!("word {}", self.scoring.printed(&word.word)),
                score,
            );
            part.add_detail(Explanation::new("how much it says at most", worth.most()));
            let name_of_sum = match sum < 0.0 {
                true => "how much the document has of other forms of it",
                false => "how much the document has of it",
            };
            let mut amount = Explanation::new(name_of_sum, sum.abs());
            details
                .into_iter()
                .for_each(|detail| amount.add_detail(detail));
            part.add_detail(amount);
            parts.push(part);
        }
        if parts.is_empty() {
            return Err(TantivyError::InvalidArgument(
                "it has none of the words".to_owned(),
            ));
        }
        let mut explanation = Explanation::new("words", total);
        parts
            .into_iter()
            .for_each(|part| explanation.add_detail(part));
        Ok(explanation)
    }
}
