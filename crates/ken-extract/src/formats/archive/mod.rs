//! Archives, cabinets, disc images, software packages, compressed files and signed ones.

pub(in crate::formats) mod ar;
pub(in crate::formats) mod cab;
pub(in crate::formats) mod compressed;
pub(in crate::formats) mod cpio;
pub(in crate::formats) mod iso;
pub(in crate::formats) mod rar;
pub(in crate::formats) mod rpm;
pub(in crate::formats) mod seven_zip;
pub(in crate::formats) mod signed;
pub(in crate::formats) mod tar;
pub(in crate::formats) mod zip;
