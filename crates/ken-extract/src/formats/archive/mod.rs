//! Archives, disc images, software packages and compressed files.

pub(in crate::formats) mod ar;
pub(in crate::formats) mod compressed;
pub(in crate::formats) mod cpio;
pub(in crate::formats) mod iso;
pub(in crate::formats) mod rar;
pub(in crate::formats) mod rpm;
pub(in crate::formats) mod seven_zip;
pub(in crate::formats) mod tar;
pub(in crate::formats) mod zip;
