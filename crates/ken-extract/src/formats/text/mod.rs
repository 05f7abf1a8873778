//! Plain text, and formats that are text for programs: JSON, CBOR, notebooks, subtitles.

pub(in crate::formats) mod cbor;
pub(in crate::formats) mod json;
pub(in crate::formats) mod notebook;
pub(in crate::formats) mod plain;
pub(in crate::formats) mod subtitles;
