//! The version of the format on disk, and its history.

/// The format that this program writes. History:
///
/// 1. First format (Tantivy 0.27, index format 7).
/// 2. Fields of sound, pictures and films; the generation of the extraction profile in tokens.
/// 3. Headings; the language of documents that declare none; new rules of analysis. Columns of the
///    values of text fields, of content and of messages. What a container holds (`has:`).
/// 4. Digits of all scripts, numbers with units, signs that stand for words, and characters that
///    Unicode writes in several ways, in analysis. Terms of half of a file's key; borders shared by
///    neighbouring values; columns of values show only where capitals are, and there are none of the
///    names of messages in a Maildir. Words divided at line ends take one position.
/// 5. What messages answer, their priority, tags and state; each recipient is a value of its own.
/// 6. Fields of the user's own.
/// 7. Where the messages of a mailbox stand, with a hash of each; they were last changed when they were
///    delivered.
/// 8. A column of where answers are to go.
/// 9. Columns of custom fields.
/// 10. Large bodies are stored in pieces ([`crate::store::body`]).
/// 11. A failure has a structured cause; those of earlier formats are read as a message.
/// 12. Acronyms take one position; more compounds are also one word; each emoji is a word; `ʼ` separates words. A column of
///     sketches, by which near copies are recognised; words in the names of folders.
pub const FORMAT: u32 = 12;

/// The oldest format that this program reads as well: what it writes to such an index makes it one of [`FORMAT`]. It has
/// the same schema.
pub(crate) const OLDEST: u32 = 12;
