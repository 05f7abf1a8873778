//! Reading: a commit that is open, and what it is asked.

mod documents;
mod open;
mod snapshot;

pub(crate) use open::{Access, open_engine};
pub use snapshot::{Snapshot, Statistics, Stored};
