//! Pages and books for reading: PDF, PostScript, DjVu, EPUB, compiled help.

pub(in crate::formats) mod chm;
pub(in crate::formats) mod djvu;
pub(in crate::formats) mod epub;
pub(in crate::formats) mod pdf;
pub(crate) mod postscript;
