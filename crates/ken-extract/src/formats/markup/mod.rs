//! Text with marks that people write by hand: Markdown, TeX, troff and others.

pub(in crate::formats) mod bibtex;
pub(in crate::formats) mod info;
mod inline;
pub(in crate::formats) mod lightweight;
pub(in crate::formats) mod lyx;
pub(in crate::formats) mod markdown;
pub(in crate::formats) mod mif;
pub(in crate::formats) mod roff;
pub(in crate::formats) mod tex;
pub(in crate::formats) mod texinfo;
