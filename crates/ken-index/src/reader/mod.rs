//! Reading: a commit that is open, and what it is asked.

mod documents;
mod follow;
mod open;
mod snapshot;

pub use follow::Reader;
pub(crate) use open::{Access, open_engine};
pub use snapshot::{Snapshot, Statistics, Stored};
