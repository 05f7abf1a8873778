//! The version of the format on disk, and its history.

/// The format that this program writes and reads. History:
///
/// 1. First format (Tantivy 0.27, index format 7).
/// 2. Fields of sound, pictures and films; the edition of the reading in tokens.
/// 3. Headings; the language of documents that declare none; new rules of analysis. Columns of the
///    values of text fields, of content and of messages. What a container holds (`has:`).
pub(crate) const FORMAT: u32 = 3;
