//! What does a message say? This crate reads the headers, parts and text of one message, and splits mailboxes into
//! messages.
//!
//! The crate reads the structure (RFC 5322, RFC 2045–2049) itself, in one pass and with bounded depth, so that no
//! input costs more than its size. `mail-parser` reads the values of headers and the character sets. Nothing here does
//! I/O except [`Mbox`], which reads what it is given, and the operations of [`maildir`].

mod cms;
mod contact;
mod content;
mod date;
mod decode;
mod flowed;
mod header;
mod labels;
pub mod maildir;
mod mbox;
mod message;
mod parse;
mod part;
mod personal;
mod signed;
mod tags;
pub mod thread;

pub use contact::{Contact, Contacts, Mailbox};
pub use decode::{Content, Detect};
pub use labels::{is_label, is_mu_labels, mu_labels, mu_labels_head, read_mu_labels};
pub use mbox::{Mbox, MboxMessage};
pub use message::{Attachment, Html, Message, Priority, Text};
pub use parse::header_values;
pub use personal::Personal;
pub use signed::{Signed, signed};
pub use tags::{TagChange, Tags};
