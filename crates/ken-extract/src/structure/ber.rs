//! Reads ASN.1 in its basic encoding (X.690): signed data as programs write it, with lengths that are
//! given or end with a mark.
//!
//! What is cut off ends where its bytes do. Elements that end with a mark are searched for it at
//! each level, so their depth is bounded.

/// The deepest elements without a length; no program nests more than ten.
const MAX_DEPTH: usize = 32;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const STRING: u8 = 0x04;
pub(crate) const IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
/// A string in parts, each of which is a string.
const STRING_OF_PARTS: u8 = 0x24;

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    pub(crate) content: &'a [u8],
    /// Whether the bytes end before the element does.
    pub(crate) is_cut: bool,
}

/// The elements that follow each other in some bytes.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        let (element, n_bytes) = read(self.0, 0)?;
        self.0 = &self.0[n_bytes..];
        Some(element)
    }
}

impl<'a> Elements<'a> {
    /// Returns the next element if it has this tag; otherwise it stays the next one.
    pub(crate) fn optional(&mut self, tag: u8) -> Option<Element<'a>> {
        let mut after = *self;
        let element = after.next().filter(|element| element.tag == tag)?;
        *self = after;
        Some(element)
    }
}

impl<'a> Element<'a> {
    /// Returns the elements inside.
    pub(crate) fn inside(self) -> Elements<'a> {
        Elements(self.content)
    }

    /// Returns the bytes of a string, also of one in parts; and whether it is whole.
    pub(crate) fn string(self) -> Option<(Vec<u8>, bool)> {
        let mut bytes = Vec::new();
        let is_whole = self.append(&mut bytes, 0)?;
        Some((bytes, is_whole))
    }

    fn append(self, bytes: &mut Vec<u8>, depth: usize) -> Option<bool> {
        match self.tag {
            STRING => bytes.extend_from_slice(self.content),
            STRING_OF_PARTS if depth < MAX_DEPTH => {
                for part in self.inside() {
                    part.append(bytes, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(!self.is_cut)
    }
}

/// Reads the element at the start of some bytes; returns it with its length.
fn read(bytes: &[u8], depth: usize) -> Option<(Element<'_>, usize)> {
    let (&[tag, first], after) = bytes.split_first_chunk()?;
    // No tag that is read here has a number of its own.
    if tag & 0x1f == 0x1f || (tag, first) == (0, 0) {
        return None;
    }
    let (n_digits, length) = match first {
        0x80 => return read_open(bytes, tag, depth),
        0x81..=0x88 => {
            let n_digits = usize::from(first & 0x7f);
            let digits = after.get(..n_digits)?;
            let number = digits
                .iter()
                .fold(0, |n: u64, &digit| n << 8 | u64::from(digit));
            (n_digits, usize::try_from(number).unwrap_or(usize::MAX))
        }
        0x89.. => return None,
        length => (0, usize::from(length)),
    };
    let content = &after[n_digits..];
    let n_there = length.min(content.len());
    let element = Element {
        tag,
        content: &content[..n_there],
        is_cut: n_there < length,
    };
    Some((element, 2 + n_digits + n_there))
}

/// Reads an element that ends with a mark.
fn read_open(bytes: &[u8], tag: u8, depth: usize) -> Option<(Element<'_>, usize)> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let content = &bytes[2..];
    let mut at = 0;
    while let Some((_, n_bytes)) = read(&content[at..], depth + 1) {
        at += n_bytes;
    }
    let is_cut = !content[at..].starts_with(&[0, 0]);
    let element = Element {
        tag,
        content: &content[..at],
        is_cut,
    };
    Some((element, 2 + at + if is_cut { 0 } else { 2 }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_given_or_marked() {
        let given = b"\x30\x05\x02\x01\x07\x04\x00\xff";
        let mut elements = Elements(given);
        let sequence = elements.next().unwrap();
        assert_eq!((sequence.tag, sequence.is_cut), (SEQUENCE, false));
        let inside: Vec<_> = sequence.inside().map(|element| element.content).collect();
        assert_eq!(inside, [&b"\x07"[..], b""]);
        let marked = b"\x30\x80\x24\x80\x04\x02ab\x04\x81\x01c\x00\x00\x02\x01\x07\x00\x00";
        let mut inside = Elements(marked).next().unwrap().inside();
        assert!(inside.optional(SET).is_none());
        assert_eq!(
            inside.next().unwrap().string(),
            Some((b"abc".to_vec(), true))
        );
        assert_eq!(inside.optional(INTEGER).unwrap().content, b"\x07");
        assert!(inside.next().is_none());
    }

    #[test]
    fn what_is_cut_off_ends_where_its_bytes_do() {
        let cut = Elements(b"\x04\x82\x01\x00abc").next().unwrap();
        assert_eq!(cut.string(), Some((b"abc".to_vec(), false)));
        let open = Elements(b"\x24\x80\x04\x02ab").next().unwrap();
        assert_eq!(open.string(), Some((b"ab".to_vec(), false)));
        assert!(Elements(b"\x04").next().is_none());
        assert!(Elements(&[0x30, 0x80].repeat(10_000)).next().is_some());
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let length: usize = Elements(&bytes).map(|element| element.content.len()).sum();
            prop_assert!(length <= bytes.len());
        }
    }
}
