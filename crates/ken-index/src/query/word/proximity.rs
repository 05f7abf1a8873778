//! Scores how close together words are in a document, for the best documents of a query.
//!
//! Where two different words are within a few positions of each other, the pair counts like a word.
//! Its occurrences are weighted by the square of their distance and by the length of the field,
//! dampened, and multiplied by the weight of the less significant word (S. Büttcher, C. Clarke and
//! B. Lushman, "Term proximity scoring for ad-hoc retrieval on very large text collections", 2006).
//! Reading positions is expensive, so only documents that are already good are scored.

use std::collections::HashSet;

use ken_core::{Field, Pattern, Span};
use tantivy::index::SegmentReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::query::{BooleanQuery, Occur, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher};

use super::WordsQuery;
use super::scoring::Scoring;
use super::terms::WordTerms;

/// Words further apart are unrelated.
const FAR: u32 = 8;

/// Maximum number of words that are examined, the most significant first.
const MAX_WORDS: usize = 16;

/// Maximum number of terms of a form in a segment, and of its occurrences in a document; a more
/// frequent form is close to others only by chance.
const MAX_TERMS: usize = 32;
const MAX_FREQUENCY: u32 = 10_000;

/// Fields in which people read words together.
const FIELDS: [Field; 2] = [Field::Title, Field::Body];

/// The words of a query, scored by closeness.
pub(crate) struct Proximity<'a> {
    words: Vec<Joined<'a>>,
    scoring: &'a Scoring,
}

/// Words with a common form are joined into one: `language` is not close to `languages`.
struct Joined<'a> {
    words: Vec<&'a WordTerms>,
    worth: f32,
}

/// A position of a word in a document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WordPosition {
    position: u32,
    word: usize,
}

/// The total closeness of each pair of words in a document.
type Pairs = [[f32; MAX_WORDS]; MAX_WORDS];

impl<'a> Proximity<'a> {
    /// Returns the words of a query that may be close together; `None` if there are fewer than two.
    pub(crate) fn of(
        query: &'a dyn Query,
        searcher: &Searcher,
        scoring: &'a Scoring,
    ) -> tantivy::Result<Option<Self>> {
        let mut queries = Vec::new();
        collect(query, &mut queries);
        let mut all = Vec::new();
        for query in queries {
            all.extend(
                query
                    .terms(searcher)?
                    .iter()
                    .filter(|word| word.worth > 0.0),
            );
        }
        let mut words = joined(all);
        words.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        words.truncate(MAX_WORDS);
        Ok((words.len() > 1).then_some(Self { words, scoring }))
    }

    /// Returns, for each of some documents of a segment, in order, the score that its close words
    /// add.
    pub(crate) fn scores(
        &self,
        reader: &SegmentReader,
        docs: &[DocId],
    ) -> tantivy::Result<Vec<f32>> {
        let mut pairs: Vec<Pairs> = vec![[[0.0; MAX_WORDS]; MAX_WORDS]; docs.len()];
        for field in FIELDS {
            let Some(lengths) = self.scoring.lengths(field)? else {
                continue;
            };
            let norms = reader.get_fieldnorms_reader(self.scoring.columns.of(field))?;
            let occurrences = self.occurrences(reader, field, docs)?;
            for ((doc, occurrences), pairs) in docs.iter().zip(occurrences).zip(&mut pairs) {
                let one = lengths[usize::from(norms.fieldnorm_id(*doc))];
                add_pairs(occurrences, one, pairs);
            }
        }
        Ok(pairs.iter().map(|pairs| self.score(pairs)).collect())
    }

    fn score(&self, pairs: &Pairs) -> f32 {
        let k1 = self.scoring.ranking.k1;
        let mut sum = 0.0;
        // The rarer word comes first, so the second is the less significant one.
        for (number, second) in self.words.iter().enumerate() {
            for of in &pairs[..number] {
                sum += second.worth * (k1 + 1.0) * of[number] / (k1 + of[number]);
            }
        }
        sum * self.scoring.ranking.proximity
    }

    fn occurrences(
        &self,
        reader: &SegmentReader,
        field: Field,
        docs: &[DocId],
    ) -> tantivy::Result<Vec<Vec<WordPosition>>> {
        let index = reader.inverted_index(self.scoring.columns.of(field))?;
        let mut occurrences: Vec<Vec<WordPosition>> = vec![Vec::new(); docs.len()];
        let mut positions = Vec::new();
        let option = IndexRecordOption::WithFreqsAndPositions;
        for (word, info) in self.terms(reader, field) {
            let mut postings = index.read_postings_from_terminfo(info, option)?;
            for (doc, occurrences) in docs.iter().zip(&mut occurrences) {
                let here = match postings.doc() {
                    here if here < *doc => postings.seek(*doc),
                    here => here,
                };
                if here == *doc && postings.term_freq() <= MAX_FREQUENCY {
                    postings.positions(&mut positions);
                    let of_term = positions.iter().copied();
                    occurrences.extend(of_term.map(|position| WordPosition { position, word }));
                }
            }
        }
        Ok(occurrences)
    }

    fn terms(
        &self,
        reader: &SegmentReader,
        field: Field,
    ) -> impl Iterator<Item = (usize, &TermInfo)> {
        let id = reader.segment_id();
        let all = self.words.iter().enumerate();
        let all = all.flat_map(|(number, of)| of.words.iter().map(move |word| (number, *word)));
        all.flat_map(move |(number, word)| {
            let forms = word.terms_in(id, field);
            let forms = forms.filter(|terms| terms.len() <= MAX_TERMS);
            forms.flatten().map(move |info| (number, info))
        })
    }
}

/// Collects the words that a query looks for and ranks by.
fn collect<'a>(query: &'a dyn Query, found: &mut Vec<&'a WordsQuery>) {
    if let Some(words) = query.downcast_ref::<WordsQuery>() {
        found.push(words);
    } else if let Some(list) = query.downcast_ref::<BooleanQuery>() {
        let wanted = list.clauses().iter();
        let wanted = wanted.filter(|(occur, _)| *occur != Occur::MustNot);
        wanted.for_each(|(_, part)| collect(&**part, found));
    }
}

fn joined(all: Vec<&WordTerms>) -> Vec<Joined<'_>> {
    let mut groups: Vec<(HashSet<&str>, Joined<'_>)> = Vec::new();
    for word in all {
        let terms = word.word.forms.iter().filter_map(|form| match &form.span {
            Span::Match(Pattern::Term(term)) => Some(term.as_str()),
            _ => None,
        });
        let terms: HashSet<&str> = terms.collect();
        match groups.iter_mut().find(|(of, _)| !of.is_disjoint(&terms)) {
            Some((of, group)) => {
                of.extend(terms);
                group.worth = group.worth.max(word.worth);
                group.words.push(word);
            }
            None => {
                let (words, worth) = (vec![word], word.worth);
                groups.push((terms, Joined { words, worth }));
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Adds the pairs of one field, in which each occurrence counts `one`.
fn add_pairs(mut occurrences: Vec<WordPosition>, one: f32, pairs: &mut Pairs) {
    occurrences.sort_unstable();
    occurrences.dedup();
    for (number, a) in occurrences.iter().enumerate() {
        for b in &occurrences[number + 1..] {
            let distance = b.position - a.position;
            if distance > FAR {
                break;
            }
            if a.word != b.word {
                let (first, second) = (a.word.min(b.word), a.word.max(b.word));
                // The parts of an identifier share one position.
                let distance = distance.max(1) as f32;
                pairs[first][second] += one / (distance * distance);
            }
        }
    }
}
