//! The files of an iWork document (`.iwa`): chunks compressed by Snappy, which contain objects,
//! each with a header in Protocol Buffers that holds its type and length.
//!
//! Apple has published no specification. Sources: the description by Sean Patrick O'Brien
//! (<https://github.com/obriensp/iWorkFileFormat>).

/// Maximum size of a chunk, which holds 64 KiB unpacked.
const MAX_CHUNK_BYTES: u64 = 1 << 20;

/// An object: its number, its type and its fields.
pub(super) struct Object<'a> {
    pub(super) id: u64,
    pub(super) kind: u64,
    pub(super) message: Message<'a>,
}

/// Unpacks a file; of a damaged one, the part before the damage.
pub(super) fn unpack(mut file: &[u8], max_bytes: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    while let [0, a, b, c, rest @ ..] = file {
        let length = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let Some((chunk, after)) = rest.split_at_checked(length) else {
            return (bytes, false);
        };
        if bytes.len() > max_bytes || unsnap(chunk, &mut bytes).is_none() {
            return (bytes, false);
        }
        file = after;
    }
    (bytes, file.is_empty())
}

/// Adds the content of a Snappy chunk.
fn unsnap(chunk: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    let length = snap::raw::decompress_len(chunk).ok()?;
    if length as u64 > MAX_CHUNK_BYTES {
        return None;
    }
    bytes.extend(snap::raw::Decoder::new().decompress_vec(chunk).ok()?);
    Some(())
}

/// Returns the objects of an unpacked file, up to where it is damaged.
pub(super) fn objects(bytes: &[u8]) -> impl Iterator<Item = Object<'_>> {
    let mut rest = Message(bytes);
    let mut waiting = Vec::new().into_iter();
    let mut id = 0;
    std::iter::from_fn(move || {
        loop {
            if let Some((kind, length)) = waiting.next() {
                let message = Message(rest.take(length)?);
                return Some(Object { id, kind, message });
            }
            let header = rest.varint()?;
            let header = Message(rest.take(header)?);
            id = header.number(1).unwrap_or_default();
            // The header may describe several objects.
            let parts = header.fields().filter_map(|field| match field {
                (2, Value::Bytes(part)) => Some(part),
                _ => None,
            });
            let parts: Vec<(u64, u64)> = parts
                .map(|part| (part.number(1).unwrap_or(0), part.number(3).unwrap_or(0)))
                .collect();
            waiting = parts.into_iter();
        }
    })
}

/// A message of Protocol Buffers, or the unread rest of one.
#[derive(Clone, Copy)]
pub(super) struct Message<'a>(pub(super) &'a [u8]);

/// The value of a field.
pub(super) enum Value<'a> {
    Number(u64),
    Bytes(Message<'a>),
}

impl<'a> Message<'a> {
    fn take(&mut self, n_bytes: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(n_bytes).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for digit in 0..10 {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << (7 * digit).min(63);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Returns the fields with their numbers, up to where the message is damaged.
    pub(super) fn fields(mut self) -> impl Iterator<Item = (u64, Value<'a>)> {
        std::iter::from_fn(move || {
            let tag = self.varint()?;
            let value = match tag & 7 {
                0 => Value::Number(self.varint()?),
                1 => Value::Bytes(Message(self.take(8)?)),
                2 => {
                    let length = self.varint()?;
                    Value::Bytes(Message(self.take(length)?))
                }
                5 => Value::Bytes(Message(self.take(4)?)),
                _ => return None,
            };
            Some((tag >> 3, value))
        })
    }

    /// Returns the first number of a field.
    pub(super) fn number(self, wanted: u64) -> Option<u64> {
        self.fields().find_map(|field| match field {
            (number, Value::Number(value)) if number == wanted => Some(value),
            _ => None,
        })
    }

    /// Returns the number of the object that a field refers to.
    pub(super) fn reference(self, wanted: u64) -> Option<u64> {
        self.messages(wanted).next()?.number(1)
    }

    /// Returns the texts of a field that may be repeated.
    pub(super) fn texts(self, wanted: u64) -> impl Iterator<Item = &'a str> {
        self.fields().filter_map(move |field| match field {
            (number, Value::Bytes(text)) if number == wanted => std::str::from_utf8(text.0).ok(),
            _ => None,
        })
    }

    /// Returns the messages of a field that may be repeated.
    pub(super) fn messages(self, wanted: u64) -> impl Iterator<Item = Message<'a>> {
        self.fields().filter_map(move |field| match field {
            (number, Value::Bytes(message)) if number == wanted => Some(message),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snappy_is_unpacked() {
        let mut bytes = b"before ".to_vec();
        // "Wikipedia is a free" and copies, one of which overlaps its own source.
        let chunk = b"\x11\x0cabcd\x01\x04\x16\x04\x00\x08xyz";
        assert_eq!(unsnap(chunk, &mut bytes), Some(()));
        assert_eq!(bytes, b"before abcdabcdabcdabxyz".to_vec());
        for damaged in [
            &b"\x05\x0cabcd"[..],
            b"\x08\x0cabcd\x01\x09",
            b"\xff\xff\xff\xff\x7f",
        ] {
            assert_eq!(unsnap(damaged, &mut Vec::new()), None, "{damaged:?}");
        }
    }

    #[test]
    fn chunks_that_are_cut_off_end_the_file() {
        let file = b"\0\x06\0\0\x04\x0cabcd\0\x06\0\0\x04\x0cef";
        assert_eq!(unpack(file, 100), (b"abcd".to_vec(), false));
        assert_eq!(unpack(&file[..10], 100), (b"abcd".to_vec(), true));
    }
}
