//! Finds every match in one document, or in a file with all its members.

use std::path::Path;
use std::sync::Arc;

use ken_core::{Field, Location, Plan};
use ken_engine::{Limits, Request};

use super::answer::MAX_UNPACKERS;
use super::natural::in_order;
use super::{Error, MatchIn, Query, Service, reached};
use crate::snippet::{self, Finder};

/// The characters of text around a match.
const LENGTH: usize = 120;
/// The matches that are handed on before limits are asked for again.
const MATCHES_AT_ONCE: usize = 64;

/// A result of searching in a document that was named.
pub enum Inside<'a> {
    /// A document that matches; its matches follow. There are none if only its other fields match.
    Document(&'a Location),
    /// A match in the last document.
    Match(MatchIn),
}

impl Service<'_> {
    /// Calls `each` with every matching document below an address, followed by its first matches. `limit` bounds the
    /// matches of all documents. Returns whether any document matches. Once the limits of the query are reached, the
    /// other documents are left out: see [`Query::is_complete`].
    ///
    /// # Errors
    /// Fails if the index does not have the document or cannot be read, or if `each` fails.
    pub fn each_match<E: From<Error>>(
        &self,
        query: &Query,
        named: &Path,
        limit: Option<usize>,
        each: &mut dyn FnMut(Inside<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let limits = query.limits.as_ref();
        let plan = self.snapshot.expand(&query.plan, limits);
        let plan = plan.map_err(Error::from)?;
        let documents = self.matching(&plan, named, limits)?;
        let matchers = snippet::matchers(&plan, Field::Body);
        let finder = Finder::new(matchers, self.context.analyze);
        let mut left = limit.unwrap_or(usize::MAX);
        for (_, address) in &documents {
            if left == 0 || reached(limits) {
                break;
            }
            let stored = self.snapshot.document_by(*address, MAX_UNPACKERS);
            let stored = stored.map_err(Error::from)?;
            let location = &stored.location;
            each(Inside::Document(location))?;
            let mut result = Ok(());
            let is_over = || reached(limits);
            finder.all(&stored.document.body, LENGTH, &is_over, &mut |passage| {
                let location = location.clone();
                result = each(Inside::Match(MatchIn { location, passage }));
                left -= 1;
                let is_over = left.is_multiple_of(MATCHES_AT_ONCE) && is_over();
                result.is_ok() && left > 0 && !is_over
            });
            result?;
        }
        Ok(!documents.is_empty())
    }

    /// Returns the matching documents below an address, with members in the order of their numbers.
    fn matching(
        &self,
        plan: &Plan,
        named: &Path,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<(Location, ken_engine::DocAddress)>, Error> {
        let target = self.target(named)?;
        let request = Request {
            only: Some(&target.addresses),
            limits,
            ..Request::new(plan)
        };
        let mut documents = Vec::new();
        for hit in self.snapshot.find(&request)?.hits {
            documents.push((self.snapshot.location(hit.address)?, hit.address));
        }
        documents.sort_by(|(a, _), (b, _)| in_order(a.ipath.as_str(), b.ipath.as_str()));
        Ok(documents)
    }
}
