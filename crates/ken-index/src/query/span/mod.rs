//! The query for spans of terms: phrases with patterns, proximity in any order or in a given one.
//!
//! Tantivy's phrases have fixed terms only. Here a document is found in two steps: the parts agree
//! on a document by skipping those that one of them lacks, then their positions are compared. Spans
//! are kept minimal, so that both steps are linear in the positions (C. Clarke, G. Cormack and F.
//! Burkowski, "An algebra for structured text search and a framework for its implementation",
//! 1995).

mod leaf;
mod phrase;

use std::sync::Arc;

use ken_core::{Pattern, Span};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{InvertedIndexReader, SegmentReader};
use tantivy::query::{Bm25Weight, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::Field as Column;
use tantivy::{DocId, DocSet, Score, Searcher, TERMINATED, TantivyError};

use super::form::Texts;
use crate::dictionary::{Matcher, Shortcut, Shortcuts};
use crate::limits::{Limits, Pace};
use leaf::{Leaf, Room};
use phrase::Phrase;

/// Documents in which a column has the span.
#[derive(Clone, Debug)]
pub(super) struct SpanQuery {
    pub(super) column: Column,
    pub(super) span: Span,
    pub(super) shortcuts: Arc<Shortcuts>,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Query for SpanQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let plan = CompiledSpan::new(&self.span)?;
        let similarities = match scoring {
            EnableScoring::Enabled { searcher, .. } => similarities(searcher, self, &plan)?,
            EnableScoring::Disabled { .. } => Vec::new(),
        };
        Ok(Box::new(SpanWeight {
            column: self.column,
            plan,
            similarities,
            shortcuts: Arc::clone(&self.shortcuts),
            limits: self.limits.clone(),
        }))
    }
}

/// A span with compiled patterns.
pub(super) enum CompiledSpan {
    Match(Matcher),
    Any(Vec<Self>),
    Phrase(Vec<(u32, Matcher)>),
    Near {
        parts: Vec<Self>,
        slop: u32,
        ordered: bool,
    },
}

impl CompiledSpan {
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

/// Returns the weight of each pattern. A pattern that matches several terms has the weight of the
/// most frequent one, since it says no more than its most common term.
fn similarities(
    searcher: &Searcher,
    query: &SpanQuery,
    plan: &CompiledSpan,
) -> tantivy::Result<Vec<Bm25Weight>> {
    let (mut n_documents, mut n_tokens) = (0_u64, 0_u64);
    let indexes: Vec<_> = searcher
        .segment_readers()
        .iter()
        .map(|segment| {
            n_documents += u64::from(segment.max_doc());
            let shortcut = query.shortcuts.of(segment, query.column);
            Ok((segment.inverted_index(query.column)?, shortcut))
        })
        .collect::<tantivy::Result<_>>()?;
    n_tokens += indexes
        .iter()
        .map(|(index, _)| index.total_num_tokens())
        .sum::<u64>();
    let average = n_tokens as Score / n_documents.max(1) as Score;
    let limits = query.limits.as_deref();
    let mut matchers = Vec::new();
    plan.matchers(&mut |matcher| matchers.push(matcher));
    let mut weights = Vec::with_capacity(matchers.len());
    for matcher in matchers {
        let mut frequency = 0;
        for (index, shortcut) in &indexes {
            let mut most = 0;
            matcher.each_info(index, *shortcut, limits, |info| {
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
    plan: CompiledSpan,
    similarities: Vec<Bm25Weight>,
    shortcuts: Arc<Shortcuts>,
    limits: Option<Arc<Limits>>,
}

impl SpanWeight {
    fn span_scorer(
        &self,
        reader: &SegmentReader,
        boost: Score,
    ) -> tantivy::Result<Option<SpanScorer>> {
        let candidates = Candidates::open(
            &self.plan,
            reader,
            self.column,
            &self.shortcuts,
            self.limits.as_ref(),
        )?;
        let Some(candidates) = candidates else {
            return Ok(None);
        };
        let norms = match self.similarities.is_empty() {
            true => None,
            false => reader.fieldnorms_readers().get_field(self.column)?,
        };
        let similarities = self.similarities.iter().map(|of| of.boost_by(boost));
        let mut scorer = SpanScorer {
            candidates,
            norms: norms.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1)),
            similarities: similarities.collect(),
            frequency: 0,
        };
        scorer.settle();
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
        let absent = || TantivyError::InvalidArgument("no such span".to_owned());
        let mut scorer = self.span_scorer(reader, 1.0)?.ok_or_else(absent)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(absent());
        }
        let mut explanation = Explanation::new("stretches, sum of their terms", scorer.score());
        explanation.add_const("number of stretches", scorer.frequency as Score);
        for similarity in &self.similarities {
            let norm = scorer.norms.fieldnorm_id(doc);
            explanation.add_detail(similarity.explain(norm, scorer.frequency));
        }
        Ok(explanation)
    }
}

/// The positions of a span: its first, and the first after it.
type PositionRange = (u32, u32);

/// Documents of a segment that may have the span, and its positions in them.
///
/// Which documents these are is known without positions. The positions of a document are read only
/// on request, since it may be enough that there is one, or that there cannot be many.
pub(super) struct Candidates {
    node: Node,
    /// The texts, if words in a certain form are required.
    texts: Option<Texts>,
    doc: DocId,
    /// The positions of the span in the document; kept to reuse their memory.
    spans: Vec<PositionRange>,
    limits: Option<Arc<Limits>>,
    pace: Pace,
}

impl Candidates {
    /// Returns `None` if no document of the segment can have the stretch.
    pub(super) fn open(
        part: &CompiledSpan,
        reader: &SegmentReader,
        column: Column,
        shortcuts: &Shortcuts,
        limits: Option<&Arc<Limits>>,
    ) -> tantivy::Result<Option<Self>> {
        let Some(index) = shortcuts.index(reader, column)? else {
            return Ok(None);
        };
        let shortcut = shortcuts.of(reader, column);
        let (mut room, ends) = (Room::default(), limits.map(|limits| &**limits));
        let node = Node::open(part, &index, shortcut, &mut room, ends)?;
        let Some(mut node) = node else {
            return Ok(None);
        };
        let mut has_forms = false;
        node.leaves(&mut |leaf| has_forms |= leaf.form.is_some());
        let texts = match has_forms {
            true => Some(Texts::open(reader, column)?),
            false => None,
        };
        Ok(Some(Self {
            doc: node.seek(0),
            node,
            texts,
            spans: Vec::new(),
            limits: limits.cloned(),
            pace: Pace::default(),
        }))
    }

    pub(super) fn doc(&self) -> DocId {
        self.doc
    }

    /// Advances to the first candidate from `target` on; to the end once a limit is reached, since
    /// positions and texts take long to read.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        if target > self.doc {
            self.doc = match target {
                TERMINATED.. => TERMINATED,
                _ if self.pace.step(self.limits.as_deref()) => TERMINATED,
                target => self.node.seek(target),
            };
        }
        self.doc
    }

    pub(super) fn size_hint(&self) -> u32 {
        self.node.size_hint()
    }

    /// Returns the maximum frequency of the span in the document, without reading positions.
    pub(super) fn at_most(&self) -> u32 {
        self.node.at_most(self.doc)
    }

    /// Returns whether the document has the span.
    pub(super) fn is_there(&mut self) -> bool {
        match (&mut self.node, &self.texts) {
            (Node::Phrase(phrase), None) => phrase.is_there(self.doc),
            _ => self.frequency() > 0,
        }
    }

    /// Returns the frequency of the span in the document.
    pub(super) fn frequency(&mut self) -> u32 {
        self.spans.clear();
        self.node.ranges(self.doc, &mut self.spans);
        if !self.spans.is_empty() && self.texts.is_some() {
            self.keep_forms();
        }
        u32::try_from(self.spans.len()).unwrap_or(u32::MAX)
    }

    /// Keeps the spans whose words are written as required.
    fn keep_forms(&mut self) {
        let Some(texts) = &self.texts else { return };
        let doc = self.doc;
        let mut held = Vec::new();
        self.node.leaves(&mut |leaf| {
            let Some(form) = leaf.form.take() else { return };
            leaf.positions(doc, 0, &mut held);
            leaf.allowed = Some(texts.positions(doc, &form, &held));
            leaf.form = Some(form);
        });
        self.spans.clear();
        self.node.ranges(doc, &mut self.spans);
        self.node.leaves(&mut |leaf| leaf.allowed = None);
    }
}

/// Documents that have the span.
struct SpanScorer {
    candidates: Candidates,
    norms: FieldNormReader,
    similarities: Vec<Bm25Weight>,
    /// The frequency in the document.
    frequency: u32,
}

impl SpanScorer {
    /// Advances to a candidate that has the span, unless the current one does.
    fn settle(&mut self) -> DocId {
        loop {
            let doc = self.candidates.doc();
            if doc == TERMINATED {
                return doc;
            }
            self.frequency = self.candidates.frequency();
            if self.frequency > 0 {
                return doc;
            }
            self.candidates.seek(doc + 1);
        }
    }
}

impl DocSet for SpanScorer {
    fn advance(&mut self) -> DocId {
        match self.doc() {
            TERMINATED => TERMINATED,
            doc => self.seek(doc + 1),
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target <= self.doc() {
            return self.doc();
        }
        self.candidates.seek(target);
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.candidates.doc()
    }

    fn size_hint(&self) -> u32 {
        self.candidates.size_hint()
    }
}

impl Scorer for SpanScorer {
    fn score(&mut self) -> Score {
        let norm = self.norms.fieldnorm_id(self.doc());
        let scores = self.similarities.iter();
        scores.map(|of| of.score(norm, self.frequency)).sum()
    }
}

/// A part of the span, opened in one segment.
enum Node {
    Leaf(Leaf, Vec<u32>),
    Any(Vec<Self>),
    Phrase(Phrase),
    Near {
        parts: Vec<Self>,
        slop: u32,
        ordered: bool,
    },
}

impl Node {
    /// Returns `None` if no document of the segment can have it.
    fn open(
        part: &CompiledSpan,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        room: &mut Room,
        limits: Option<&Limits>,
    ) -> tantivy::Result<Option<Self>> {
        Ok(match part {
            CompiledSpan::Match(matcher) => {
                let leaf = Leaf::open(matcher, index, shortcut, room, limits)?;
                leaf.map(|leaf| Self::Leaf(leaf, Vec::new()))
            }
            CompiledSpan::Any(parts) => {
                let mut open = Vec::with_capacity(parts.len());
                for part in parts {
                    open.extend(Self::open(part, index, shortcut, room, limits)?);
                }
                (!open.is_empty()).then_some(Self::Any(open))
            }
            CompiledSpan::Phrase(terms) => {
                let mut open = Vec::with_capacity(terms.len());
                for (at, matcher) in terms {
                    let Some(leaf) = Leaf::open(matcher, index, shortcut, room, limits)? else {
                        return Ok(None);
                    };
                    open.push((*at, leaf));
                }
                Some(Self::Phrase(Phrase::new(open)))
            }
            CompiledSpan::Near {
                parts,
                slop,
                ordered,
            } => {
                let mut open = Vec::with_capacity(parts.len());
                for part in parts {
                    let Some(node) = Self::open(part, index, shortcut, room, limits)? else {
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
            Self::Leaf(leaf, _) => each(leaf),
            Self::Phrase(phrase) => phrase.leaves(each),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter_mut().for_each(|part| part.leaves(each));
            }
        }
    }

    /// Returns the first document from `target` on that may have the span.
    fn seek(&mut self, target: DocId) -> DocId {
        match self {
            Self::Leaf(leaf, _) => leaf.seek(target),
            Self::Any(parts) => {
                let docs = parts.iter_mut().map(|part| part.seek(target));
                docs.min().unwrap_or(TERMINATED)
            }
            Self::Phrase(phrase) => phrase.seek(target),
            Self::Near { parts, .. } => leap(parts, target, Self::seek),
        }
    }

    /// Adds the positions of the span in the document, by their starts; `seek` must have returned
    /// the document.
    fn ranges(&mut self, doc: DocId, found: &mut Vec<PositionRange>) {
        match self {
            Self::Leaf(leaf, positions) => {
                leaf.positions(doc, 0, positions);
                found.extend(positions.iter().map(|at| (*at, at + 1)));
            }
            Self::Any(parts) => {
                for part in parts {
                    if part.seek(doc) == doc {
                        part.ranges(doc, found);
                    }
                }
                found.sort_unstable();
                found.dedup();
            }
            Self::Phrase(phrase) => phrase.ranges(doc, found),
            Self::Near {
                parts,
                slop,
                ordered,
            } => {
                let mut lists = Vec::with_capacity(parts.len());
                for part in parts {
                    let mut list = Vec::new();
                    part.ranges(doc, &mut list);
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

    /// Returns the maximum frequency in a document; `seek` must have returned the document.
    fn at_most(&self, doc: DocId) -> u32 {
        match self {
            Self::Leaf(leaf, _) => leaf.at_most(doc),
            Self::Phrase(phrase) => phrase.at_most(doc),
            Self::Any(_) | Self::Near { .. } => u32::MAX,
        }
    }

    fn size_hint(&self) -> u32 {
        match self {
            Self::Leaf(leaf, _) => leaf.n_documents,
            Self::Any(parts) => {
                let sizes = parts.iter().map(Self::size_hint);
                sizes.fold(0, u32::saturating_add)
            }
            Self::Phrase(phrase) => phrase.size_hint(),
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

/// Adds, for each position of the first part, the shortest span in which the parts follow each
/// other.
fn one_after_other(lists: &[Vec<PositionRange>], slop: u32, found: &mut Vec<PositionRange>) {
    'starts: for (start, mut end) in lists[0].iter().copied() {
        let mut covered = end - start;
        for list in &lists[1..] {
            // Of those with the same start, the shortest comes first.
            let next = list.partition_point(|range| range.0 < end);
            let Some(range) = list.get(next) else {
                continue 'starts;
            };
            covered += range.1 - range.0;
            end = range.1;
        }
        if end - start - covered <= slop {
            found.push((start, end));
        }
    }
}

/// Adds the shortest spans that contain a position of every part, in any order.
fn together(lists: &[Vec<PositionRange>], slop: u32, found: &mut Vec<PositionRange>) {
    let mut next = vec![0; lists.len()];
    loop {
        let ranges = || lists.iter().zip(&next).map(|(list, next)| list[*next]);
        let start = ranges().map(|range| range.0).min().unwrap_or(0);
        let end = ranges().map(|range| range.1).max().unwrap_or(0);
        let covered: u32 = ranges().map(|range| range.1 - range.0).sum();
        if (end - start).saturating_sub(covered) <= slop && found.last() != Some(&(start, end)) {
            found.push((start, end));
        }
        // A shorter span can follow only without the first position.
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
