//! Documents on disk: the engine that ken embeds.
//!
//! The engine is Tantivy, and this crate is the only one that knows it. Its users see the traits of `ken-engine`: a
//! [`Writer`] is a [`ken_engine::Sink`], and a [`Snapshot`] is a [`ken_engine::Source`]: one commit, read without a lock
//! while others write. A commit holds the documents of each file, its stamp and its failure, and the roots
//! ([`ken_engine::Meta`]), so these cannot disagree.

pub mod analysis;
mod check;
mod collector;
mod columns;
mod damage;
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
mod open;
pub mod parallel;
mod postings;
mod query;
mod reader;
mod record;
mod schema;
mod search;
mod segment;
mod shipped;
mod stem;
mod store;
mod version;
mod writer;

pub use check::{
    Damage, Soundness, check, drop_damaged, note_damage, salvage_roots, verify_presence,
};
pub use directory::map;
pub(crate) use ken_engine::{DocAddress, Error, Meta, Record};
pub use open::read_meta;
pub use query::{Counts, ValueTest, location_expression, value_test};
pub use reader::{Reader, Snapshot};
pub use shipped::{Position, Shipped, kept, ship, written};
pub use stem::{Lexicon, expand, unknown_language};
pub use version::FORMAT;
pub use writer::{Writer, WriterOptions};
