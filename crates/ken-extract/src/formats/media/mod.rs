//! Pictures, sound and films: their metadata.

pub(in crate::formats) mod audio;
pub(in crate::formats) mod image;
mod tag_charset;
pub(in crate::formats) mod video;
pub(crate) mod xmp;
