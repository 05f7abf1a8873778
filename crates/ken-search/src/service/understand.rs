//! The first step of a search: the text of a query becomes a tree, and the tree a plan.

use std::sync::Arc;

use ken_core::{Field, Plan};
use ken_engine::Limits;

use super::complete::complete_last;
use super::like::Similar;
use super::{Error, Reading, Request, Service, is_complete, reached};
use crate::parse::{
    LeftOut, QueryError, Syntax, Tree, parse_lenient, parse_with, recoll_words, without_forms,
};
use crate::plan::{Context, plan};
use crate::words;

/// A query as it was understood.
#[derive(Clone, Debug)]
pub struct Query {
    /// The query as a tree.
    pub tree: Tree,
    /// The tree in the terms of the index.
    pub plan: Plan,
    /// The pieces that were left out of a query with mistakes.
    pub left_out: Vec<LeftOut>,
    /// The number of words that were left out because they are in more documents than the others.
    pub n_frequent: usize,
    /// The document to which hits must be similar.
    pub(super) similar: Option<Similar>,
    /// When the search ends early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Query {
    /// Restricts the query to what a filter finds, without changing scores.
    fn narrow(&mut self, filter: Tree, context: &Context) {
        let part = match plan(&filter, context) {
            part @ Plan::Filter(_) => part,
            part => Plan::Filter(Box::new(part)),
        };
        match &mut self.plan {
            Plan::Nothing => {}
            Plan::And(parts) => parts.push(part),
            plan => *plan = Plan::And(vec![std::mem::replace(plan, Plan::All), part]),
        }
        self.tree = match std::mem::replace(&mut self.tree, Tree::All) {
            Tree::All => filter,
            tree => Tree::and(vec![tree, filter]),
        };
    }

    /// Returns whether the query asks for nothing that an index can have.
    pub fn finds_nothing(&self) -> bool {
        self.plan == Plan::Nothing
    }

    /// Returns when the search ends early.
    pub fn limits(&self) -> Option<&Arc<Limits>> {
        self.limits.as_ref()
    }

    /// Returns whether no deadline or cancellation has ended a search for the query.
    pub fn is_complete(&self) -> bool {
        is_complete(self.limits.as_ref())
    }
}

impl Service<'_> {
    /// Reads the query of a request that is still being typed: one with mistakes is read once more without them, and so is
    /// the request from then on.
    ///
    /// # Errors
    /// Fails as [`Service::understand`] does, but for mistakes in the query.
    pub fn understand_typing(&self, request: &mut Request) -> Result<Query, Error> {
        match self.understand(request) {
            Err(Error::Query(_)) if request.reading == Reading::Operators => {
                request.reading = Reading::Lenient;
                self.understand(request)
            }
            query => query,
        }
    }

    /// Reads the query of a request, and the document to which hits must be similar. The time until the deadline starts
    /// here.
    ///
    /// # Errors
    /// Fails if the query or a filter has a mistake, if the index does not have the document, or if it cannot be read.
    pub fn understand(&self, request: &Request) -> Result<Query, Error> {
        let limits = self.limits(request.deadline_ms);
        let (mut tree, left_out) = self.tree(request)?;
        let mut n_frequent = 0;
        if request.reading == Reading::Any {
            let mut count = |term: &str| match reached(limits.as_ref()) {
                true => Ok(0),
                false => self.snapshot.terms().n_documents_with(Field::Body, term),
            };
            (tree, n_frequent) = words::rarest(tree, self.context.analyze, &mut count)?;
        }
        let mut plan = plan(&tree, &self.context);
        if request.prefix_last {
            let query = (request.query.as_str(), &tree);
            complete_last(self.snapshot, query, &mut plan, limits.as_ref())?;
        }
        let mut query = Query {
            plan,
            tree,
            left_out,
            n_frequent,
            similar: None,
            limits,
        };
        for filter in &request.filters {
            let filter = parse_with(filter, self.names())?;
            query.narrow(filter, &self.context);
        }
        if let Some(like) = &request.like {
            query.similar = Some(self.similar(like, query.limits.as_ref())?);
        }
        Ok(query)
    }

    fn tree(&self, request: &Request) -> Result<(Tree, Vec<LeftOut>), QueryError> {
        let (text, analyze) = (request.query.as_str(), self.context.analyze);
        if request.reading == Reading::Lenient {
            let mut lenient = parse_lenient(text, self.names());
            return match lenient.tree {
                Some(tree) => Ok((tree, lenient.left_out)),
                None => Err(lenient.left_out.remove(0).error),
            };
        }
        let words = match request.syntax {
            Syntax::Recoll if request.reading != Reading::Operators => recoll_words(text)?,
            _ => None,
        };
        let tree = match (request.reading, words) {
            (Reading::Any, Some(parts)) => Tree::or(parts),
            (Reading::Any, None) => words::any(text, analyze)?,
            (Reading::All, Some(parts)) => Tree::and(parts),
            (Reading::All, None) => words::all(text)?,
            _ => request.syntax.parse_with(text, self.names())?,
        };
        let tree = match request.forms {
            true => tree,
            false => without_forms(tree),
        };
        Ok((tree, Vec::new()))
    }
}
