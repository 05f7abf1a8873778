//! Structures that several formats share: ASN.1, chunks, compressed streams, compound files, zip packages
//! and their repair, XML, encryption.

pub(crate) mod ber;
pub(crate) mod chunks;
pub(crate) mod compound;
pub mod compression;
pub(crate) mod cursor;
pub(crate) mod encryption;
pub(crate) mod package;
pub(crate) mod plist;
pub(crate) mod rescue;
pub(crate) mod xml;
