//! The lines of a message.

use memchr::memchr;

/// Returns the length of the first line, with its line feed.
pub(crate) fn line_end(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1)
}
