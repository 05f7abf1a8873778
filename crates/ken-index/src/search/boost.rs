//! Boosts of the best documents of a query: for words that are close together, and for recent documents.
//! Both are small, and only decide among good documents.

use std::collections::BTreeMap;

use ken_core::Field;
use ken_engine::{Boosts, Hit};
use tantivy::query::Query;
use tantivy::{DocId, Searcher};

use crate::doc_address::AddressParts;
use crate::query::{Proximity, Scoring};
use crate::schema::value_column;

/// The number of documents that may get a boost: few people read on, and reading positions is expensive.
pub(crate) const BEST: usize = 100;

const SECONDS_A_DAY: f32 = 86_400.0;

/// Adds the boosts to the scores of hits, which are in order, and puts them into the new one. Only
/// the first [`BEST`] have any.
pub(crate) fn boost(
    hits: &mut [Hit],
    query: &dyn Query,
    searcher: &Searcher,
    scoring: &Scoring,
    now: Option<i64>,
) -> tantivy::Result<()> {
    let n_best = hits.len().min(BEST);
    let best = &mut hits[..n_best];
    if scoring.ranking.proximity > 0.0 && best.len() > 1 {
        add_proximity(best, query, searcher, scoring)?;
    }
    if let Some(now) = now.filter(|_| scoring.ranking.recency > 0.0) {
        add_recency(best, searcher, scoring, now)?;
    }
    for hit in &mut *best {
        let Boosts { proximity, recency } = hit.boosts;
        hit.score = hit.score.map(|score| score + proximity + recency);
    }
    // Stable: of equals the path still decides.
    best.sort_by(|a, b| b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)));
    Ok(())
}

fn add_proximity(
    best: &mut [Hit],
    query: &dyn Query,
    searcher: &Searcher,
    scoring: &Scoring,
) -> tantivy::Result<()> {
    let Some(proximity) = Proximity::of(query, searcher, scoring)? else {
        return Ok(());
    };
    let mut by_segment: BTreeMap<u32, Vec<(DocId, &mut Hit)>> = BTreeMap::new();
    for hit in best {
        let of_segment = by_segment.entry(hit.address.segment()).or_default();
        of_segment.push((hit.address.doc(), hit));
    }
    for (segment, mut hits) in by_segment {
        hits.sort_by_key(|(doc, _)| *doc);
        let docs: Vec<DocId> = hits.iter().map(|(doc, _)| *doc).collect();
        let scores = proximity.scores(searcher.segment_reader(segment), &docs)?;
        for ((_, hit), score) in hits.into_iter().zip(scores) {
            hit.boosts.proximity = score;
        }
    }
    Ok(())
}

/// A share of the score that halves with the age.
fn add_recency(
    best: &mut [Hit],
    searcher: &Searcher,
    scoring: &Scoring,
    now: i64,
) -> tantivy::Result<()> {
    let ranking = &scoring.ranking;
    let half_life = ranking.recency_days.max(f32::MIN_POSITIVE) * SECONDS_A_DAY;
    let mut columns = BTreeMap::new();
    for hit in best {
        let Hit { address, score, .. } = *hit;
        let column = match columns.entry(address.segment()) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let columns = searcher.segment_reader(address.segment()).fast_fields();
                entry.insert(columns.i64(&value_column(Field::Date))?)
            }
        };
        let Some(date) = column.first(address.doc()) else {
            continue;
        };
        // A date in the future counts as the present.
        let age = now.saturating_sub(date).max(0) as f32;
        let share = ranking.recency * (-age / half_life).exp2();
        hit.boosts.recency = score.unwrap_or(0.0) * share;
    }
    Ok(())
}
