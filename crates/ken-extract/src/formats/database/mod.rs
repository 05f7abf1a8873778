//! Databases.

pub(in crate::formats) mod dbase;
pub(in crate::formats) mod sqlite;
