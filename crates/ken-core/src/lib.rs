//! What do the crates of ken exchange? This crate defines the types that they share, as plain data without I/O or
//! policy.
//!
//! Data flows one way, `walk → extract → index → search`, and every arrow carries types of this crate: a [`Change`]
//! from walk, [`Document`]s from extract, a [`Plan`] from search.

pub mod access;
mod change;
pub mod custom;
mod document;
pub mod expression;
mod failure;
mod field;
mod glob;
mod kind;
pub mod language;
mod location;
mod month;
mod number;
mod plan;
mod profile;
mod ranking;
mod root;
mod state;
mod token;

pub use change::{Change, FileKey, FileRow, FolderHasher, KeyHasher, MhState, SidecarStamp, Stamp};
pub use custom::{CustomField, FieldNames};
pub use document::{Document, MessageSpan, TEXT_SEPARATOR, Value};
pub use failure::{
    Cause, Crash, Encryption, Failure, Limit, Operation, Reader, Reason, SetBy, Setting, errno,
    may_pass,
};
pub use field::{FIELDS, Field, FieldInfo, FieldKind};
pub use glob::{Glob, GlobPart, lower_range};
pub use kind::Kind;
pub use location::{Ipath, Location, escape_bytes, extension, unescape_bytes};
pub use month::{MONTHS, month_of};
pub use number::{first_from, first_from_each, number_at, put_number, take_number};
pub use plan::{Bound, Folders, Form, Order, Pattern, Plan, SortKey, Span, Whole, Word, Written};
pub use profile::{FolderFields, Profile};
pub use ranking::Ranking;
pub use root::{BytesPath, Root, covering};
pub use state::{MESSAGE_STATES, MessageState, MessageStateInfo, StateSource};
pub use token::Token;
