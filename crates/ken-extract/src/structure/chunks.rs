//! Reads files made of chunks: a name of four characters, a length, and content that may again hold
//! chunks.
//!
//! Only headers are read, with one small read each, so that pixels and sound are skipped.

use std::borrow::Cow;
use std::io;

use super::cursor::Cursor;
use crate::{Error, Input};

/// Longer lists are read only up to here: pictures are cut into chunks of 8 KiB or more.
const MAX_CHUNKS: usize = 100_000;

/// Layout of names and lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// EA IFF 85 (DjVu): name, length; big-endian, padded to even length.
    Iff,
    /// RIFF (WebP, AVI): like IFF, but little-endian.
    Riff,
    /// ISO base media file format (ISO/IEC 14496-12): a length that includes the header, name.
    Iso,
    /// PNG: length, name; a checksum follows the content.
    Png,
}

/// One chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) kind: [u8; 4],
    layout: Layout,
    /// Where the content begins and ends.
    start: u64,
    end: u64,
}

impl Chunk {
    /// Returns the content, at most its first `max_bytes` bytes.
    pub(crate) fn content<'i>(
        &self,
        input: &'i Input<'_>,
        max_bytes: usize,
    ) -> io::Result<Cow<'i, [u8]>> {
        let length = usize::try_from(self.end.saturating_sub(self.start)).unwrap_or(usize::MAX);
        input.range(self.start, length.min(max_bytes))
    }

    /// Returns the chunks in this one, from offset `from` of its content.
    pub(crate) fn children<'i>(&self, input: &'i Input<'i>, from: u64) -> Chunks<'i> {
        Chunks {
            input,
            layout: self.layout,
            at: self.start.saturating_add(from),
            end: self.end,
            n_read: 0,
        }
    }
}

/// The chunks of a file, or of another chunk.
pub(crate) struct Chunks<'i> {
    input: &'i Input<'i>,
    layout: Layout,
    at: u64,
    end: u64,
    n_read: usize,
}

impl<'i> Chunks<'i> {
    /// Returns the chunks of a file from `at` on.
    pub(crate) fn of_file(input: &'i Input<'i>, layout: Layout, at: u64) -> Self {
        Self {
            input,
            layout,
            at,
            end: input.size(),
            n_read: 0,
        }
    }

    /// Returns the next chunk; `None` at the end, even if the file is cut in a header.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>, Error> {
        if self.at >= self.end || self.n_read == MAX_CHUNKS {
            return Ok(None);
        }
        self.n_read += 1;
        let head = self.input.range(self.at, 16)?;
        let Some((kind, start, length)) = self.header(&head) else {
            return Ok(None);
        };
        let start = self.at + start;
        let end = start.saturating_add(length);
        self.at = match self.layout {
            Layout::Iff | Layout::Riff => end.saturating_add(length & 1),
            Layout::Iso => end,
            Layout::Png => end.saturating_add(4),
        };
        Ok(Some(Chunk {
            kind,
            layout: self.layout,
            start,
            end: end.min(self.end),
        }))
    }

    /// Returns the name, the offset of the content, and its length.
    fn header(&self, head: &[u8]) -> Option<([u8; 4], u64, u64)> {
        let mut cursor = Cursor(head);
        let name = |cursor: &mut Cursor<'_>| cursor.take(4)?.try_into().ok();
        Some(match self.layout {
            Layout::Iff => (name(&mut cursor)?, 8, cursor.be_u32()?.into()),
            Layout::Riff => (name(&mut cursor)?, 8, cursor.le_u32()?.into()),
            Layout::Png => {
                let length = cursor.be_u32()?.into();
                (name(&mut cursor)?, 8, length)
            }
            Layout::Iso => {
                let whole = cursor.be_u32()?;
                let name = name(&mut cursor)?;
                match whole {
                    // Until the end of the file.
                    0 => (name, 8, self.end - self.at),
                    1 => (name, 16, cursor.be_u64()?.checked_sub(16)?),
                    whole => (name, 8, u64::from(whole).checked_sub(8)?),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(layout: Layout, bytes: &[u8]) -> String {
        let input = Input::bytes_of("", bytes);
        let mut chunks = Chunks::of_file(&input, layout, 0);
        let mut shown = String::new();
        while let Some(chunk) = chunks.next().unwrap() {
            shown.push_str(&String::from_utf8_lossy(&chunk.kind));
            shown.push('=');
            shown.push_str(&String::from_utf8_lossy(&chunk.content(&input, 9).unwrap()));
            shown.push(' ');
        }
        shown
    }

    #[test]
    fn every_layout_is_walked() {
        let expected = "abcd=xyz efgh=12 ";
        assert_eq!(
            shown(Layout::Iff, b"abcd\0\0\0\x03xyz\0efgh\0\0\0\x0212"),
            expected
        );
        assert_eq!(
            shown(Layout::Riff, b"abcd\x03\0\0\0xyz\0efgh\x02\0\0\x0012"),
            expected
        );
        assert_eq!(
            shown(Layout::Iso, b"\0\0\0\x0babcdxyz\0\0\0\0efgh12"),
            expected
        );
        assert_eq!(
            shown(
                Layout::Iso,
                b"\0\0\0\x01abcd\0\0\0\0\0\0\0\x13xyz\0\0\0\x0aefgh12"
            ),
            expected
        );
        assert_eq!(
            shown(Layout::Png, b"\0\0\0\x03abcdxyzCRC1\0\0\0\x02efgh12CRC2"),
            expected
        );
    }

    #[test]
    fn lengths_that_lie_end_at_the_end() {
        assert_eq!(shown(Layout::Riff, b"abcd\xff\xff\xff\xffxyz"), "abcd=xyz ");
        assert_eq!(
            shown(
                Layout::Iso,
                b"\0\0\0\x01abcd\xff\xff\xff\xff\xff\xff\xff\xff"
            ),
            "abcd= "
        );
        assert_eq!(shown(Layout::Iso, b"\0\0\0\x07abcd"), "");
        assert_eq!(shown(Layout::Png, b"\0\0"), "");
    }
}
