//! Databases.

pub(in crate::formats) mod sqlite;
