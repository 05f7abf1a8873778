//! Of hits that belong together one: copies of the same content, parts of a file or a message.
//!
//! A number in a column says what belongs together. A first pass writes down the numbers of all hits
//! and sorts them: eight bytes each, and it is known how many groups there are and how large each
//! is. Then the hits are taken in order, more of them until there are enough groups.

use std::collections::HashSet;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use crate::schema::{CONTENT, KEY, MESSAGE};
use crate::search::{Found, Hit, Run};

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
    let groups = searcher.search(&*run.query, &Grouping(collapse))?;
    let wanted = offset.saturating_add(limit).min(groups.n_groups);
    let mut keys = Vec::with_capacity(searcher.segment_readers().len());
    for segment in searcher.segment_readers() {
        keys.push(GroupKey::open(segment, collapse)?);
    }
    let mut hits = Vec::new();
    let mut fetched = 0;
    while hits.len() < wanted && fetched < groups.total {
        fetched = fetched
            .saturating_mul(4)
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
