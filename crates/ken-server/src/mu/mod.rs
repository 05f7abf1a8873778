//! mu: mail as the programs around `mu` know it, mu4e above all.
//!
//! [`Store`] is the mail of one index: it answers queries with [`Mail`]s and changes messages.
//! [`Session`] speaks the protocol of `mu server` over it, in s-expressions ([`Sexp`]). Both
//! dialects are understood, that of 1.8 and that of 1.12 and 1.14; the version that ken is asked to be
//! decides where they differ in answers.
//!
//! Sources: mu4e's side of the protocol (`mu4e-server.el` of 1.8.14 and 1.12.15), `mu-server(1)`, and
//! what mu 1.8.13 answers.

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
pub use mail::{Mail, Part, parts};
pub use plist::{json_of, mail_plist};
pub use session::{Session, Stopper, Version};
pub use sexp::{Sexp, SexpError};
pub use store::{Store, StoreOptions};
