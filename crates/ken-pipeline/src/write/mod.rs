//! The way of a document from extraction to the index: its record, the queues, and the writer.

mod documents;
mod first_error;
mod generated;
mod lanes;
mod states;
mod writer;

pub(crate) use documents::{DocumentWriter, FileFacts};
pub(crate) use first_error::FirstError;
pub(crate) use lanes::Queues;
pub use states::{RECOGNISED, TEXTLESS};
pub(crate) use states::{has_state, is_recognised, set_state};
pub(crate) use writer::{LazyWriter, WriterSlot};
