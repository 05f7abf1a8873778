//! Requests to a source, and the responses.

use std::sync::Arc;

use ken_core::{Field, Order, Plan};

use crate::{DocAddress, Limits};

/// Which documents belong together: the answer shows one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collapse {
    /// Documents with the same content.
    Content,
    /// Documents of the same content or nearly the same text, among the best hits. Those further behind are not compared,
    /// and groups are counted only if there are few hits.
    Similar,
    /// All documents of a file.
    File,
    /// A message with its parts; outside messages, all documents of a file.
    Message,
}

/// The property by which hits are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacetBy {
    /// By each value of a field. A document with several values counts for each.
    Values(Field),
    /// By ranges of a field of numbers. Each range goes from one of these to the next, and the last has no end. The
    /// numbers must be sorted. A document whose number is less than the first is not counted.
    Ranges(Field, Vec<i64>),
}

/// A request to a source.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The plan that documents must match.
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
    /// The number of hits to skip at the start.
    pub offset: usize,
    /// The maximum number of hits to return.
    pub limit: usize,
    /// Whether [`Response::total`] must be right. If not, the engine may skip documents that cannot be among the best.
    pub counted: bool,
    /// The limits at which the search ends early; absent for none.
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
    /// The part for words that are close together.
    pub proximity: f32,
    /// The part for recent documents.
    pub recency: f32,
    /// For being bulk mail or written by a program; not above 0.
    pub bulk: f32,
}

/// A document that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub address: DocAddress,
    /// Its score; absent if the order is not by relevance.
    pub score: Option<f32>,
    /// The parts of its score that do not come from words.
    pub boosts: Boosts,
    /// The number of other hits that this one stands for; see [`Request::collapse`].
    pub more: usize,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The number of documents that the request finds. Without [`Request::counted`] there may be more if this number is
    /// not less than the end of the page.
    pub total: usize,
    /// The number of hits on all pages, which is lower than that of documents if hits are collapsed.
    pub groups: usize,
    /// The hits of the requested page, in order.
    pub hits: Vec<Hit>,
    /// False if a limit ([`Request::limits`]) ended the search early: then there may be more and better hits.
    pub complete: bool,
}
