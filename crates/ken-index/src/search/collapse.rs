//! Shows one of several hits that belong together: duplicates, parts of a file, or parts of a message.
//!
//! A first pass counts the groups ([`crate::collector::groups`]). Then the hits are taken in order, more of them until
//! there are enough groups.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use ken_core::Order;
use ken_engine::{Collapse, Hit, Response};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocAddress, DocId, Score, SegmentReader};

use super::Run;
use super::boost::BEST;
use crate::collector::groups::{GroupKey, Grouping, Groups};
use crate::collector::{Best, BestOfSegment};
use crate::doc_address::AddressParts;
use crate::limits::reached;
use crate::parallel;
use crate::schema::LOCATION;

/// If groups have more hits than this on average, the best of each is looked for in one pass over
/// all hits: the first hits may all be of a few groups.
const LARGE: usize = 8;

/// Runs a request that collapses.
pub(crate) fn run(
    run: &Run<'_>,
    collapse: Collapse,
    offset: usize,
    limit: usize,
) -> tantivy::Result<Response> {
    let searcher = run.searcher;
    let groups = parallel::search(searcher, &*run.query, &Grouping(collapse), run.limits)?;
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
    Ok(Response {
        total: groups.total,
        groups: groups.n_groups,
        hits,
        complete: run.is_complete(),
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
    parallel::over(run.searcher.segment_readers(), |number, segment| {
        if reached(run.limits) {
            return Ok(());
        }
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
        let key = &keys[hit.address.segment() as usize];
        match key.of(hit.address.doc()) {
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
