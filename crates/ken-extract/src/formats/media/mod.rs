//! Pictures, sound and films: their metadata.

pub(in crate::formats) mod audio;
pub(in crate::formats) mod image;
pub(in crate::formats) mod video;
pub(crate) mod xmp;
