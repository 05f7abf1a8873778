//! From an extracted document to the index: the record, the queues in between, and the writer.

mod documents;
mod lanes;
mod writer;

pub(crate) use documents::{Applier, FileFacts};
pub(crate) use lanes::Queues;
pub(crate) use writer::LazyWriter;
