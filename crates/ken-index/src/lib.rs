//! Documents on disk: the index is the only store.
//!
//! The engine is Tantivy, and this crate is the only one that knows it. What others use is plain:
//! a [`Writer`] takes [`Record`]s and commits them; a [`Snapshot`] is one commit, read without a
//! lock while others write. Whether a file is known, its stamp, its failure, its documents and
//! the roots ([`Meta`]) are all in the same commit, so they cannot disagree.

pub mod analysis;
mod best;
mod body;
mod boost;
mod check;
mod collapse;
mod deletion;
mod dictionary;
mod directory;
mod error;
mod facets;
mod files;
mod function_words;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod links;
mod mailbox;
mod map;
mod merging;
mod meta;
mod people;
mod query;
mod record;
mod rows;
mod schema;
mod search;
mod segment;
mod selection;
mod snapshot;
pub mod spread;
mod stem;
mod stored;
mod terms;
mod value;
mod version;
mod writer;

pub use body::Body;
pub use boost::Boosts;
pub use check::{Damage, Soundness, check, drop_damaged, salvage_roots};
pub use collapse::Collapse;
pub use dictionary::{Similar, TermCount, TermList};
pub use error::Error;
pub use facets::FacetBy;
pub use mailbox::{Mailbox, MessageId, MessageOfFile};
pub use map::map;
pub use meta::Meta;
pub use people::Seen;
pub use record::{FileState, Record};
pub use search::{Address, Found, Hit, Request};
pub use snapshot::{Snapshot, Statistics, Stored};
pub use terms::Tally;
pub use writer::{Moment, Writer, WriterOptions};
