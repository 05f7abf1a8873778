//! Groups of documents that belong together: duplicates of the same content, parts of a file or a
//! message.
//!
//! A number in a column identifies the group. One pass over all hits collects these numbers and
//! sorts them, with eight bytes each: the result is the number of groups and the size of each.

use ken_engine::Collapse;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use crate::schema::{CONTENT, KEY, MESSAGE};

/// The columns that decide to which group a document of a segment belongs.
pub(crate) struct GroupKey {
    first: Column<u64>,
    second: Option<Column<u64>>,
}

impl GroupKey {
    pub(crate) fn open(segment: &SegmentReader, collapse: Collapse) -> tantivy::Result<Self> {
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

    /// Returns the group of a document; `None` if it belongs with no other document.
    pub(crate) fn of(&self, doc: DocId) -> Option<u64> {
        let first = self.first.first(doc)?;
        let second = self.second.as_ref().and_then(|column| column.first(doc));
        // Both are hashes.
        Some(first ^ second.unwrap_or(0).rotate_left(32))
    }
}

/// The groups of all hits.
pub(crate) struct Groups {
    /// Total number of hits.
    pub(crate) total: usize,
    pub(crate) n_groups: usize,
    /// The group of each hit that has one, sorted.
    sorted: Vec<u64>,
}

impl Groups {
    pub(crate) fn size(&self, group: u64) -> usize {
        let start = self.sorted.partition_point(|other| *other < group);
        let rest = &self.sorted[start..];
        rest.partition_point(|other| *other == group).max(1)
    }
}

/// Collects the groups of all hits.
pub(crate) struct Grouping(pub(crate) Collapse);

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

pub(crate) struct SegmentGrouping {
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
