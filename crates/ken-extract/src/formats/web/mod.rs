//! Web pages and archives of them.

pub(in crate::formats) mod html;
pub(in crate::formats) mod mhtml;
pub(in crate::formats) mod warc;
pub(in crate::formats) mod webarchive;
