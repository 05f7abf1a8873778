//! Which texts may a regular expression match in? The answer comes from an index of *n-grams*,
//! short pieces of text, each with the documents that contain it. A regular expression becomes a
//! [`Need`], for which the index returns [`Candidates`]; no other document can match.
//!
//! A document is a fact that stays true: the file with this key had, under this stamp, these
//! n-grams. N-gram segments can therefore be written before the commit that has their documents,
//! are merged when there are many, and belong to no segment of the text index. The commit names
//! them, which shows whether one is missing: see [`Store`].

mod answer;
mod build;
mod merge;
mod names;
mod need;
mod ngram;
mod pieces;
mod postings;
mod segment;
mod store;
mod sums;
#[cfg(test)]
mod tests;
mod write;

pub use answer::Candidates;
pub use build::Builder;
pub use merge::merge;
pub use names::Names;
pub use need::Need;
pub use ngram::NgramSet;
pub use pieces::{Extent, Pieces};
pub use segment::{Bytes, Covers, Row, Segment, Version};
pub use store::{Map, OpenSegments, Store, note_damage, open, remove, segment_path};
