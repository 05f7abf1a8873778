//! What does a message say? This crate reads the headers, parts and text of one message, and splits mailboxes into
//! messages.
//!
//! Structure (RFC 5322, RFC 2045–2049) is read here, in one pass and with bounded depth, so that
//! no input can cost more than its size; the values of addresses are `mail-parser`'s. Nothing here does I/O except [`Mbox`], which reads what it is given, and the
//! operations of [`maildir`].

mod charset;
mod cms;
mod contact;
mod content;
mod date;
mod decode;
mod enriched;
mod flowed;
mod header;
mod identifier;
mod labels;
mod lines;
pub mod maildir;
mod mbox;
mod message;
mod mime;
mod params;
mod parse;
mod part;
mod personal;
mod richer;
mod signed;
mod states;
mod tags;
pub mod thread;
mod tree;
mod uuencode;
mod words;

pub use charset::{Charset, code_page};
pub use cms::content as signed_content;
pub use contact::{Contact, Contacts, Mailbox};
pub use decode::{Content, Detect};
pub use header::field_weight;
pub use identifier::made_id;
pub use labels::{is_label, is_mu_labels, mu_labels, mu_labels_head, read_mu_labels};
pub use mbox::{Mbox, MboxMessage};
pub use message::{Attachment, Html, Message, Priority, Text};
pub use mime::{MimePart, mime_parts};
pub use parse::header_values;
pub use personal::Personal;
pub use signed::{Signed, signed};
pub use tags::{TagChange, Tagged, Tags, hex_decoded, hex_encoded};
pub use tree::{TreeInner, TreePart};
