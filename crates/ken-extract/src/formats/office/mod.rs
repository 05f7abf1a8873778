//! Texts, spreadsheets and presentations of office programs.

mod art;
pub(in crate::formats) mod compound;
mod decrypted;
pub(in crate::formats) mod doc;
mod escape;
mod field;
pub(in crate::formats) mod hwp;
pub(in crate::formats) mod iwork;
pub(in crate::formats) mod odf;
pub(in crate::formats) mod onenote;
pub(in crate::formats) mod ooxml;
pub(in crate::formats) mod ppt;
pub(in crate::formats) mod rtf;
mod spreadsheet;
pub(in crate::formats) mod xls;
