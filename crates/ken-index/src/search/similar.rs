//! Near copies take one place among the best hits: versions of a contract, copies of a licence.
//!
//! Being near is no equivalence, so there is no number of groups over all hits. Only the best hits are compared, each with
//! those before it, and more of them until the page is full. A page therefore continues the one before it, whatever their
//! sizes.

use std::collections::HashMap;

use ken_engine::{Hit, Response};
use tantivy::Searcher;
use tantivy::columnar::Column;

use super::Run;
use super::boost::BEST;
use crate::columns::sketch::are_near;
use crate::doc_address::AddressParts;
use crate::schema::{CONTENT, SKETCH};

/// The maximum number of hits that are compared; all others stay as they are.
const MOST: usize = 2_000;

/// Runs a request.
pub(crate) fn run(run: &Run<'_>, offset: usize, limit: usize) -> tantivy::Result<Response> {
    let end = offset.saturating_add(limit);
    let mut n_compared = BEST.max(end).min(MOST);
    loop {
        // If all are compared that may be, so many that the page is full even if they are copies of one.
        let n_more = if n_compared == MOST { end } else { 0 };
        let mut page = run.page(0, n_compared.saturating_add(n_more))?;
        let rest = page.hits.split_off(page.hits.len().min(n_compared));
        let n_found = page.hits.len();
        let mut hits = first_of_each(page.hits, run.searcher)?;
        let is_full = hits.len() >= end || n_found < n_compared || n_compared == MOST;
        if !is_full {
            n_compared = n_compared.saturating_mul(4).min(MOST);
            continue;
        }
        let n_copies = n_found - hits.len();
        hits.extend(rest);
        hits.truncate(end);
        hits.drain(..offset.min(hits.len()));
        return Ok(Response {
            total: page.total,
            groups: page.total - n_copies,
            hits,
            complete: page.complete,
        });
    }
}

/// The columns of a segment by which copies are recognised.
struct Columns {
    contents: Column<u64>,
    sketches: Column<u64>,
}

impl Columns {
    fn open(searcher: &Searcher, segment: u32) -> tantivy::Result<Self> {
        let columns = searcher.segment_reader(segment).fast_fields();
        Ok(Self {
            contents: columns.u64(CONTENT)?,
            sketches: columns.u64(SKETCH)?,
        })
    }
}

/// Returns the hits without those that are near copies of an earlier one, which count there.
fn first_of_each(all: Vec<Hit>, searcher: &Searcher) -> tantivy::Result<Vec<Hit>> {
    let mut columns: HashMap<u32, Columns> = HashMap::new();
    let mut hits: Vec<Hit> = Vec::with_capacity(all.len());
    let mut by_content: HashMap<u64, usize> = HashMap::new();
    let mut sketches: Vec<(u64, usize)> = Vec::new();
    for hit in all {
        let segment = hit.address.segment();
        if !columns.contains_key(&segment) {
            columns.insert(segment, Columns::open(searcher, segment)?);
        }
        let doc = hit.address.doc();
        let content = columns[&segment].contents.first(doc);
        let sketch = columns[&segment].sketches.first(doc);
        let same = content.and_then(|content| by_content.get(&content));
        let near = |sketch| sketches.iter().find(|(other, _)| are_near(sketch, *other));
        let first = same.copied().or_else(|| Some(near(sketch?)?.1));
        if let Some(content) = content {
            by_content
                .entry(content)
                .or_insert(first.unwrap_or(hits.len()));
        }
        match first {
            Some(first) => hits[first].more += 1,
            None => {
                sketches.extend(sketch.map(|sketch| (sketch, hits.len())));
                hits.push(hit);
            }
        }
    }
    Ok(hits)
}
