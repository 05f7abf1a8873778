//! The engine's directories: one for readers, one for the writer.

mod map;
mod read;
mod seal;
mod sparing;
mod write;

pub use map::map;
pub(crate) use read::ReadDirectory;
pub(crate) use write::WriteDirectory;
