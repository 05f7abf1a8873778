//! Pages and books for reading: PDF, PostScript, DjVu, EPUB, Mobipocket, compiled help.

pub(in crate::formats) mod chm;
pub(in crate::formats) mod djvu;
pub(crate) mod epub;
pub(in crate::formats) mod mobi;
pub(crate) mod pdf;
pub(crate) mod postscript;
