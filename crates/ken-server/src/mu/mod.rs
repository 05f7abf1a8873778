//! mu: mail for the programs that use `mu`, above all mu4e.
//!
//! A [`Store`] is the mail of one index: it answers queries with [`Mail`]s and changes messages. A [`Session`] speaks
//! the protocol of `mu server` on top of it, in s-expressions ([`Sexp`]). It understands the dialect of 1.8 and that
//! of 1.12 and 1.14; where their answers differ, the version that ken imitates decides.
//!
//! Sources: mu4e's side of the protocol (`mu4e-server.el` of 1.8.14 and 1.12.15), `mu-server(1)`, and the answers of
//! mu 1.8.13.

mod address;
mod compose;
mod contacts;
mod docids;
mod error;
mod fields;
mod find;
mod labels;
mod mail;
mod plist;
mod request;
mod session;
mod sexp;
mod store;

pub use address::Address;
pub use compose::file_name;
pub use contacts::ContactQuery;
pub use error::{Error, ErrorKind};
pub use fields::{MAIL_FIELDS, MailColumn, MailField};
pub use find::{Find, Found};
pub use labels::labels_change;
pub use mail::{BodyForm, Mail, body, parts};
pub use plist::{json_of, mail_plist};
pub use session::{Session, Stopper, Version, shared_flags};
pub use sexp::{Sexp, SexpError};
pub use store::{Store, StoreOptions};
