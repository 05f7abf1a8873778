//! The commands of notmuch, answered from ken's index.
//!
//! notmuch 0.37 is the reference: its manual pages, and `devel/schemata` for structured output. A [`Database`] is the
//! mail of one configuration. It has an index of its own, and a log of tags beside it, which also holds properties and
//! settings that notmuch keeps in its database.

mod content;
mod crypto;
mod database;
mod error;
mod gzip;
mod ignore;
mod journal;
mod keyfile;
mod message;
mod new;
mod opening;
mod print;
mod query;
mod reply;
mod search;
mod secrets;
mod sexp;
mod show;
mod tag;
mod thread;
mod when;

pub use crypto::{Cipher, Decrypt, Gnupg, Standard, Verify};
pub use database::{Database, DatabaseOptions};
pub use error::Error;
pub use gzip::unpacked;
pub use ignore::Ignore;
pub use journal::Journal;
pub use keyfile::{KeyFile, items};
pub use message::Message;
pub use new::{InsertRequest, Inserted, NewRequest, NewSummary, Run};
pub use print::{Form, Printer};
pub use query::{Exclude, Found, Query};
pub use reply::{ReplyFormat, ReplyRequest};
pub use search::{AddressRequest, Output, Same, SearchRequest, sort};
pub use secrets::Policy;
pub use show::{ShowFormat, ShowRequest};
pub use tag::{DumpFormat, Include, TagOperation, read_line, read_operations};
pub use thread::{Sort, Thread};
pub use when::duration;

/// Decodes bytes without a declared character set.
fn detect(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
