//! Near copies take one place among the best hits: versions of a contract, copies of a licence.
//!
//! Being near is no equivalence, so there is no number of groups over all hits. Only the best hits are compared, each with
//! those before it; all others stay as they are. How many are compared does not depend on the page, so pages fit together.

use std::collections::HashMap;

use ken_engine::{Hit, Response};
use tantivy::Searcher;
use tantivy::columnar::Column;

use super::Run;
use crate::columns::sketch::are_near;
use crate::doc_address::AddressParts;
use crate::schema::{CONTENT, SKETCH};

/// How many hits are compared.
const COMPARED: usize = 500;

/// Runs a request.
pub(crate) fn run(run: &Run<'_>, offset: usize, limit: usize) -> tantivy::Result<Response> {
    let end = offset.saturating_add(limit);
    // So many that there are enough even if all that are compared are copies of one.
    let mut page = run.page(0, end.saturating_add(COMPARED))?;
    let rest = page.hits.split_off(page.hits.len().min(COMPARED));
    let n_compared = page.hits.len();
    let mut hits = first_of_each(page.hits, run.searcher)?;
    let n_copies = n_compared - hits.len();
    hits.extend(rest);
    hits.truncate(end);
    hits.drain(..offset.min(hits.len()));
    Ok(Response {
        total: page.total,
        groups: page.total - n_copies,
        hits,
        complete: page.complete,
    })
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
            by_content.entry(content).or_insert(first.unwrap_or(hits.len()));
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
