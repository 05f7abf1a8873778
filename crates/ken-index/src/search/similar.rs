//! Near copies take one place among the best hits: versions of a contract, copies of a licence.
//!
//! Being near is no equivalence, so each hit is compared with those before it: only the best hits, and more of them until
//! the page is full. A page therefore continues the one before it, whatever their sizes. Groups are counted if there are
//! few hits, which are then all compared. Otherwise each hit counts, so that the number is the same on each page.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ken_core::Field;
use ken_engine::{Hit, Response};
use tantivy::DocId;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;

use super::Run;
use super::boost::BEST;
use crate::columns::sketch::are_near;
use crate::doc_address::AddressParts;
use crate::schema::{CONTENT, SKETCH};

/// The maximum number of hits that are compared; all others stay as they are.
const MOST: usize = 2_000;
/// The maximum number of hits of which groups are counted: comparing so many takes about two milliseconds.
const COUNTED: usize = 1_000;

/// Runs a request.
pub(crate) fn run(run: &Run<'_>, offset: usize, limit: usize) -> tantivy::Result<Response> {
    let end = offset.saturating_add(limit);
    let mut n_compared = BEST.max(end).min(MOST);
    loop {
        // If all are compared that may be, so many that the page is full even if they are copies of one.
        let n_more = if n_compared == MOST { end } else { 0 };
        let mut page = run.page(0, n_compared.saturating_add(n_more))?;
        let is_counted = run.counted && page.total <= COUNTED;
        if is_counted && n_compared < page.total {
            n_compared = COUNTED;
            continue;
        }
        let rest = page.hits.split_off(page.hits.len().min(n_compared));
        let n_found = page.hits.len();
        let mut hits = first_of_each(page.hits, run)?;
        let is_full = hits.len() >= end || n_found < n_compared || n_compared == MOST;
        if !is_full {
            n_compared = n_compared.saturating_mul(4).min(MOST);
            continue;
        }
        let n_copies = if is_counted { n_found - hits.len() } else { 0 };
        hits.extend(rest);
        hits.truncate(end);
        hits.drain(..offset.min(hits.len()));
        return Ok(Response {
            total: page.total,
            groups: page.total.saturating_sub(n_copies),
            hits,
            complete: page.complete,
        });
    }
}

/// The columns of a segment by which copies are recognised.
struct Columns {
    contents: Column<u64>,
    sketches: Column<u64>,
    lengths: FieldNormReader,
}

/// The sketch of a text and its approximate length in terms.
#[derive(Clone, Copy)]
struct Sketched {
    sketch: u64,
    length: u32,
}

impl Sketched {
    fn is_near(self, other: Self) -> bool {
        are_near(self.sketch, other.sketch, self.length.min(other.length))
    }
}

impl Columns {
    fn open(run: &Run<'_>, segment: u32) -> tantivy::Result<Self> {
        let reader = run.searcher.segment_reader(segment);
        let columns = reader.fast_fields();
        Ok(Self {
            contents: columns.u64(CONTENT)?,
            sketches: columns.u64(SKETCH)?,
            lengths: reader.get_fieldnorms_reader(run.scoring.columns.of(Field::Body))?,
        })
    }

    fn sketch(&self, doc: DocId) -> Option<Sketched> {
        Some(Sketched {
            sketch: self.sketches.first(doc)?,
            length: self.lengths.fieldnorm(doc),
        })
    }
}

/// Returns the hits without those that are near copies of an earlier one, which count there.
fn first_of_each(all: Vec<Hit>, run: &Run<'_>) -> tantivy::Result<Vec<Hit>> {
    let mut columns: HashMap<u32, Columns> = HashMap::new();
    let mut hits: Vec<Hit> = Vec::with_capacity(all.len());
    let mut by_content: HashMap<u64, usize> = HashMap::new();
    let mut sketches: Vec<(Sketched, usize)> = Vec::new();
    for hit in all {
        let segment = hit.address.segment();
        let columns = match columns.entry(segment) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Columns::open(run, segment)?),
        };
        let doc = hit.address.doc();
        let content = columns.contents.first(doc);
        let sketch = columns.sketch(doc);
        let same = content.and_then(|content| by_content.get(&content));
        let near = |sketch: Sketched| sketches.iter().find(|(other, _)| sketch.is_near(*other));
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
