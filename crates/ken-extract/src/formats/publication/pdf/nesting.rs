//! Closes what a damaged or hostile file leaves open, before the parser reads it.
//!
//! The parser looks for the objects of a damaged file from every place where one may begin. It reads
//! on from there until a bracket is closed, 512 brackets deep, or until the end of the file for a
//! string. Thousands of open brackets therefore cost hundreds or thousands of times the file's size.

use std::ops::Range;

use memchr::{memchr2, memmem};

/// Brackets inside this many others are deep. Real files have fewer than ten.
const MAX_DEPTH: usize = 32;
/// Files with more deep brackets than this lose them.
const MAX_DEEP: usize = 1_000;

/// The brackets of one kind of object.
struct Brackets {
    open: u8,
    close: u8,
    /// How often the byte is repeated.
    width: usize,
    /// Whether compressed data has too few of them to matter.
    in_streams: bool,
}

const KINDS: [Brackets; 3] = [
    Brackets::new(*b"<>", 2, true),
    Brackets::new(*b"[]", 1, false),
    Brackets::new(*b"()", 1, false),
];

/// Replaces deep brackets by spaces if there are very many.
pub(super) fn flatten(bytes: &mut [u8]) {
    for kind in KINDS {
        if kind.visit_deep(bytes, |_| {}) > MAX_DEEP {
            kind.visit_deep(bytes, |bracket| bracket.fill(b' '));
        }
    }
}

impl Brackets {
    const fn new([open, close]: [u8; 2], width: usize, in_streams: bool) -> Self {
        Self {
            open,
            close,
            width,
            in_streams,
        }
    }

    /// Passes each deep opening bracket to `visit` and returns their number.
    fn visit_deep(&self, bytes: &mut [u8], mut visit: impl FnMut(&mut [u8])) -> usize {
        let (mut depth, mut n_deep, mut at) = (0_usize, 0, 0);
        while let Some(part) = self.next_part(bytes, at) {
            at = part.start;
            while let Some(found) = memchr2(self.open, self.close, &bytes[at..part.end]) {
                at += found;
                let byte = bytes[at];
                let end = at + self.width;
                let is_escaped = at > 0 && bytes[at - 1] == b'\\';
                if is_escaped || bytes.get(end - 1) != Some(&byte) {
                    at += 1;
                    continue;
                }
                if byte == self.close {
                    depth = depth.saturating_sub(1);
                } else {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        n_deep += 1;
                        visit(&mut bytes[at..end]);
                    }
                }
                at = end;
            }
            at = at.max(part.end);
        }
        n_deep
    }

    /// Returns the next range to search at or after `at`: all bytes, or those up to a stream.
    fn next_part(&self, bytes: &[u8], at: usize) -> Option<Range<usize>> {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        if self.in_streams {
            return Some(at..bytes.len());
        }
        let start = match rest.starts_with(b"stream") {
            true => at + memmem::find(rest, b"endstream")? + b"endstream".len(),
            false => at,
        };
        let length = memmem::find(&bytes[start..], b"stream");
        Some(start..length.map_or(bytes.len(), |length| start + length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        flatten(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_the_outer_brackets_of_very_many_remain() {
        for open in ["<<", "[", "("] {
            let heads = format!("1 0 obj {open} ").repeat(5_000);
            let left = flat(&heads);
            assert_eq!(left.matches(open).count(), MAX_DEPTH, "{open}");
            assert_eq!(left.len(), heads.len(), "offsets remain");
        }
    }

    #[test]
    fn real_files_remain_as_they_are() {
        let object = "1 0 obj <</A [(a \\( b) [<</B <41>>>]]>> endobj\n".repeat(5_000);
        assert_eq!(flat(&object), object);
        let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
        assert_eq!(flat(&nested), nested);
    }

    #[test]
    fn streams_are_data_but_for_dictionaries() {
        let data = "[(".repeat(5_000);
        for file in [
            format!("<<>> stream {data} endstream [1]"),
            format!("<<>> stream {data}"),
            format!("[1] stream {data} endstream stream {data} endstream"),
        ] {
            assert_eq!(flat(&file), file);
        }
        let data = "<< ".repeat(5_000);
        let left = flat(&format!("stream {data} endstream"));
        assert_eq!(left.matches("<<").count(), MAX_DEPTH);
    }
}
