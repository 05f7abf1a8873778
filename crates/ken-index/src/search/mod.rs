//! Answering a request on a snapshot: which documents, in which order, how many.

mod boost;
mod collapse;
mod explain;
mod request;

use std::sync::Arc;

use ken_core::{Field, Order, SortKey};
use ken_engine::{Boosts, DocAddress as Address, Hit, Limits, Request, Response};
use tantivy::collector::sort_key::{
    SortByBytes, SortBySimilarityScore, SortByStaticFastValue, SortByString,
};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{EnableScoring, Query};
use tantivy::{DocAddress, Order as EngineOrder, Score, Searcher};

pub(crate) use self::explain::explained;
pub(crate) use self::request::query;

use self::boost::{BEST, boost};
use crate::collector::best;
use crate::doc_address::AddressParts;
use crate::limits::reached;
use crate::parallel;
use crate::query::{Scoring, WordsQuery};
use crate::schema::{LOCATION, value_column};

/// Answers a request; see [`crate::Snapshot::find`].
pub(crate) fn run(
    searcher: &Searcher,
    scoring: &Arc<Scoring>,
    request: &Request<'_>,
) -> tantivy::Result<Response> {
    let run = Run {
        searcher,
        scoring,
        query: query(request, scoring),
        order: request.order,
        now: request.now,
        counted: request.counted,
        limits: request.limits.map(|limits| &**limits),
    };
    match request.collapse {
        Some(collapse) => collapse::run(&run, collapse, request.offset, request.limit),
        None => run.page(request.offset, request.limit),
    }
}

/// A request in the engine's words.
pub(crate) struct Run<'a> {
    pub(crate) searcher: &'a Searcher,
    scoring: &'a Scoring,
    pub(crate) query: Box<dyn Query>,
    pub(crate) order: Order,
    now: Option<i64>,
    counted: bool,
    pub(crate) limits: Option<&'a Limits>,
}

impl Run<'_> {
    /// Returns the hits of a page, and how many there are in all.
    pub(crate) fn page(&self, offset: usize, limit: usize) -> tantivy::Result<Response> {
        let (searcher, query, limits) = (self.searcher, &*self.query, self.limits);
        let n_docs = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX);
        // The collector allocates for its limit: never for more than there can be.
        let limit = limit.min(n_docs.saturating_sub(offset));
        let (total, hits) = if limit == 0 {
            (
                parallel::search(searcher, query, &Count, limits)?,
                Vec::new(),
            )
        } else {
            let top = TopDocs::with_limit(limit).and_offset(offset);
            let Order { key, reverse } = self.order;
            match key {
                SortKey::Relevance if reverse => by_score_upwards(searcher, query, top, limits)?,
                SortKey::Relevance => self.by_score(offset, limit)?,
                SortKey::Path => by_path(searcher, query, top, direction(!reverse), limits)?,
                SortKey::Field(field) if !field.has_column() => {
                    by_path(searcher, query, top, EngineOrder::Asc, limits)?
                }
                SortKey::Field(field) if field.is_number() => {
                    by_number(searcher, query, top, (field, direction(reverse)), limits)?
                }
                SortKey::Field(field) => {
                    by_text(searcher, query, top, (field, direction(!reverse)), limits)?
                }
            }
        };
        Ok(Response {
            total,
            groups: total,
            hits,
            complete: self.is_complete(),
        })
    }

    /// Returns whether no limit was reached so far.
    pub(crate) fn is_complete(&self) -> bool {
        !self.limits.is_some_and(Limits::ended_early)
    }

    /// Returns the hits for the best documents, which are in order, with their boosts.
    pub(crate) fn boosted(&self, found: Vec<(Score, DocAddress)>) -> tantivy::Result<Vec<Hit>> {
        let hits = found.into_iter().map(|(score, at)| hit(at, Some(score)));
        let mut hits: Vec<Hit> = hits.collect();
        boost(
            &mut hits,
            &*self.query,
            self.searcher,
            self.scoring,
            self.now,
        )?;
        Ok(hits)
    }

    /// Returns the path of a document, with the way inside.
    pub(crate) fn path(&self, at: DocAddress) -> tantivy::Result<Vec<u8>> {
        let segment = self.searcher.segment_reader(at.segment_ord);
        let mut path = Vec::new();
        if let Some(paths) = segment.fast_fields().bytes(LOCATION)?
            && let Some(number) = paths.ords().first(at.doc_id)
        {
            paths.ord_to_bytes(number, &mut path)?;
        }
        Ok(path)
    }

    /// The first pass may skip whole blocks that cannot reach the top, the second only counts. One pass with both would
    /// skip nothing. Terms are looked up once for both.
    fn in_two_passes(&self, limit: usize) -> tantivy::Result<(usize, Vec<(Score, DocAddress)>)> {
        let (searcher, limits) = (self.searcher, self.limits);
        let weight = self
            .query
            .weight(EnableScoring::enabled_from_searcher(searcher))?;
        let found = best(searcher, &*weight, limit, limits)?;
        if !self.counted {
            return Ok((found.len(), found));
        }
        let counts = parallel::over(searcher.segment_readers(), |_, segment| {
            match reached(limits) {
                true => Ok(0),
                false => Ok(weight.count(segment)? as usize),
            }
        })?;
        // A limit may have ended the count before the hits that are found.
        let total: usize = counts.into_iter().sum();
        Ok((total.max(found.len()), found))
    }

    fn by_score(&self, offset: usize, limit: usize) -> Page {
        let (searcher, query) = (self.searcher, &*self.query);
        let end = offset.saturating_add(limit);
        let (total, found) = match query.downcast_ref::<WordsQuery>() {
            Some(words) => words.best(searcher, end.max(BEST), self.counted)?,
            None => self.in_two_passes(end.max(BEST))?,
        };
        let mut hits = self.boosted(found)?;
        hits.truncate(end);
        hits.drain(..offset.min(hits.len()));
        Ok((total, hits))
    }
}

fn direction(upwards: bool) -> EngineOrder {
    if upwards {
        EngineOrder::Asc
    } else {
        EngineOrder::Desc
    }
}

type Page = tantivy::Result<(usize, Vec<Hit>)>;

fn hit(at: DocAddress, score: Option<f32>) -> Hit {
    Hit {
        address: Address::of_engine(at),
        score,
        more: 0,
        boosts: Boosts::default(),
    }
}

fn by_score_upwards(
    searcher: &Searcher,
    query: &dyn Query,
    top: TopDocs,
    limits: Option<&Limits>,
) -> Page {
    let by_path = SortByBytes::for_field(LOCATION);
    let keys = (
        (SortBySimilarityScore, EngineOrder::Asc),
        (by_path, EngineOrder::Asc),
    );
    let (total, found) = parallel::search(searcher, query, &(Count, top.order_by(keys)), limits)?;
    let hits = found.into_iter();
    let hits = hits.map(|((score, _), at)| hit(at, Some(score)));
    Ok((total, hits.collect()))
}

/// Documents without a value come last in both directions: the engine's orders see to it.
fn by_number(
    searcher: &Searcher,
    query: &dyn Query,
    top: TopDocs,
    (field, order): (Field, EngineOrder),
    limits: Option<&Limits>,
) -> Page {
    let key = SortByStaticFastValue::<i64>::for_field(value_column(field));
    let by_path = SortByBytes::for_field(LOCATION);
    let keys = ((key, order), (by_path, EngineOrder::Asc));
    let (total, found) = parallel::search(searcher, query, &(Count, top.order_by(keys)), limits)?;
    Ok((total, hits(found)))
}

fn by_text(
    searcher: &Searcher,
    query: &dyn Query,
    top: TopDocs,
    (field, order): (Field, EngineOrder),
    limits: Option<&Limits>,
) -> Page {
    let key = SortByString::for_field(value_column(field));
    let by_path = SortByBytes::for_field(LOCATION);
    // Generated names are in no column: their order is that of their paths.
    let order_of_paths = match field {
        Field::Filename => order,
        _ => EngineOrder::Asc,
    };
    let keys = ((key, order), (by_path, order_of_paths));
    let (total, found) = parallel::search(searcher, query, &(Count, top.order_by(keys)), limits)?;
    Ok((total, hits(found)))
}

fn by_path(
    searcher: &Searcher,
    query: &dyn Query,
    top: TopDocs,
    order: EngineOrder,
    limits: Option<&Limits>,
) -> Page {
    let key = SortByBytes::for_field(LOCATION);
    let (total, found) = parallel::search(
        searcher,
        query,
        &(Count, top.order_by((key, order))),
        limits,
    )?;
    Ok((total, hits(found)))
}

fn hits<K>(found: Vec<(K, DocAddress)>) -> Vec<Hit> {
    found.into_iter().map(|(_, at)| hit(at, None)).collect()
}
