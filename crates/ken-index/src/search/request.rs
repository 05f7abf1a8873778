//! The engine's query for a request.

use std::sync::Arc;

use ken_engine::Request;
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query};

use crate::query::{self, Scoring, Selection};

/// Returns the engine's query for a request.
pub(crate) fn query(request: &Request<'_>, scoring: &Arc<Scoring>) -> Box<dyn Query> {
    let query = match request.limits {
        Some(limits) => query::build(&Arc::new(scoring.limited(limits)), request.plan),
        None => query::build(scoring, request.plan),
    };
    if request.only.is_none() && request.without.is_empty() {
        return query;
    }
    let mut clauses = vec![(Occur::Must, query)];
    if let Some(only) = request.only {
        let only = Box::new(Selection(only.to_vec()));
        clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(only, 0.0))));
    }
    if !request.without.is_empty() {
        let without = Box::new(Selection(request.without.to_vec()));
        clauses.push((Occur::MustNot, without));
    }
    Box::new(BooleanQuery::new(clauses))
}
