//! The first step of a search: the text of a query becomes a tree, and the tree a plan.

use ken_core::{Field, Plan};

use super::complete::complete_last;
use super::{Error, Reading, Request, Service};
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
}

impl Service<'_> {
    /// Reads the query of a request.
    ///
    /// # Errors
    /// Fails if the query or a filter has a mistake, or the index cannot be read.
    pub fn understand(&self, request: &Request) -> Result<Query, Error> {
        let (mut tree, left_out) = self.tree(request)?;
        let mut n_frequent = 0;
        if request.reading == Reading::Any {
            let mut count = |term: &str| self.snapshot.terms().n_documents_with(Field::Body, term);
            (tree, n_frequent) = words::rarest(tree, self.context.analyze, &mut count)?;
        }
        let mut plan = plan(&tree, &self.context);
        if request.prefix_last {
            complete_last(self.snapshot, &request.query, &tree, &mut plan)?;
        }
        let mut query = Query {
            plan,
            tree,
            left_out,
            n_frequent,
        };
        for filter in &request.filters {
            let filter = parse_with(filter, self.names())?;
            query.narrow(filter, &self.context);
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
