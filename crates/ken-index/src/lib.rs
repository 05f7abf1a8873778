//! Documents on disk: the index is the only store.
//!
//! The engine is Tantivy, and this crate is the only one that knows it. What others use is plain:
//! a [`Writer`] takes [`Record`]s and commits them; a [`Snapshot`] is one commit, read without a
//! lock while others write. Whether a file is known, its stamp, its failure, its documents and
//! the roots ([`Meta`]) are all in the same commit, so they cannot disagree.

pub mod analysis;
mod check;
mod collector;
mod columns;
mod dictionary;
mod directory;
mod doc_address;
mod error;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
pub mod layout;
mod limits;
mod mail;
mod meta;
pub mod parallel;
mod postings;
mod query;
mod reader;
mod record;
mod schema;
mod search;
mod segment;
mod stem;
mod store;
mod version;
mod writer;

pub use check::{Damage, Soundness, check, drop_damaged, salvage_roots};
pub use collector::{Collapse, FacetBy};
pub use columns::FileState;
pub use dictionary::{Similar, TermCount, TermList};
pub use directory::map;
pub use doc_address::DocAddress;
pub use error::Error;
pub use limits::Limits;
pub use mail::{Mailbox, MessageId, MessageOfFile, Seen};
pub use meta::Meta;
pub use postings::Tally;
pub use reader::{Reader, Snapshot, Statistics, Stored};
pub use record::Record;
pub use search::{Boosts, Hit, Request, Response};
pub use store::Body;
pub use writer::{Moment, Writer, WriterOptions};
