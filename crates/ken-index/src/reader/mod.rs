//! Reading: a commit that is open, and what it is asked.

mod documents;
mod files;
mod follow;
mod mail;
mod open;
mod snapshot;
mod source;
mod terms;

pub use follow::Reader;
pub use open::read_meta;
pub(crate) use open::{Access, open_engine};
pub use snapshot::Snapshot;
