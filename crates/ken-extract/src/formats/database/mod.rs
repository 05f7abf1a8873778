//! Databases.

pub(in crate::formats) mod access;
pub(in crate::formats) mod dbase;
pub(in crate::formats) mod sqlite;
