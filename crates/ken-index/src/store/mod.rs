//! Stored documents: the values of a document as they were extracted, and large bodies in pieces.

pub(crate) mod body;
pub(crate) mod values;
