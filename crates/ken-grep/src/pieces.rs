//! Reads a large file without the pieces that cannot match.
//!
//! The index knows of each piece, which consists of whole lines, whether one of its lines may
//! match. Only such pieces are read, with as many neighbouring pieces as the context lines need.
//! All other pieces are replaced by the same number of empty lines, which cannot match, so that
//! line numbers stay right. Byte offsets of lines are lost. The file must be the version that the
//! index knows, which is checked on the open file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use ken_core::Stamp;
use ken_ngram::Extent;

/// The pieces of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    stamp: Stamp,
    spans: Vec<Span>,
}

/// Neighbouring pieces that are either all read, or all skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    extent: Extent,
    is_read: bool,
}

/// Number of context lines before and after a match.
pub(crate) type Around = (usize, usize);

impl Pieces {
    /// Creates the pieces of a file with this stamp, each with whether it may match; returns none
    /// if they do not cover the file.
    pub(crate) fn new(
        stamp: Stamp,
        pieces: impl Iterator<Item = (Extent, bool)>,
        (before, after): Around,
    ) -> Option<Self> {
        let pieces = pieces.map(|(extent, is_read)| Span { extent, is_read });
        let mut pieces: Vec<Span> = pieces.collect();
        let all = pieces
            .iter()
            .try_fold(0_u64, |all, piece| all.checked_add(piece.extent.bytes));
        if all != Some(stamp.size) {
            return None;
        }
        let may_match: Vec<bool> = pieces.iter().map(|piece| piece.is_read).collect();
        for at in (0..pieces.len()).filter(|at| may_match[*at]) {
            let (earlier, later) = pieces.split_at_mut(at);
            read_lines(earlier.iter_mut().rev(), before);
            read_lines(later.iter_mut().skip(1), after);
        }
        let mut spans: Vec<Span> = Vec::new();
        for piece in pieces {
            match spans.last_mut() {
                Some(last) if last.is_read == piece.is_read => {
                    last.extent.bytes += piece.extent.bytes;
                    last.extent.lines = last.extent.lines.checked_add(piece.extent.lines)?;
                }
                _ => spans.push(piece),
            }
        }
        Some(Self { stamp, spans })
    }

    /// Returns whether no line of the file can match.
    pub(crate) fn none_matches(&self) -> bool {
        self.spans.iter().all(|span| !span.is_read)
    }

    /// Opens the file; returns none if it is not the version that the index knows.
    pub(crate) fn open(&self, path: &Path) -> io::Result<Option<Reader<'_>>> {
        let file = ken_walk::open_file(path)?;
        let stat = rustix::fs::fstat(&file)?;
        let reader = Reader {
            file,
            spans: &self.spans,
            at: 0,
            done: 0,
        };
        let stamp = ken_walk::stamp_of(&stat, self.stamp.volume);
        Ok((stamp == self.stamp).then_some(reader))
    }
}

/// Marks pieces as read until they hold `lines` lines.
fn read_lines<'a>(pieces: impl Iterator<Item = &'a mut Span>, mut lines: usize) {
    for piece in pieces {
        if lines == 0 {
            return;
        }
        piece.is_read = true;
        lines = lines.saturating_sub(piece.extent.lines as usize);
    }
}

/// Reads a file, with empty lines in place of the pieces that cannot match.
pub(crate) struct Reader<'a> {
    file: File,
    /// The remaining spans, and where the first of them begins.
    spans: &'a [Span],
    at: u64,
    /// Number of bytes of the first span that were read, or of its lines that were replaced.
    done: u64,
}

impl Reader<'_> {
    fn read_span(&mut self, span: Span, buffer: &mut [u8]) -> io::Result<usize> {
        let left = if span.is_read {
            span.extent.bytes - self.done
        } else {
            u64::from(span.extent.lines) - self.done
        };
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = &mut buffer[..length];
        let n = if span.is_read {
            self.file.read_at(buffer, self.at + self.done)?
        } else {
            buffer.fill(b'\n');
            length
        };
        self.done += n as u64;
        Ok(n)
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some((span, others)) = self.spans.split_first() {
            let n = self.read_span(*span, buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            self.spans = others;
            self.at += span.extent.bytes;
            self.done = 0;
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh";

    fn extent(bytes: u64, lines: u32) -> Extent {
        Extent { bytes, lines }
    }

    /// Returns the result of reading a file whose pieces have two lines, and of which these may
    /// match.
    fn read(path: &Path, may_match: [bool; 4], around: Around) -> String {
        let extents = [extent(4, 2), extent(4, 2), extent(4, 2), extent(3, 1)];
        let stat = rustix::fs::stat(path).unwrap();
        let pieces = extents.into_iter().zip(may_match);
        let pieces = Pieces::new(ken_walk::stamp_of(&stat, None), pieces, around).unwrap();
        assert_eq!(pieces.none_matches(), !may_match.contains(&true));
        let mut reader = pieces.open(path).unwrap().unwrap();
        let (mut text, mut buffer) = (Vec::new(), [0; 3]);
        loop {
            let n = reader.read(&mut buffer).unwrap();
            text.extend_from_slice(&buffer[..n]);
            if n == 0 {
                return String::from_utf8(text).unwrap();
            }
        }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("file");
        fs_err::write(path, TEXT).unwrap();
        let (yes, no) = (true, false);
        assert_eq!(read(path, [yes; 4], (0, 0)), TEXT);
        assert_eq!(read(path, [no; 4], (2, 2)), "\n\n\n\n\n\n\n");
        assert_eq!(read(path, [no, yes, no, no], (0, 0)), "\n\nc\nd\n\n\n\n");
        assert_eq!(read(path, [no, yes, no, no], (1, 0)), "a\nb\nc\nd\n\n\n\n");
        assert_eq!(read(path, [yes, no, no, no], (0, 2)), "a\nb\nc\nd\n\n\n\n");
        assert_eq!(
            read(path, [yes, no, no, no], (0, 3)),
            "a\nb\nc\nd\ne\nf\n\n"
        );
        assert_eq!(read(path, [no, no, no, yes], (0, 0)), "\n\n\n\n\n\ng\nh");
    }

    #[test]
    fn a_file_that_changed_is_read_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("file");
        fs_err::write(path, TEXT).unwrap();
        let stamp = ken_walk::stamp_of(&rustix::fs::stat(path).unwrap(), None);
        let some = |bytes| Pieces::new(stamp, [(extent(bytes, 1), true)].into_iter(), (0, 0));
        assert_eq!(some(14), None);
        let pieces = some(15).unwrap();
        assert!(pieces.open(path).unwrap().is_some());
        fs_err::write(path, "another text").unwrap();
        assert!(pieces.open(path).unwrap().is_none());
    }
}
