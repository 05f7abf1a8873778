//! The query for stretches of terms: phrases with patterns, proximity in any or in one order.
//!
//! Tantivy's phrase knows fixed terms only. Here a document is found in two steps: the parts
//! agree on documents by leaping over those that one of them lacks, then their positions are
//! compared. Stretches are kept minimal, so that both steps are linear in the positions
//! (C. Clarke, G. Cormack and F. Burkowski, "An algebra for structured text search and a framework
//! for its implementation", 1995).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ken_core::{Pattern, Span, Written};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{Bm25Weight, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field as Column, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, Searcher, TERMINATED, TantivyError};

use super::expand::Matcher;
use super::form::Texts;

/// How many terms one pattern of a stretch may mean in a segment: each holds about 4 KiB.
const MAX_TERMS: usize = 10_000;

/// Documents in which a column holds the stretch.
#[derive(Clone, Debug)]
pub(super) struct SpanQuery {
    pub(super) column: Column,
    pub(super) span: Span,
}

impl Query for SpanQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let plan = Part::new(&self.span)?;
        let similarities = match scoring {
            EnableScoring::Enabled { searcher, .. } => similarities(searcher, self.column, &plan)?,
            EnableScoring::Disabled { .. } => Vec::new(),
        };
        Ok(Box::new(SpanWeight {
            column: self.column,
            plan,
            similarities,
        }))
    }
}

/// A stretch with its patterns made ready.
pub(super) enum Part {
    Match(Matcher),
    Any(Vec<Self>),
    Phrase(Vec<(u32, Matcher)>),
    Near {
        parts: Vec<Self>,
        slop: u32,
        ordered: bool,
    },
}

impl Part {
    pub(super) fn new(span: &Span) -> tantivy::Result<Self> {
        let all = |parts: &[Span]| parts.iter().map(Self::new).collect::<Result<_, _>>();
        Ok(match span {
            Span::Match(pattern) => Self::Match(Matcher::new(pattern)?),
            Span::Any(parts) => Self::Any(all(parts)?),
            Span::Phrase(terms) => {
                let ready = |(at, pattern): &(u32, Pattern)| Ok((*at, Matcher::new(pattern)?));
                Self::Phrase(terms.iter().map(ready).collect::<tantivy::Result<_>>()?)
            }
            Span::Near {
                parts,
                slop,
                ordered,
            } => Self::Near {
                parts: all(parts)?,
                slop: *slop,
                ordered: *ordered,
            },
        })
    }

    pub(super) fn matchers<'a>(&'a self, each: &mut dyn FnMut(&'a Matcher)) {
        match self {
            Self::Match(matcher) => each(matcher),
            Self::Phrase(terms) => terms.iter().for_each(|(_, matcher)| each(matcher)),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter().for_each(|part| part.matchers(each));
            }
        }
    }
}

/// Returns the weight of each pattern: of several terms that it means, that of the most frequent,
/// as a pattern says no more than its commonest term.
fn similarities(
    searcher: &Searcher,
    column: Column,
    plan: &Part,
) -> tantivy::Result<Vec<Bm25Weight>> {
    let (mut n_documents, mut n_tokens) = (0_u64, 0_u64);
    let indexes: Vec<_> = searcher
        .segment_readers()
        .iter()
        .map(|segment| {
            n_documents += u64::from(segment.max_doc());
            segment.inverted_index(column)
        })
        .collect::<tantivy::Result<_>>()?;
    n_tokens += indexes
        .iter()
        .map(|index| index.total_num_tokens())
        .sum::<u64>();
    let average = n_tokens as Score / n_documents.max(1) as Score;
    let mut matchers = Vec::new();
    plan.matchers(&mut |matcher| matchers.push(matcher));
    let mut weights = Vec::with_capacity(matchers.len());
    for matcher in matchers {
        let mut frequency = 0;
        for index in &indexes {
            let mut most = 0;
            matcher.each(index, column, &mut |_, info| {
                most = most.max(u64::from(info.doc_freq));
                Ok(())
            })?;
            frequency += most;
        }
        weights.push(Bm25Weight::for_one_term(frequency, n_documents, average));
    }
    Ok(weights)
}

struct SpanWeight {
    column: Column,
    plan: Part,
    similarities: Vec<Bm25Weight>,
}

impl SpanWeight {
    fn span_scorer(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> tantivy::Result<Option<SpanScorer>> {
        let index = reader.inverted_index(self.column)?;
        let Some(node) = Node::open(&self.plan, &index, self.column)? else {
            return Ok(None);
        };
        let norms = match self.similarities.is_empty() {
            true => None,
            false => reader.fieldnorms_readers().get_field(self.column)?,
        };
        let mut scorer = SpanScorer {
            node,
            norms: norms.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1)),
            similarities: self
                .similarities
                .iter()
                .map(|of| of.boost_by(boost))
                .collect(),
            texts: None,
            doc: 0,
            spans: Vec::new(),
        };
        scorer.open_texts(reader, self.column)?;
        scorer.settle(0);
        Ok(Some(scorer))
    }
}

impl Weight for SpanWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.span_scorer(reader, boost)? {
            Some(scorer) => Box::new(scorer),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let absent = || TantivyError::InvalidArgument("no such stretch".to_owned());
        let mut scorer = self.span_scorer(reader, 1.0)?.ok_or_else(absent)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(absent());
        }
        let mut explanation = Explanation::new("stretches, sum of their terms", scorer.score());
        explanation.add_const("number of stretches", scorer.spans.len() as Score);
        for similarity in &self.similarities {
            let norm = scorer.norms.fieldnorm_id(doc);
            explanation.add_detail(similarity.explain(norm, scorer.spans.len() as u32));
        }
        Ok(explanation)
    }
}

/// Positions of a stretch: its first, and the first after it.
type Place = (u32, u32);

pub(super) struct SpanScorer {
    node: Node,
    norms: FieldNormReader,
    similarities: Vec<Bm25Weight>,
    /// What is asked for words in a certain form.
    texts: Option<Texts>,
    doc: DocId,
    /// Where the current document has the stretch.
    spans: Vec<Place>,
}

impl SpanScorer {
    /// Returns the documents of a segment that have a stretch, without scores.
    pub(super) fn open(
        part: &Part,
        reader: &SegmentReader,
        column: Column,
    ) -> tantivy::Result<Option<Self>> {
        let index = reader.inverted_index(column)?;
        let Some(node) = Node::open(part, &index, column)? else {
            return Ok(None);
        };
        let mut scorer = Self {
            node,
            norms: FieldNormReader::constant(0, 1),
            similarities: Vec::new(),
            texts: None,
            doc: 0,
            spans: Vec::new(),
        };
        scorer.open_texts(reader, column)?;
        scorer.settle(0);
        Ok(Some(scorer))
    }

    /// Opens the texts if words are asked for as they are written.
    fn open_texts(&mut self, reader: &SegmentReader, column: Column) -> tantivy::Result<()> {
        let mut has_forms = false;
        self.node
            .leaves(&mut |leaf| has_forms |= leaf.form.is_some());
        if has_forms {
            self.texts = Some(Texts::open(reader, column)?);
        }
        Ok(())
    }

    /// Returns how often the current document has the stretch.
    pub(super) fn frequency(&self) -> u32 {
        u32::try_from(self.spans.len()).unwrap_or(u32::MAX)
    }

    /// Goes to the first document from `target` on that has the stretch.
    fn settle(&mut self, target: DocId) -> DocId {
        let mut doc = self.node.seek(target);
        while doc != TERMINATED {
            self.spans.clear();
            self.node.places(doc, &mut self.spans);
            if !self.spans.is_empty() && self.has_forms(doc) {
                break;
            }
            doc = self.node.seek(doc + 1);
        }
        self.doc = doc;
        doc
    }

    /// Keeps the stretches whose words are written as is asked for; returns whether any is.
    fn has_forms(&mut self, doc: DocId) -> bool {
        let Some(texts) = &self.texts else {
            return true;
        };
        self.node.leaves(&mut |leaf| {
            leaf.allowed = leaf.form.as_ref().map(|form| texts.positions(doc, form));
        });
        self.spans.clear();
        self.node.places(doc, &mut self.spans);
        self.node.leaves(&mut |leaf| leaf.allowed = None);
        !self.spans.is_empty()
    }
}

impl DocSet for SpanScorer {
    fn advance(&mut self) -> DocId {
        match self.doc {
            TERMINATED => TERMINATED,
            doc => self.settle(doc + 1),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target <= self.doc {
            self.doc
        } else if target >= TERMINATED {
            self.doc = TERMINATED;
            TERMINATED
        } else {
            self.settle(target)
        }
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.node.size_hint()
    }
}

impl Scorer for SpanScorer {
    fn score(&mut self) -> Score {
        let norm = self.norms.fieldnorm_id(self.doc);
        let count = self.spans.len() as u32;
        self.similarities
            .iter()
            .map(|of| of.score(norm, count))
            .sum()
    }
}

/// A part of the stretch, open in one segment.
enum Node {
    Leaf(Leaf),
    Any(Vec<Self>),
    Phrase(Vec<(u32, Leaf)>),
    Near {
        parts: Vec<Self>,
        slop: u32,
        ordered: bool,
    },
}

impl Node {
    /// Returns `None` if no document of the segment can have it.
    fn open(
        part: &Part,
        index: &InvertedIndexReader,
        column: Column,
    ) -> tantivy::Result<Option<Self>> {
        Ok(match part {
            Part::Match(matcher) => Leaf::open(matcher, index, column)?.map(Self::Leaf),
            Part::Any(parts) => {
                let mut open = Vec::with_capacity(parts.len());
                for part in parts {
                    open.extend(Self::open(part, index, column)?);
                }
                (!open.is_empty()).then_some(Self::Any(open))
            }
            Part::Phrase(terms) => {
                let mut open = Vec::with_capacity(terms.len());
                for (at, matcher) in terms {
                    let Some(leaf) = Leaf::open(matcher, index, column)? else {
                        return Ok(None);
                    };
                    open.push((*at, leaf));
                }
                Some(Self::Phrase(open))
            }
            Part::Near {
                parts,
                slop,
                ordered,
            } => {
                let mut open = Vec::with_capacity(parts.len());
                for part in parts {
                    let Some(node) = Self::open(part, index, column)? else {
                        return Ok(None);
                    };
                    open.push(node);
                }
                Some(Self::Near {
                    parts: open,
                    slop: *slop,
                    ordered: *ordered,
                })
            }
        })
    }

    /// Calls `each` with all terms.
    fn leaves(&mut self, each: &mut dyn FnMut(&mut Leaf)) {
        match self {
            Self::Leaf(leaf) => each(leaf),
            Self::Phrase(terms) => terms.iter_mut().for_each(|(_, leaf)| each(leaf)),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter_mut().for_each(|part| part.leaves(each));
            }
        }
    }

    /// Returns the first document from `target` on that may have the stretch.
    fn seek(&mut self, target: DocId) -> DocId {
        match self {
            Self::Leaf(leaf) => leaf.seek(target),
            Self::Any(parts) => {
                let docs = parts.iter_mut().map(|part| part.seek(target));
                docs.min().unwrap_or(TERMINATED)
            }
            Self::Phrase(terms) => leap(terms, target, |(_, leaf), doc| leaf.seek(doc)),
            Self::Near { parts, .. } => leap(parts, target, Self::seek),
        }
    }

    /// Adds where the document has the stretch, by their starts; `seek` must have returned it.
    fn places(&mut self, doc: DocId, found: &mut Vec<Place>) {
        match self {
            Self::Leaf(leaf) => found.extend(leaf.positions(doc).iter().map(|at| (*at, at + 1))),
            Self::Any(parts) => {
                for part in parts {
                    if part.seek(doc) == doc {
                        part.places(doc, found);
                    }
                }
                found.sort_unstable();
                found.dedup();
            }
            Self::Phrase(terms) => phrase(terms, doc, found),
            Self::Near {
                parts,
                slop,
                ordered,
            } => {
                let mut lists = Vec::with_capacity(parts.len());
                for part in parts {
                    let mut list = Vec::new();
                    part.places(doc, &mut list);
                    if list.is_empty() {
                        return;
                    }
                    lists.push(list);
                }
                if *ordered {
                    one_after_other(&lists, *slop, found);
                } else {
                    together(&lists, *slop, found);
                }
            }
        }
    }

    fn size_hint(&self) -> u32 {
        match self {
            Self::Leaf(leaf) => leaf.n_documents,
            Self::Any(parts) => {
                let sizes = parts.iter().map(Self::size_hint);
                sizes.fold(0, u32::saturating_add)
            }
            Self::Phrase(terms) => {
                let sizes = terms.iter().map(|(_, leaf)| leaf.n_documents);
                sizes.min().unwrap_or(0)
            }
            Self::Near { parts, .. } => parts.iter().map(Self::size_hint).min().unwrap_or(0),
        }
    }
}

/// Returns the first document from `target` on that all parts have.
fn leap<T>(parts: &mut [T], target: DocId, seek: fn(&mut T, DocId) -> DocId) -> DocId {
    let mut doc = target;
    'again: loop {
        for part in &mut *parts {
            let next = seek(part, doc);
            if next == TERMINATED {
                return TERMINATED;
            }
            if next > doc {
                doc = next;
                continue 'again;
            }
        }
        return doc;
    }
}

/// Adds where all terms stand at their distances from one start.
fn phrase(terms: &mut [(u32, Leaf)], doc: DocId, found: &mut Vec<Place>) {
    let length = terms.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
    let mut starts: Option<Vec<u32>> = None;
    for (at, leaf) in terms {
        let positions = leaf.positions(doc);
        let mut candidates = positions
            .iter()
            .filter_map(|position| position.checked_sub(*at));
        starts = Some(match starts {
            None => candidates.collect(),
            Some(mut kept) => {
                let mut next = candidates.next();
                kept.retain(|start| {
                    while next.is_some_and(|candidate| candidate < *start) {
                        next = candidates.next();
                    }
                    next == Some(*start)
                });
                kept
            }
        });
    }
    let starts = starts.unwrap_or_default();
    found.extend(starts.into_iter().map(|start| (start, start + length)));
}

/// Adds, for each place of the first part, the shortest stretch in which the parts follow each
/// other.
fn one_after_other(lists: &[Vec<Place>], slop: u32, found: &mut Vec<Place>) {
    'starts: for (start, mut end) in lists[0].iter().copied() {
        let mut covered = end - start;
        for list in &lists[1..] {
            // Of those that start together the shortest comes first.
            let next = list.partition_point(|place| place.0 < end);
            let Some(place) = list.get(next) else {
                continue 'starts;
            };
            covered += place.1 - place.0;
            end = place.1;
        }
        if end - start - covered <= slop {
            found.push((start, end));
        }
    }
}

/// Adds the shortest stretches that hold a place of every part, in any order.
fn together(lists: &[Vec<Place>], slop: u32, found: &mut Vec<Place>) {
    let mut next = vec![0; lists.len()];
    loop {
        let places = || lists.iter().zip(&next).map(|(list, next)| list[*next]);
        let start = places().map(|place| place.0).min().unwrap_or(0);
        let end = places().map(|place| place.1).max().unwrap_or(0);
        let covered: u32 = places().map(|place| place.1 - place.0).sum();
        if (end - start).saturating_sub(covered) <= slop && found.last() != Some(&(start, end)) {
            found.push((start, end));
        }
        // Only without the first place can a shorter stretch follow.
        let first = (0..lists.len()).min_by_key(|of| lists[*of][next[*of]]);
        let Some(first) = first else {
            return;
        };
        next[first] += 1;
        if next[first] == lists[first].len() {
            return;
        }
    }
}

/// All terms that a pattern means, as one list of postings.
struct Leaf {
    /// Postings at documents that were not asked for yet, first document first.
    waiting: BinaryHeap<Reverse<(DocId, usize)>>,
    postings: Vec<SegmentPostings>,
    positions: Vec<u32>,
    n_documents: u32,
    form: Option<Written>,
    /// The only positions that count, in order.
    allowed: Option<Vec<u32>>,
}

impl Leaf {
    fn open(
        matcher: &Matcher,
        index: &InvertedIndexReader,
        column: Column,
    ) -> tantivy::Result<Option<Self>> {
        let mut postings = Vec::new();
        let mut n_documents = 0_u32;
        matcher.each(index, column, &mut |_, info| {
            if postings.len() == MAX_TERMS {
                return Err(TantivyError::InvalidArgument(format!(
                    "a pattern beside other words means more than {MAX_TERMS} words; \
                     write more letters of it"
                )));
            }
            let option = IndexRecordOption::WithFreqsAndPositions;
            postings.push(index.read_postings_from_terminfo(info, option)?);
            n_documents = n_documents.saturating_add(info.doc_freq);
            Ok(())
        })?;
        let waiting = postings
            .iter()
            .enumerate()
            .map(|(number, of)| Reverse((of.doc(), number)))
            .collect();
        Ok((!postings.is_empty()).then_some(Self {
            waiting,
            postings,
            positions: Vec::new(),
            n_documents,
            form: match matcher {
                Matcher::Written(form) => Some(form.clone()),
                _ => None,
            },
            allowed: None,
        }))
    }

    fn seek(&mut self, target: DocId) -> DocId {
        while let Some(mut top) = self.waiting.peek_mut() {
            let Reverse((doc, number)) = *top;
            if doc >= target {
                return doc;
            }
            let next = self.postings[number].seek(target);
            *top = Reverse((next, number));
        }
        TERMINATED
    }

    /// Returns where the document has one of the terms, in order.
    fn positions(&mut self, doc: DocId) -> &[u32] {
        self.positions.clear();
        if let [only] = self.postings.as_mut_slice() {
            if only.doc() == doc {
                only.append_positions_with_offset(0, &mut self.positions);
            }
            if let Some(allowed) = &self.allowed {
                self.positions
                    .retain(|at| allowed.binary_search(at).is_ok());
            }
            return &self.positions;
        }
        let here = self.waiting.iter().filter(|Reverse((at, _))| *at == doc);
        for Reverse((_, number)) in here {
            self.postings[*number].append_positions_with_offset(0, &mut self.positions);
        }
        self.positions.sort_unstable();
        self.positions.dedup();
        &self.positions
    }
}
