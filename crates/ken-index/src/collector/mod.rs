//! Collectors, which process the documents that a query finds.
//!
//! [`top`] keeps the best documents, [`groups`] counts those that belong together, [`facets`]
//! counts by value.

pub(crate) mod facets;
pub(crate) mod groups;
mod top;

pub(crate) use top::{Best, BestOfSegment, best};
