//! Of hits that belong together one: copies of the same content, parts of a file or a message.
//!
//! A number in a column says what belongs together. A first pass writes down the numbers of all hits
//! and sorts them: eight bytes each, and it is known how many groups there are and how large each
//! is. Then the hits are taken in order, more of them until there are enough groups.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use ken_core::Order;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

use crate::best::{Best, BestOfSegment};
use crate::boost::BEST;
use crate::schema::{CONTENT, KEY, LOCATION, MESSAGE};
use crate::search::{Found, Hit, Run};
use crate::spread;

/// If groups have more hits than this on average, the best of each is looked for in one pass over
/// all hits: the first hits may all be of a few groups.
const LARGE: usize = 8;

/// What is shown once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collapse {
    /// Documents of the same content.
    Content,
    /// All that is in a file.
    File,
    /// A message with its parts; outside of messages all that is in a file.
    Message,
}

/// Runs a request that collapses.
pub(crate) fn run(
    run: &Run<'_>,
    collapse: Collapse,
    offset: usize,
    limit: usize,
) -> tantivy::Result<Found> {
    let searcher = run.searcher;
    let groups = spread::search(searcher, &*run.query, &Grouping(collapse))?;
    let wanted = offset.saturating_add(limit).min(groups.n_groups);
    let mut keys = Vec::with_capacity(searcher.segment_readers().len());
    for segment in searcher.segment_readers() {
        keys.push(GroupKey::open(segment, collapse)?);
    }
    let mut hits = Vec::new();
    let mut fetched = 0;
    let by_relevance = run.order == Order::default();
    if by_relevance && groups.n_groups.saturating_mul(LARGE) < groups.total {
        hits = first_of_each(
            run.boosted(best_of_each(run, &keys, wanted)?)?,
            &keys,
            &groups,
        );
        fetched = groups.total;
    }
    while hits.len() < wanted && fetched < groups.total {
        fetched = fetched
            .saturating_mul(16)
            .max(wanted.saturating_mul(2))
            .min(groups.total);
        let all = run.page(0, fetched)?.hits;
        hits = first_of_each(all, &keys, &groups);
    }
    hits.truncate(wanted);
    hits.drain(..offset.min(hits.len()));
    Ok(Found {
        total: groups.total,
        groups: groups.n_groups,
        hits,
    })
}

/// A document and its score.
type Scored = (Score, DocAddress);

/// Returns the best hit of each group, of those groups that are best.
fn best_of_each(run: &Run<'_>, keys: &[GroupKey], wanted: usize) -> tantivy::Result<Vec<Scored>> {
    let weight = run
        .query
        .weight(EnableScoring::enabled_from_searcher(run.searcher))?;
    let alone = Best::new(wanted.max(BEST));
    let best: Mutex<HashMap<u64, Scored>> = Mutex::default();
    spread::over(run.searcher.segment_readers(), |number, segment| {
        let mut top = alone.of_segment(number, segment)?;
        let key = &keys[number as usize];
        let groups = best_of_segment(segment, &*weight, key, &mut top)?;
        top.finish();
        let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
        for (group, (score, doc)) in groups {
            let new = (score, DocAddress::new(number, doc));
            match best.entry(group) {
                Entry::Vacant(entry) => _ = entry.insert(new),
                Entry::Occupied(mut entry) => {
                    let old = *entry.get();
                    if score > old.0 || score == old.0 && run.path(new.1)? < run.path(old.1)? {
                        entry.insert(new);
                    }
                }
            }
        }
        Ok(())
    })?;
    let best = best.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all = alone.finish()?;
    all.extend(best.into_values());
    let best = Best::new(wanted.max(BEST));
    for (number, segment) in (0..).zip(run.searcher.segment_readers()) {
        let mut top = best.of_segment(number, segment)?;
        let of_segment = all.iter().filter(|(_, at)| at.segment_ord == number);
        of_segment.for_each(|(score, at)| top.push(*score, at.doc_id));
        top.finish();
    }
    best.finish()
}

/// Returns the best document of each group in a segment; what belongs to none goes to `alone`.
fn best_of_segment(
    segment: &SegmentReader,
    weight: &dyn Weight,
    key: &GroupKey,
    alone: &mut BestOfSegment<'_>,
) -> tantivy::Result<Vec<(u64, (Score, DocId))>> {
    let mut best: HashMap<u64, (Score, DocId)> = HashMap::new();
    let paths = segment.fast_fields().bytes(LOCATION)?;
    let path = |doc| paths.as_ref().and_then(|of| of.ords().first(doc));
    let alive = segment.alive_bitset();
    weight.for_each_pruning(Score::MIN, segment, &mut |doc, score| {
        if alive.is_some_and(|alive| alive.is_deleted(doc)) {
            return Score::MIN;
        }
        match key.of(doc) {
            None => alone.push(score, doc),
            Some(group) => {
                let best = best.entry(group).or_insert((score, doc));
                if score > best.0 || score == best.0 && path(doc) < path(best.1) {
                    *best = (score, doc);
                }
            }
        }
        Score::MIN
    })?;
    let mut best: Vec<_> = best.into_iter().collect();
    best.sort_unstable_by_key(|(group, _)| *group);
    Ok(best)
}

fn first_of_each(all: Vec<Hit>, keys: &[GroupKey], groups: &Groups) -> Vec<Hit> {
    let mut seen = HashSet::new();
    let mut hits = Vec::new();
    for hit in all {
        let key = &keys[hit.address.segment as usize];
        match key.of(hit.address.doc) {
            Some(group) if !seen.insert(group) => {}
            Some(group) => hits.push(Hit {
                more: groups.size(group) - 1,
                ..hit
            }),
            None => hits.push(hit),
        }
    }
    hits
}

/// What tells to which group a document of a segment belongs.
struct GroupKey {
    first: Column<u64>,
    second: Option<Column<u64>>,
}

impl GroupKey {
    fn open(segment: &SegmentReader, collapse: Collapse) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        let (first, second) = match collapse {
            Collapse::Content => (CONTENT, None),
            Collapse::File => (KEY, None),
            Collapse::Message => (KEY, Some(MESSAGE)),
        };
        Ok(Self {
            first: columns.u64(first)?,
            second: second.map(|name| columns.u64(name)).transpose()?,
        })
    }

    /// Returns the group of a document; `None` if it belongs to no other.
    fn of(&self, doc: DocId) -> Option<u64> {
        let first = self.first.first(doc)?;
        let second = self.second.as_ref().and_then(|column| column.first(doc));
        // Both are hashes.
        Some(first ^ second.unwrap_or(0).rotate_left(32))
    }
}

/// The groups of all hits.
struct Groups {
    total: usize,
    n_groups: usize,
    /// The group of each hit that has one, sorted.
    sorted: Vec<u64>,
}

impl Groups {
    fn size(&self, group: u64) -> usize {
        let start = self.sorted.partition_point(|other| *other < group);
        let rest = &self.sorted[start..];
        rest.partition_point(|other| *other == group).max(1)
    }
}

struct Grouping(Collapse);

impl Collector for Grouping {
    type Fruit = Groups;
    type Child = SegmentGrouping;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentGrouping> {
        Ok(SegmentGrouping {
            key: GroupKey::open(segment, self.0)?,
            groups: Vec::new(),
            n_alone: 0,
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, parts: Vec<(Vec<u64>, usize)>) -> tantivy::Result<Groups> {
        let n_alone: usize = parts.iter().map(|(_, n_alone)| n_alone).sum();
        let mut sorted: Vec<u64> = parts.into_iter().flat_map(|(groups, _)| groups).collect();
        sorted.sort_unstable();
        let n_shared = sorted.chunk_by(|a, b| a == b).count();
        Ok(Groups {
            total: sorted.len() + n_alone,
            n_groups: n_shared + n_alone,
            sorted,
        })
    }
}

struct SegmentGrouping {
    key: GroupKey,
    groups: Vec<u64>,
    n_alone: usize,
}

impl SegmentCollector for SegmentGrouping {
    type Fruit = (Vec<u64>, usize);

    fn collect(&mut self, doc: DocId, _: Score) {
        match self.key.of(doc) {
            Some(group) => self.groups.push(group),
            None => self.n_alone += 1,
        }
    }

    fn harvest(self) -> (Vec<u64>, usize) {
        (self.groups, self.n_alone)
    }
}
