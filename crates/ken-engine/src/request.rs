//! What a source is asked, and what it answers.

use std::sync::Arc;

use ken_core::{Field, Order, Plan};

use crate::{DocAddress, Limits};

/// Which documents belong together: the answer shows one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collapse {
    /// Documents of the same content.
    Content,
    /// Documents of the same content or nearly the same text, among the best hits. Those further behind are not compared.
    Similar,
    /// All that is in a file.
    File,
    /// A message with its parts; outside of messages all that is in a file.
    Message,
}

/// By what hits are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacetBy {
    /// By each value of a field. A document with several values counts for each.
    Values(Field),
    /// By ranges of a field of numbers. Each range goes from one of these to the next, and the last has no end. The
    /// numbers must be sorted. A document whose number is less than the first is not counted.
    Ranges(Field, Vec<i64>),
}

/// What a source is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What documents must be like.
    pub plan: &'a Plan,
    /// Only these documents are searched, if given.
    pub only: Option<&'a [DocAddress]>,
    /// These documents are left out.
    pub without: &'a [DocAddress],
    /// Which hits belong together; the answer shows the first of them in the order.
    pub collapse: Option<Collapse>,
    /// The order of the hits.
    pub order: Order,
    /// The present time in seconds since 1970-01-01 UTC. If it is given, newer documents count a little more.
    pub now: Option<i64>,
    /// How many hits are left out at the start.
    pub offset: usize,
    /// How many hits are returned at most.
    pub limit: usize,
    /// Whether [`Response::total`] is asked for. If not, the engine may skip documents that cannot be among the best.
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
}

/// The parts of a score that do not come from words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Boosts {
    /// For words close together.
    pub proximity: f32,
    /// For being new.
    pub recency: f32,
    /// For being bulk mail or written by a program; not above 0.
    pub bulk: f32,
}

/// A document that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub address: DocAddress,
    /// Its score; absent where the order is not by relevance.
    pub score: Option<f32>,
    /// The parts of its score that do not come from words.
    pub boosts: Boosts,
    /// How many other hits it stands for; see [`Request::collapse`].
    pub more: usize,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// How many documents the request finds. Without [`Request::counted`] it may find more than this number if this
    /// number is not less than the end of the page.
    pub total: usize,
    /// How many hits there are on all pages: fewer than documents if they were collapsed.
    pub groups: usize,
    /// The hits of the page that was asked for, in order.
    pub hits: Vec<Hit>,
    /// False if a limit ([`Request::limits`]) ended the search early: then there may be more and better hits.
    pub complete: bool,
}
