//! The border between an index and its users: what an engine stores, and what it answers.
//!
//! [`Source`] reads one commit of an index, and [`Sink`] writes the next one. Both exchange plain data, so an engine may
//! be a library in the same process or a server on another machine. Documents have opaque addresses ([`DocAddress`]).
//! The engine that ken embeds is the crate `ken-index`, whose index is a folder. [`Engine`] stands for an index elsewhere.

mod address;
mod body;
mod engine;
mod error;
mod files;
mod guest;
mod limits;
mod mail;
mod meta;
mod record;
mod request;
mod shares;
mod sink;
mod source;
mod terms;

pub use address::DocAddress;
pub use body::Body;
pub use engine::{Engine, Reading};
pub use error::Error;
pub use files::{Files, Tally};
pub use guest::{Claim, Guest};
pub use limits::Limits;
pub use mail::{Mail, Mailbox, MessageId, MessageOfFile, Seen};
pub use meta::Meta;
pub use record::{FileState, Record, Stored};
pub use request::{Boosts, Collapse, FacetBy, Hit, Request, Response};
pub use shares::{Shares, SharesNow};
pub use sink::{Scope, Sequence, Sink};
pub use source::{EachDocument, Source, Statistics};
pub use terms::{Similar, TermCount, TermList, Terms};
