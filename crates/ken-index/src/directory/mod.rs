//! The engine's directories: one for readers, one for the writer.

mod read;
mod seal;
mod sparing;
mod write;

pub(crate) use read::ReadDirectory;
pub(crate) use seal::LIST;
pub(crate) use write::WriteDirectory;
