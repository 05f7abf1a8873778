//! The query for words: finds documents with some or all of them, ranked by BM25F.
//!
//! A word counts once, whatever the fields and forms in which a document has it. Its frequencies in
//! all fields and forms are summed, by the weights of field and form and the length of the field;
//! the sum is then dampened and multiplied by the significance of the word. A title therefore does
//! not count like a second word, and a rare ending of a common word does not count like a rare word
//! (S. Robertson, H. Zaragoza and M. Taylor, "Simple BM25 extension to multiple weighted fields",
//! 2004).

mod counts;
mod extra;
mod list;
mod proximity;
mod scorer;
mod scoring;
mod terms;
mod window;
mod worth;

use std::fmt;
use std::sync::{Arc, OnceLock};

use ken_core::{Field, Word};
use tantivy::index::SegmentReader;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocAddress, DocId, Score, Searcher, TantivyError};

use crate::collector::{Best, BestOfSegment};
pub use counts::Counts;
pub(crate) use proximity::Proximity;
use scorer::{Goal, OpenWord, WordsScorer};
pub(crate) use scoring::Scoring;
use terms::WordTerms;
use window::joined;
use worth::Worth;

use crate::parallel;

/// The share of the maximum that a document has for having a phrase at all.
const HALF: f32 = 0.5;

/// Documents that have some or all words, pass all filters, and match nothing excluded.
pub(crate) struct WordsQuery {
    /// The words.
    pub(super) words: Vec<Wanted>,
    pub(super) all: bool,
    pub(super) filters: Vec<Box<dyn Query>>,
    pub(super) excluded: Vec<Box<dyn Query>>,
    pub(super) scoring: Arc<Scoring>,
    /// The positions in `words` of the words in the order of the query.
    sequence: Vec<usize>,
    /// The words with their terms, once they were looked up.
    ready: OnceLock<Arc<LookedUp>>,
}

/// A word of a query.
#[derive(Clone)]
pub(super) struct Wanted {
    word: Word,
    /// How often the query contains it.
    times: f32,
    /// Whether it only raises scores where all words are required.
    is_extra: bool,
}

/// The words of a query with their terms.
struct LookedUp {
    words: Vec<WordTerms>,
    /// The words side by side, if documents that have them so rank higher.
    phrase: Option<WordTerms>,
}

impl WordsQuery {
    /// Creates a query without words.
    pub(super) fn new(scoring: &Arc<Scoring>, all: bool) -> Self {
        Self {
            words: Vec::new(),
            sequence: Vec::new(),
            all,
            filters: Vec::new(),
            excluded: Vec::new(),
            scoring: Arc::clone(scoring),
            ready: OnceLock::new(),
        }
    }

    /// Returns the words with their terms in the snapshot, which must always be the same one.
    fn terms(&self, searcher: &Searcher) -> tantivy::Result<&Arc<LookedUp>> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let words = self.words.iter();
        let words = words.map(|of| WordTerms::new(&of.word, of.times, &self.scoring, searcher));
        let words = words.collect::<tantivy::Result<Vec<_>>>()?;
        let phrase = self.phrase(&words);
        Ok(self
            .ready
            .get_or_init(|| Arc::new(LookedUp { words, phrase })))
    }

    fn phrase(&self, words: &[WordTerms]) -> Option<WordTerms> {
        let are_bare = words.iter().all(|word| word.word.field.is_none());
        if !are_bare || self.scoring.ranking.phrase <= 0.0 {
            return None;
        }
        let sequence: Option<Vec<_>> = self.sequence.iter().map(|at| words.get(*at)).collect();
        extra::phrase(&sequence?)
    }

    /// Adds a word, or increases its count.
    pub(super) fn add(&mut self, word: &Word, times: f32) {
        self.want(word, times, false);
    }

    /// Adds a word that documents need not have.
    pub(super) fn prefer(&mut self, word: &Word, times: f32) {
        self.want(word, times, true);
    }

    fn want(&mut self, word: &Word, times: f32, is_extra: bool) {
        let known = self.words.iter().position(|of| of.word == *word);
        self.sequence.push(known.unwrap_or(self.words.len()));
        match known {
            Some(at) => {
                self.words[at].times += times;
                self.words[at].is_extra &= is_extra;
            }
            None => self.words.push(Wanted {
                word: word.clone(),
                times,
                is_extra,
            }),
        }
    }

    /// Returns how many words the query has that say what it means. A function word, which weighs little, is hardly one.
    fn n_words(&self) -> f32 {
        let wanted = self.words.iter().filter(|of| !of.is_extra);
        wanted.map(|of| of.times.min(1.0)).sum()
    }

    /// Returns whether documents must have any of the words.
    pub(super) fn requires_any(&self) -> bool {
        self.words.iter().any(|of| !of.is_extra)
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
            // A limit may have ended the count before the hits that are found.
            true => counts.into_iter().sum::<usize>().max(found.len()),
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
            found: Arc::clone(self.terms(searcher)?),
            are_extra: self.words.iter().map(|of| of.is_extra).collect(),
            n_words: self.n_words(),
            all: self.requires_any() && (self.all || self.words.len() == 1),
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
            sequence: self.sequence.clone(),
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
        for Wanted {
            word,
            times,
            is_extra,
        } in &self.words
        {
            let word = self.scoring.printed(word);
            if *is_extra {
                f.write_str(" prefer")?;
            }
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
    found: Arc<LookedUp>,
    /// By word: [`Wanted::is_extra`].
    are_extra: Vec<bool>,
    /// [`WordsQuery::n_words`].
    n_words: f32,
    all: bool,
    filters: Vec<Box<dyn Weight>>,
    excluded: Vec<Box<dyn Weight>>,
    scoring: Arc<Scoring>,
    scored: bool,
}

impl WordsWeight {
    fn worth(&self, word: &WordTerms, boost: Score) -> Worth {
        let ranking = &self.scoring.ranking;
        let (literal, all) = (boost * word.literal_worth, boost * word.worth);
        Worth::new(literal, all, ranking.literal, self.n_words, ranking.k1)
    }

    /// Returns what the words side by side add: at least half of the maximum, as for a query of one word.
    fn worth_of_phrase(&self, phrase: &WordTerms, boost: Score) -> Worth {
        let ranking = &self.scoring.ranking;
        let most = boost * ranking.phrase * phrase.worth;
        Worth::new(most, most, HALF, 1.0, ranking.k1)
    }

    fn open(
        &self,
        reader: &SegmentReader,
        boost: Score,
        goal: Goal,
    ) -> tantivy::Result<WordsScorer> {
        let LookedUp { words: all, phrase } = &*self.found;
        let with_frequencies = goal != Goal::Documents;
        let mut words = Vec::with_capacity(all.len());
        for (word, is_extra) in all.iter().zip(&self.are_extra) {
            let is_extra = self.all && *is_extra;
            if is_extra && goal == Goal::Documents {
                continue;
            }
            let lists = word.open(reader, &self.scoring, with_frequencies, |_| true)?;
            let worth = self.worth(word, boost);
            if is_extra && !lists.is_empty() {
                words.push(OpenWord::extra(lists, worth, word.idf));
            } else if !is_extra && (self.all || !lists.is_empty()) {
                words.push(OpenWord::new(lists, worth, word.idf));
            }
        }
        if goal != Goal::Documents {
            let may_name = all.iter().zip(&self.are_extra);
            let may_name =
                may_name.filter(|(word, is_extra)| !**is_extra && word.word.field.is_none());
            for (word, _) in may_name {
                let lists = word.open(reader, &self.scoring, true, |field| {
                    extra::NAMES.contains(&field)
                })?;
                if !lists.is_empty() {
                    let worth = self.worth(word, boost).named(self.scoring.ranking.named);
                    words.push(OpenWord::extra(lists, worth, word.idf));
                }
            }
            if let Some(phrase) = phrase {
                let lists = phrase.open(reader, &self.scoring, true, |_| true)?;
                if !lists.is_empty() {
                    let worth = self.worth_of_phrase(phrase, boost);
                    words.push(OpenWord::extra(lists, worth, phrase.idf));
                }
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
        let LookedUp { words, phrase } = &*self.found;
        let ranking = &self.scoring.ranking;
        let mut parts = Vec::new();
        for word in words {
            let name = format!("word {}", self.scoring.printed(&word.word));
            let worth = self.worth(word, 1.0);
            parts.extend(self.part(reader, doc, (word, worth), &|_| true, name)?);
        }
        if parts.is_empty() {
            return Err(TantivyError::InvalidArgument(
                "it has none of the words".to_owned(),
            ));
        }
        for word in words.iter().filter(|word| word.word.field.is_none()) {
            let name = format!("{} names the document", self.scoring.printed(&word.word));
            let worth = self.worth(word, 1.0).named(ranking.named);
            let names = |field: Field| extra::NAMES.contains(&field);
            parts.extend(self.part(reader, doc, (word, worth), &names, name)?);
        }
        if let Some(phrase) = phrase {
            let worth = self.worth_of_phrase(phrase, 1.0);
            let name = "the words side by side".to_owned();
            parts.extend(self.part(reader, doc, (phrase, worth), &|_| true, name)?);
        }
        let total = parts.iter().map(Explanation::value).sum();
        let mut explanation = Explanation::new("words", total);
        parts
            .into_iter()
            .for_each(|part| explanation.add_detail(part));
        Ok(explanation)
    }
}

impl WordsWeight {
    /// Explains what a word adds to the score of a document; `None` if the document does not have it in the fields.
    fn part(
        &self,
        reader: &SegmentReader,
        doc: DocId,
        (word, worth): (&WordTerms, Worth),
        fields: &dyn Fn(Field) -> bool,
        name: String,
    ) -> tantivy::Result<Option<Explanation>> {
        let mut sum = 0.0;
        let mut fields_with_it = Vec::new();
        for mut list in word.open(reader, &self.scoring, true, fields)? {
            if list.seek(doc) != doc {
                continue;
            }
            let (field, form) = list.of;
            let span = &word.word.forms[form].span;
            let (times, length) = (list.frequency(), list.length());
            let Some(amount) = list.amount() else {
                continue;
            };
            let field = self.scoring.names.name(field);
            let shown = format!("{field}:{span} {times} times in {length} terms");
            fields_with_it.push(Explanation::new_with_string(shown, amount));
            sum = joined(sum, amount, list.derived);
        }
        if fields_with_it.is_empty() {
            return Ok(None);
        }
        let mut part = Explanation::new_with_string(name, worth.score(sum));
        part.add_detail(Explanation::new("how much it says at most", worth.most()));
        let name_of_sum = match sum < 0.0 {
            true => "how much the document has of other forms of it",
            false => "how much the document has of it",
        };
        let mut amount = Explanation::new(name_of_sum, sum.abs());
        fields_with_it
            .into_iter()
            .for_each(|field| amount.add_detail(field));
        part.add_detail(amount);
        Ok(Some(part))
    }
}
