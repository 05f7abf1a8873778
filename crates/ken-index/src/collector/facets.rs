//! Counts hits by author, folder, year and the like, from columns, without reading documents.
//!
//! A column of texts has a number for each value of a segment, so counting takes one addition for
//! each hit. The values that were found are read at the end, in one pass over their dictionary.

use std::collections::BTreeMap;

use ken_core::{Field, Value};
use ken_engine::{FacetBy, Limits};
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::error::DataCorruption;
use tantivy::fastfield::FastFieldReaders;
use tantivy::query::Query;
use tantivy::{DocId, Score, Searcher, SegmentOrdinal, SegmentReader};

use crate::columns::value;
use crate::parallel;
use crate::schema::value_column;

/// Returns the least and the greatest number of a field.
pub(crate) fn extent(searcher: &Searcher, field: Field) -> tantivy::Result<Option<(i64, i64)>> {
    let mut extent: Option<(i64, i64)> = None;
    if !field.is_number() {
        return Ok(extent);
    }
    for segment in searcher.segment_readers() {
        let column = segment.fast_fields().i64(field.name())?;
        if column.values.num_vals() > 0 {
            let (least, most) = extent.unwrap_or((i64::MAX, i64::MIN));
            extent = Some((least.min(column.min_value()), most.max(column.max_value())));
        }
    }
    Ok(extent)
}

/// Counts the hits of a query; returns the values with the most hits first.
pub(crate) fn count(
    searcher: &Searcher,
    query: &dyn Query,
    by: &[FacetBy],
    limits: Option<&Limits>,
) -> tantivy::Result<Vec<Vec<(Value, u64)>>> {
    let counts = parallel::search(searcher, query, &Facets(by.to_vec()), limits)?;
    let in_order = |counts: Counts| {
        let mut values = counts.into_values();
        // Equal counts stay in the order of their values.
        values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        values
    };
    Ok(counts.into_iter().map(in_order).collect())
}

/// The counts of one facet.
#[derive(Debug)]
enum Counts {
    /// By value, in the column's form.
    Texts(BTreeMap<String, u64>),
    Numbers(BTreeMap<i64, u64>),
}

impl Counts {
    fn of(by: &FacetBy) -> Self {
        match by {
            FacetBy::Values(field) if !field.is_number() => Self::Texts(BTreeMap::new()),
            FacetBy::Values(_) | FacetBy::Ranges(..) => Self::Numbers(BTreeMap::new()),
        }
    }

    fn add(&mut self, other: Self) {
        match (self, other) {
            (Self::Texts(all), Self::Texts(some)) => {
                for (value, count) in some {
                    *all.entry(value).or_default() += count;
                }
            }
            (Self::Numbers(all), Self::Numbers(some)) => {
                for (value, count) in some {
                    *all.entry(value).or_default() += count;
                }
            }
            _ => {}
        }
    }

    fn into_values(self) -> Vec<(Value, u64)> {
        match self {
            Self::Numbers(counts) => {
                let values = counts.into_iter();
                values
                    .map(|(number, n)| (Value::Number(number), n))
                    .collect()
            }
            Self::Texts(counts) => as_written(counts),
        }
    }
}

/// Counts values that differ only in case or diacritics as one, written like most of them.
fn as_written(counts: BTreeMap<String, u64>) -> Vec<(Value, u64)> {
    let all: Vec<(String, u64)> = counts.into_iter().collect();
    all.chunk_by(|(a, _), (b, _)| value::common(a) == value::common(b))
        .map(|same| {
            let most = same.iter().rev().max_by_key(|(_, count)| count);
            let written = most.map(|(value, _)| value::written(value).into_owned());
            let count = same.iter().map(|(_, count)| count).sum();
            (Value::Text(written.unwrap_or_default()), count)
        })
        .collect()
}

struct Facets(Vec<FacetBy>);

impl Collector for Facets {
    type Fruit = Vec<Counts>;
    type Child = SegmentFacets;

    fn for_segment(
        &self,
        _: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<SegmentFacets> {
        let counters = self.0.iter().map(|by| Counter::open(segment, by));
        Ok(SegmentFacets(counters.collect::<tantivy::Result<_>>()?))
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(
        &self,
        parts: Vec<tantivy::Result<Vec<Counts>>>,
    ) -> tantivy::Result<Vec<Counts>> {
        let mut all: Vec<Counts> = self.0.iter().map(Counts::of).collect();
        for part in parts {
            for (sum, counts) in all.iter_mut().zip(part?) {
                sum.add(counts);
            }
        }
        Ok(all)
    }
}

struct SegmentFacets(Vec<Counter>);

impl SegmentCollector for SegmentFacets {
    type Fruit = tantivy::Result<Vec<Counts>>;

    fn collect(&mut self, doc: DocId, _: Score) {
        self.0.iter_mut().for_each(|counter| counter.count(doc));
    }

    fn collect_block(&mut self, docs: &[DocId]) {
        for counter in &mut self.0 {
            docs.iter().for_each(|doc| counter.count(*doc));
        }
    }

    fn harvest(self) -> tantivy::Result<Vec<Counts>> {
        self.0.into_iter().map(Counter::into_counts).collect()
    }
}

/// Returns how many values a column has. Each takes a byte at least, whatever a damaged file claims.
fn n_terms(columns: &FastFieldReaders, field: Field, column: &StrColumn) -> tantivy::Result<usize> {
    let name = value_column(field);
    let n_bytes = columns.column_num_bytes(&name)?.get_bytes();
    match column.num_terms() {
        n_terms if n_terms as u64 <= n_bytes => Ok(n_terms),
        _ => Err(DataCorruption::comment_only(format!(
            "the column {name} claims more values than it has bytes"
        ))
        .into()),
    }
}

/// Counts the hits of one segment for one facet.
enum Counter {
    /// By number of the value in the segment.
    Texts(StrColumn, Vec<u64>),
    Numbers(Column<i64>, BTreeMap<i64, u64>),
    Ranges(Column<i64>, Vec<i64>, Vec<u64>),
    /// The segment has no such column.
    Nothing,
}

impl Counter {
    fn open(segment: &SegmentReader, by: &FacetBy) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(match by {
            FacetBy::Ranges(field, bounds) => {
                let column = columns.i64(field.name())?;
                Self::Ranges(column, bounds.clone(), vec![0; bounds.len()])
            }
            FacetBy::Values(field) if field.is_number() => {
                Self::Numbers(columns.i64(field.name())?, BTreeMap::new())
            }
            FacetBy::Values(field) if !field.has_column() => Self::Nothing,
            FacetBy::Values(field) => match columns.str(&value_column(*field))? {
                Some(column) => {
                    let counts = vec![0; n_terms(columns, *field, &column)?];
                    Self::Texts(column, counts)
                }
                None => Self::Nothing,
            },
        })
    }

    fn count(&mut self, doc: DocId) {
        match self {
            Self::Texts(column, counts) => {
                for value in column.ords().values_for_doc(doc) {
                    if let Some(count) = counts.get_mut(value as usize) {
                        *count += 1;
                    }
                }
            }
            Self::Numbers(column, counts) => {
                for value in column.values_for_doc(doc) {
                    *counts.entry(value).or_default() += 1;
                }
            }
            Self::Ranges(column, bounds, counts) => {
                let Some(value) = column.first(doc) else {
                    return;
                };
                let range = bounds.partition_point(|bound| *bound <= value);
                if let Some(range) = range.checked_sub(1) {
                    counts[range] += 1;
                }
            }
            Self::Nothing => {}
        }
    }

    fn into_counts(self) -> tantivy::Result<Counts> {
        Ok(match self {
            Self::Texts(column, counts) => Counts::Texts(texts(&column, &counts)?),
            Self::Numbers(_, counts) => Counts::Numbers(counts),
            Self::Ranges(_, bounds, counts) => {
                let counted = bounds.into_iter().zip(counts);
                Counts::Numbers(counted.filter(|(_, count)| *count > 0).collect())
            }
            Self::Nothing => Counts::Texts(BTreeMap::new()),
        })
    }
}

/// Returns the counted values of a column.
fn texts(column: &StrColumn, counts: &[u64]) -> tantivy::Result<BTreeMap<String, u64>> {
    let counted = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let numbers: Vec<u64> = counted().map(|(number, _)| number as u64).collect();
    let mut values = Vec::with_capacity(numbers.len());
    column
        .dictionary()
        .sorted_ords_to_term_cb(&numbers, |value| {
            values.push(String::from_utf8_lossy(value).into_owned());
        })?;
    Ok(values
        .into_iter()
        .zip(counted().map(|(_, count)| *count))
        .collect())
}
