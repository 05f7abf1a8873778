//! Adds its origin to each document: the message that it is a part of, the position of that message
//! in its file, and a hash of the content that the document was read from. A document
//! without a time of its own gets the time of the member that it is in.
//!
//! Duplicates have the same hash, in folders, archives and attachments alike. Large content is
//! hashed by its size and [`SAMPLES`] pieces from the first to the last, so that a film costs no
//! more than a letter. Duplicates are always recognised; content is mistaken for a duplicate only
//! if it has the same size and differs only between the pieces.

use std::hash::Hasher;
use std::io;

use ken_core::{Document, Field, Ipath, MessageSpan};
use twox_hash::XxHash3_64;

use crate::detect::Detected;
use crate::{Input, Member, Sink};

/// Content up to this size is hashed as a whole.
const WHOLE_BYTES: u64 = 4 << 20;
const SAMPLES: u64 = 16;
const SAMPLE_BYTES: usize = 64 << 10;

/// Returns the hash of content that covers every byte; none if there is no such hash.
///
/// # Errors
/// Fails if the input cannot be read.
pub fn whole_content(input: &Input<'_>, seed: u64) -> io::Result<Option<u64>> {
    match input.size() <= WHOLE_BYTES {
        true => content(input, seed),
        false => Ok(None),
    }
}

/// Returns a hash of the content of an input; none if the input is empty.
pub(crate) fn content(input: &Input<'_>, seed: u64) -> io::Result<Option<u64>> {
    let size = input.size();
    if size == 0 {
        return Ok(None);
    }
    if let Some(bytes) = input.in_memory().filter(|_| size <= WHOLE_BYTES) {
        return Ok(Some(XxHash3_64::oneshot_with_seed(seed, bytes)));
    }
    let mut hasher = XxHash3_64::with_seed(seed);
    if size > WHOLE_BYTES {
        hasher.write_u64(size);
        let last = size - SAMPLE_BYTES as u64;
        for sample in 0..SAMPLES {
            let at = u128::from(last) * u128::from(sample) / u128::from(SAMPLES - 1);
            hasher.write(&input.range(at as u64, SAMPLE_BYTES)?);
        }
    } else {
        let mut at = 0;
        while at < size {
            let piece = input.range(at, SAMPLE_BYTES)?;
            if piece.is_empty() {
                break;
            }
            hasher.write(&piece);
            at += piece.len() as u64;
        }
    }
    if let Some(log) = input.log()
        && let Some(content) = content(log, seed)?
    {
        hasher.write_u64(content);
    }
    Ok(Some(hasher.finish()))
}

/// Returns the position of a member in the outermost file, with a hash of all that is read of the
/// member. Returns none if the member cannot be read from there, or if its text depends on more
/// than these bytes.
pub(crate) fn message_span(
    offset: Option<u64>,
    modified: Option<i64>,
    bytes: &[u8],
    seed: u64,
) -> Option<MessageSpan> {
    let (offset, modified) = offset.zip(modified)?;
    let mut hasher = XxHash3_64::with_seed(seed);
    hasher.write_i64(modified);
    hasher.write(bytes);
    Some(MessageSpan {
        offset,
        digest: hasher.finish(),
    })
}

/// Passes on what is found in one input, and adds its origin.
pub(crate) struct Origin<'s> {
    sink: &'s mut dyn Sink,
    ipath: Ipath,
    content: Option<u64>,
    span: Option<MessageSpan>,
    modified: Option<i64>,
    /// Number of components of member paths that lead to the enclosing message.
    message: Option<u8>,
}

impl<'s> Origin<'s> {
    /// Returns the origin for one input; with a seed, hashes the input's content.
    pub(crate) fn new(
        input: &Input<'_>,
        detected: Detected,
        seed: Option<u64>,
        sink: &'s mut dyn Sink,
    ) -> Self {
        // The extraction reports what cannot be read.
        let content = seed.and_then(|seed| content(input, seed).ok().flatten());
        let own = || u8::try_from(input.ipath.depth()).ok();
        let message = input.message.or_else(|| is_message(detected).then(own)?);
        Self {
            sink,
            ipath: input.ipath.clone(),
            content,
            span: seed.and_then(|seed| {
                message_span(input.offset, input.modified, input.in_memory()?, seed)
            }),
            modified: input.modified,
            message,
        }
    }
}

/// Returns whether the format is that of one message, not of a file with many.
fn is_message(detected: Detected) -> bool {
    ["message/rfc822", "application/vnd.ms-outlook"].contains(&detected.media_type)
}

impl Sink for Origin<'_> {
    fn document(&mut self, mut document: Document) {
        document.message = self.message;
        if document.ipath == self.ipath {
            document.content = self.content;
            document.span = self.span;
        } else if document.number(Field::Modified).is_none()
            && let Some(modified) = self.modified
        {
            document.add_number(Field::Modified, modified);
        }
        self.sink.document(document);
    }

    fn make_room(&mut self, n_bytes: usize) {
        self.sink.make_room(n_bytes);
    }

    fn member(&mut self, mut member: Member) {
        member.message = self.message.or(member.message);
        member.modified = member.modified.or(self.modified);
        self.sink.member(member);
    }

    fn content(&mut self, content: Member) {
        self.sink.content(content);
    }

    fn is_cancelled(&self) -> bool {
        self.sink.is_cancelled()
    }

    fn try_again(&mut self) {
        self.sink.try_again();
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::UNKNOWN;

    fn hash(bytes: &[u8]) -> Option<u64> {
        content(&Input::bytes_of("a", bytes), 7).unwrap()
    }

    #[test]
    fn a_span_depends_on_all_that_is_read() {
        let of = |offset, modified, bytes: &[u8]| message_span(offset, modified, bytes, 7);
        let first = of(Some(5), Some(1), b"okapi").unwrap();
        assert_eq!(first.offset, 5);
        let moved = of(Some(6), Some(1), b"okapi").unwrap();
        assert_eq!(moved.digest, first.digest);
        for (modified, bytes) in [(Some(2), &b"okapi"[..]), (Some(1), b"okapi ")] {
            assert_ne!(of(Some(5), modified, bytes).unwrap().digest, first.digest);
        }
        assert_eq!(of(Some(5), None, b"okapi"), None);
        assert_eq!(of(None, Some(1), b"okapi"), None);
    }

    #[test]
    fn what_has_no_time_gets_that_of_the_member_around_it() {
        #[derive(Default)]
        struct Times(Vec<Option<i64>>);
        impl Sink for Times {
            fn document(&mut self, document: Document) {
                self.0.push(document.number(Field::Modified));
            }
            fn member(&mut self, member: Member) {
                self.0.push(member.modified);
            }
        }
        let mut input = Input::bytes_of("a", b"x");
        input.modified = Some(7);
        let mut times = Times::default();
        let mut origin = Origin::new(&input, UNKNOWN, None, &mut times);
        let mut part = Document::new(Ipath::root().child("1"), "text/plain", Kind::Document);
        origin.document(part.clone());
        part.add_number(Field::Modified, 3);
        origin.document(part);
        origin.member(Member::default());
        origin.member(Member {
            modified: Some(4),
            ..Member::default()
        });
        assert_eq!(times.0, [7, 3, 7, 4].map(Some));
    }

    #[test]
    fn copies_have_the_same_hash() {
        assert_eq!(hash(b""), None);
        assert_eq!(hash(b"okapi"), hash(b"okapi"));
        assert_ne!(hash(b"okapi"), hash(b"okapi "));
        assert_ne!(hash(b"a"), content(&Input::bytes_of("a", b"a"), 8).unwrap());
    }

    #[test]
    fn a_file_and_a_member_are_copies() {
        let mut file = tempfile::tempfile().unwrap();
        for size in [100_000, (4 << 20) + 1, 9 << 20] {
            let bytes: Vec<u8> = (0..size).map(|n: u32| (n % 251) as u8).collect();
            file.set_len(0).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
            let input = Input::file("a", &file, bytes.len() as u64);
            assert_eq!(content(&input, 7).unwrap(), hash(&bytes), "{size}");
            for at in [0, SAMPLE_BYTES - 1, bytes.len() - 1] {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert_ne!(hash(&other), hash(&bytes), "{size} {at}");
            }
        }
        let _ = std::io::Write::flush(&mut file);
    }
}
