//! What the best documents of a query get beside the scores of their words: for words that stand
//! close together, for being new, and less for bulk mail and files that a program wrote. All are mild,
//! and only decide among the good.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ken_core::Field;
use ken_engine::{Boosts, Hit};
use tantivy::query::Query;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, Term};

use crate::doc_address::AddressParts;
use crate::query::{Proximity, Scoring};
use crate::schema::value_column;

/// The number of documents that may get a boost: few people read on, and reading positions is expensive.
pub(crate) const BEST: usize = 100;

/// The states of bulk mail and of files that a program wrote.
const BULK: [&str; 2] = ["bulk", "generated"];

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
    if scoring.ranking.bulk > 0.0 {
        add_bulk(best, searcher, scoring)?;
    }
    if let Some(now) = now.filter(|_| scoring.ranking.recency > 0.0) {
        add_recency(best, searcher, scoring, now)?;
    }
    for hit in &mut *best {
        let Boosts {
            proximity,
            recency,
            bulk,
        } = hit.boosts;
        hit.score = hit.score.map(|score| score + proximity + recency + bulk);
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
    for (segment, hits) in by_segment(best) {
        let docs: Vec<DocId> = hits.iter().map(|(doc, _)| *doc).collect();
        let scores = proximity.scores(searcher.segment_reader(segment), &docs)?;
        for ((_, hit), score) in hits.into_iter().zip(scores) {
            hit.boosts.proximity = score;
        }
    }
    Ok(())
}

/// A share of the score less for documents in one of the states.
fn add_bulk(best: &mut [Hit], searcher: &Searcher, scoring: &Scoring) -> tantivy::Result<()> {
    let column = scoring.columns.of(Field::Is);
    for (segment, mut hits) in by_segment(best) {
        let index = searcher.segment_reader(segment).inverted_index(column)?;
        for state in BULK {
            let term = Term::from_field_text(column, state);
            let Some(mut docs) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            for (doc, hit) in &mut hits {
                let here = match docs.doc() {
                    here if here < *doc => docs.seek(*doc),
                    here => here,
                };
                if here == *doc {
                    hit.boosts.bulk = -hit.score.unwrap_or(0.0) * scoring.ranking.bulk;
                }
            }
        }
    }
    Ok(())
}

/// Returns the hits in each segment, in the order of its documents.
fn by_segment(best: &mut [Hit]) -> BTreeMap<u32, Vec<(DocId, &mut Hit)>> {
    let mut by_segment: BTreeMap<u32, Vec<(DocId, &mut Hit)>> = BTreeMap::new();
    for hit in best {
        let of_segment = by_segment.entry(hit.address.segment()).or_default();
        of_segment.push((hit.address.doc(), hit));
    }
    for hits in by_segment.values_mut() {
        hits.sort_by_key(|(doc, _)| *doc);
    }
    by_segment
}

/// A share of the score that halves with the age. A date of a future day is a mistake or a lie, and adds nothing.
fn add_recency(
    best: &mut [Hit],
    searcher: &Searcher,
    scoring: &Scoring,
    now: i64,
) -> tantivy::Result<()> {
    let ranking = &scoring.ranking;
    let half_life = ranking.recency_days.max(f32::MIN_POSITIVE) * SECONDS_A_DAY;
    // The same query has the same scores all day long.
    let today = now.saturating_sub(now.rem_euclid(SECONDS_A_DAY as i64));
    let mut columns = BTreeMap::new();
    for hit in best {
        let Hit { address, score, .. } = *hit;
        let column = match columns.entry(address.segment()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let columns = searcher.segment_reader(address.segment()).fast_fields();
                entry.insert(columns.i64(&value_column(Field::Date))?)
            }
        };
        let Some(date) = column.first(address.doc()) else {
            continue;
        };
        let age = today.saturating_sub(date) as f32;
        // What was sent to many is new every day.
        if hit.boosts.bulk < 0.0 {
            continue;
        }
        // The clocks and time zones of two machines differ by less than a day.
        if date.saturating_sub(now) as f32 > SECONDS_A_DAY {
            continue;
        }
        let share = ranking.recency * (-age.max(0.0) / half_life).exp2();
        hit.boosts.recency = score.unwrap_or(0.0) * share;
    }
    Ok(())
}
