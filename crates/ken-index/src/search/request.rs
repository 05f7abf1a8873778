//! What is asked of a snapshot.

use std::sync::Arc;

use ken_core::{Order, Plan};
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query};

use crate::DocAddress;
use crate::collector::Collapse;
use crate::limits::Limits;
use crate::query::{self, Scoring, Selection};

/// What is asked of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What documents must be like.
    pub plan: &'a Plan,
    /// Only these are looked at, if given.
    pub only: Option<&'a [DocAddress]>,
    /// These are not found.
    pub without: &'a [DocAddress],
    /// Of hits that belong together one is shown: the first in the order.
    pub collapse: Option<Collapse>,
    /// The order of the hits.
    pub order: Order,
    /// The time that it is, in seconds from 1970: newer documents count a little more, if it is given.
    pub now: Option<i64>,
    /// Hits that are left out at the start.
    pub offset: usize,
    /// Hits that are returned at most.
    pub limit: usize,
    /// Whether [`super::Response::total`] is asked for: without it documents that cannot be among the best are not looked at.
    pub counted: bool,
    /// When the search ends early; never if absent.
    pub limits: Option<&'a Arc<Limits>>,
}

impl<'a> Request<'a> {
    /// Returns the request for all that a plan finds, best first.
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            only: None,
            without: &[],
            collapse: None,
            order: Order::default(),
            now: None,
            offset: 0,
            limit: usize::MAX,
            counted: true,
            limits: None,
        }
    }

    /// Returns the engine's query for it.
    pub(crate) fn query(&self, scoring: &Arc<Scoring>) -> Box<dyn Query> {
        let query = match self.limits {
            Some(limits) => query::build(&Arc::new(scoring.limited(limits)), self.plan),
            None => query::build(scoring, self.plan),
        };
        if self.only.is_none() && self.without.is_empty() {
            return query;
        }
        let mut clauses = vec![(Occur::Must, query)];
        if let Some(only) = self.only {
            let only = Box::new(Selection(only.to_vec()));
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(only, 0.0))));
        }
        if !self.without.is_empty() {
            let without = Box::new(Selection(self.without.to_vec()));
            clauses.push((Occur::MustNot, without));
        }
        Box::new(BooleanQuery::new(clauses))
    }
}
