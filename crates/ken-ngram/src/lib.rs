//! Which texts can a regular expression match in?
//!
//! An index of *n-grams*, short pieces of text: for each the documents that hold it. A regular
//! expression becomes a [`Need`], which the index answers with [`Candidates`]; what is not among
//! them cannot match. A document is a fact that stays true: the file of this key had, under this
//! stamp, these n-grams. So n-gram segments can be written before the commit that tells of their
//! documents, are merged when there are many, and belong to no segment of the text index. Whether
//! none is missing says the commit, which names them: see [`Store`].

mod answer;
mod build;
mod merge;
mod need;
mod ngram;
mod pieces;
mod postings;
mod segment;
mod store;
#[cfg(test)]
mod tests;
mod write;

pub use answer::Candidates;
pub use build::Builder;
pub use merge::merge;
pub use need::Need;
pub use ngram::NgramSet;
pub use pieces::{Extent, Pieces};
pub use segment::{Bytes, Covers, Name, Row, Segment, Version};
pub use store::{Map, OpenSegments, Store, open, remove, segment_path};
