//! Reading: a commit that is open, and what it is asked.

pub(crate) mod documents;
mod files;
mod follow;
mod mail;
mod places;
mod snapshot;
mod source;
mod terms;

pub use follow::Reader;
pub use snapshot::Snapshot;
