//! Signed data of CMS (RFC 5652 section 5) that contains the signed content: S/MIME as Outlook sends it.
//!
//! Only the part of the BER (X.690) that leads to the content is read. Nothing is searched for: either lengths are
//! given, or the content follows immediately. Verifying the signature is left to other programs.

/// The most bytes of the head of the outermost sequence.
const MAX_HEAD: usize = 10;
/// The object identifier 1.2.840.113549.1.7.2, with its head.
const SIGNED_DATA: &[u8] = &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];

/// The number of bytes that [`is_signed_data`] reads.
pub(crate) const START_BYTES: usize = MAX_HEAD + SIGNED_DATA.len();

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const IDENTIFIER: u8 = 0x06;
const EXPLICIT: u8 = 0xa0;
const STRING: u8 = 0x04;
const STRING_OF_PARTS: u8 = 0x24;

/// Returns whether CMS data is signed data, by its first bytes.
pub(crate) fn is_signed_data(cms: &[u8]) -> bool {
    let inside = DerReader(cms).enter(SEQUENCE);
    inside.is_some_and(|inside| inside.0.starts_with(SIGNED_DATA))
}

/// Returns the signed content; `None` if the signature does not contain it.
pub fn content(cms: &[u8]) -> Option<Vec<u8>> {
    let mut outer = DerReader(cms).enter(SEQUENCE)?;
    outer.0 = outer.0.strip_prefix(SIGNED_DATA)?;
    let mut data = outer.enter(EXPLICIT)?.enter(SEQUENCE)?;
    data.skip(INTEGER)?;
    data.skip(SET)?;
    let mut encapsulated = data.enter(SEQUENCE)?;
    encapsulated.skip(IDENTIFIER)?;
    let mut string = encapsulated.enter(EXPLICIT)?;
    match string.head()? {
        (STRING, Some(length)) => string.take(length).map(<[u8]>::to_vec),
        (STRING_OF_PARTS, length) => {
            let mut parts = DerReader(match length {
                Some(length) => string.take(length)?,
                None => string.0,
            });
            let mut content = Vec::new();
            while let Some((STRING, Some(length))) = parts.head() {
                content.extend_from_slice(parts.take(length)?);
            }
            Some(content)
        }
        _ => None,
    }
}

/// The bytes that remain.
struct DerReader<'a>(&'a [u8]);

impl<'a> DerReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a tag and a length; the length is absent if an end mark follows instead.
    fn head(&mut self) -> Option<(u8, Option<usize>)> {
        let [tag, first] = *self.take(2)? else {
            return None;
        };
        Some((
            tag,
            match first {
                0x80 => None,
                0x81..=0x88 => {
                    let digits = self.take(usize::from(first & 0x7f))?;
                    let length = digits
                        .iter()
                        .fold(0, |n: u64, digit| n << 8 | u64::from(*digit));
                    Some(usize::try_from(length).ok()?)
                }
                length => Some(usize::from(length)),
            },
        ))
    }

    /// Returns the inside of an element, which may be cut, or go on after the end of the element.
    fn enter(mut self, tag: u8) -> Option<Self> {
        let (found, length) = self.head()?;
        let end = length.unwrap_or(usize::MAX).min(self.0.len());
        (found == tag).then(|| Self(&self.0[..end]))
    }

    fn skip(&mut self, tag: u8) -> Option<()> {
        let (found, length) = self.head()?;
        self.take(length?)?;
        (found == tag).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns signed data without certificates and signers, around a string.
    fn signed(string: &[u8], is_open: bool) -> Vec<u8> {
        let element = |tag: u8, content: &[u8]| match is_open {
            false => [&[tag, content.len() as u8], content].concat(),
            true => [&[tag, 0x80], content, &[0, 0]].concat(),
        };
        let content = element(EXPLICIT, string);
        let kind = [&[IDENTIFIER, 1, 7], &*content].concat();
        let data = [
            &[INTEGER, 1, 1, SET, 2, 5, 0],
            &*element(SEQUENCE, &kind),
            &[SET, 0],
        ]
        .concat();
        let inside = [SIGNED_DATA, &element(EXPLICIT, &element(SEQUENCE, &data))].concat();
        element(SEQUENCE, &inside)
    }

    #[test]
    fn content_is_one_string_or_several() {
        for is_open in [false, true] {
            let one = signed(b"\x04\x03abc", is_open);
            assert!(is_signed_data(&one[..START_BYTES]));
            assert_eq!(content(&one).as_deref(), Some(&b"abc"[..]));
            let several = signed(b"\x24\x80\x04\x02ab\x04\x81\x01c\0\0", is_open);
            assert_eq!(content(&several).as_deref(), Some(&b"abc"[..]));
            let of_known_length = signed(b"\x24\x04\x04\x02ab", is_open);
            assert_eq!(content(&of_known_length).as_deref(), Some(&b"ab"[..]));
            assert_eq!(content(&signed(b"\x0c\x01a", is_open)), None);
        }
        assert!(!is_signed_data(
            b"\x30\x0b\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
        ));
        assert!(!is_signed_data(b""));
    }

    proptest! {
        #[test]
        fn damaged_data_is_survived(
            at in 0_usize..60, byte: u8, end in 0_usize..80, is_open: bool
        ) {
            let mut cms = signed(b"\x24\x80\x04\x02ab\x04\x81\x01c\0\0", is_open);
            cms.truncate(end);
            if let Some(target) = cms.get_mut(at) {
                *target = byte;
            }
            prop_assert!(content(&cms).is_none_or(|content| content.len() <= cms.len()));
        }
    }
}
