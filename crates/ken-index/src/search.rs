//! Running a plan on a snapshot: which documents, in which order, how many.

use ken_core::{Order, Plan, SortKey};
use tantivy::collector::sort_key::{SortByBytes, SortByStaticFastValue};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::Query;
use tantivy::{DocAddress, Order as EngineOrder, Searcher};

use crate::query;
use crate::schema::{Columns, LOCATION};

/// Where a document stands in one snapshot; of no use in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
}

/// A document that a plan found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Where it stands.
    pub address: Address,
    /// Its score; absent where the order is not by relevance.
    pub score: Option<f32>,
}

/// What a plan found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many documents in all.
    pub total: usize,
    /// Those of the page asked for, in order.
    pub hits: Vec<Hit>,
}

/// Runs a plan; see [`crate::Snapshot::run`].
pub(crate) fn run(
    searcher: &Searcher,
    columns: &Columns,
    plan: &Plan,
    order: Order,
    offset: usize,
    limit: usize,
) -> tantivy::Result<Found> {
    let query = query::build(columns, plan);
    let n_docs = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX);
    // The collector allocates for its limit: never for more than there can be.
    let limit = limit.min(n_docs.saturating_sub(offset));
    if limit == 0 {
        let total = searcher.search(&query, &Count)?;
        return Ok(Found {
            total,
            hits: Vec::new(),
        });
    }
    let top = TopDocs::with_limit(limit).and_offset(offset);
    let (total, hits) = match (order.key, order.reverse) {
        (SortKey::Relevance, false) => by_score(searcher, &query, top)?,
        (SortKey::Relevance, true) => by_score_upwards(searcher, &query, top)?,
        (SortKey::Date, reverse) => by_number(searcher, &query, top, "date", reverse)?,
        (SortKey::Size, reverse) => by_number(searcher, &query, top, "size", reverse)?,
        (SortKey::Path, reverse) => by_path(searcher, &query, top, reverse)?,
    };
    Ok(Found { total, hits })
}

type Page = tantivy::Result<(usize, Vec<Hit>)>;

fn hit(at: DocAddress, score: Option<f32>) -> Hit {
    Hit {
        address: Address {
            segment: at.segment_ord,
            doc: at.doc_id,
        },
        score,
    }
}

fn by_score(searcher: &Searcher, query: &dyn Query, top: TopDocs) -> Page {
    // Two passes: the first may skip whole blocks that cannot reach the top, the second only
    // counts. One pass with both would skip nothing.
    let found = searcher.search(query, &top.order_by_score())?;
    let total = searcher.search(query, &Count)?;
    let hits = found.into_iter().map(|(score, at)| hit(at, Some(score)));
    Ok((total, hits.collect()))
}

fn by_score_upwards(searcher: &Searcher, query: &dyn Query, top: TopDocs) -> Page {
    let key = tantivy::collector::sort_key::SortBySimilarityScore;
    let (total, found) = searcher.search(query, &(Count, top.order_by((key, EngineOrder::Asc))))?;
    let hits = found.into_iter().map(|(score, at)| hit(at, Some(score)));
    Ok((total, hits.collect()))
}

fn by_number(
    searcher: &Searcher,
    query: &dyn Query,
    top: TopDocs,
    column: &str,
    reverse: bool,
) -> Page {
    let order = if reverse {
        EngineOrder::Asc
    } else {
        EngineOrder::Desc
    };
    let key = SortByStaticFastValue::<i64>::for_field(column);
    let by_path = SortByBytes::for_field(LOCATION);
    let keys = ((key, order), (by_path, EngineOrder::Asc));
    let (total, found) = searcher.search(query, &(Count, top.order_by(keys)))?;
    Ok((
        total,
        found.into_iter().map(|(_, at)| hit(at, None)).collect(),
    ))
}

fn by_path(searcher: &Searcher, query: &dyn Query, top: TopDocs, reverse: bool) -> Page {
    let order = if reverse {
        EngineOrder::Desc
    } else {
        EngineOrder::Asc
    };
    let key = SortByBytes::for_field(LOCATION);
    let (total, found) = searcher.search(query, &(Count, top.order_by((key, order))))?;
    Ok((
        total,
        found.into_iter().map(|(_, at)| hit(at, None)).collect(),
    ))
}
