//! Compressed streams, and the content of compressed files.

mod decoder;
mod lzw;
mod named_file;

pub(crate) use decoder::{Allowance, Codec, Decoder, MEDIA_TYPES};
pub use named_file::{decompressed, is_compressed};
