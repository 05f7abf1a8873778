//! Structures that several formats share: chunks, compressed streams, compound files, zip packages,
//! XML, encryption.

pub(crate) mod chunks;
pub(crate) mod compound;
pub mod compression;
pub(crate) mod cursor;
pub(crate) mod encryption;
pub(crate) mod package;
pub(crate) mod xml;
