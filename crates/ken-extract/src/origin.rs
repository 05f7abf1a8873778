//! What documents are told of where they come from: which message they are a part of, where that
//! stands in its file, and a hash of the content that they were read from. What tells no time of its own
//! has that of the member that it is in.
//!
//! Copies have the same hash, in folders, archives and attachments alike. A large content is hashed
//! by its size and [`SAMPLES`] pieces of it, from the first to the last, so that a film costs no more
//! than a letter: copies are always recognised, and to be taken for a copy by mistake a content must
//! have the same size and differ between the pieces only.

use std::hash::Hasher;
use std::io;

use ken_core::{Document, Field, Ipath, Place};
use twox_hash::XxHash3_64;

use crate::detect::Detected;
use crate::{Input, Member, Sink};

/// Content up to this size is hashed whole.
const WHOLE_BYTES: u64 = 4 << 20;
const SAMPLES: u64 = 16;
const SAMPLE_BYTES: usize = 64 << 10;

/// Returns a hash of what an input holds; none if it holds nothing.
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

/// Returns where a member stands in the outermost file, with a hash of all that is read of it; none if it
/// cannot be read from there, or if what is read of it depends on more.
pub(crate) fn place(
    offset: Option<u64>,
    modified: Option<i64>,
    bytes: &[u8],
    seed: u64,
) -> Option<Place> {
    let (offset, modified) = offset.zip(modified)?;
    let mut hasher = XxHash3_64::with_seed(seed);
    hasher.write_i64(modified);
    hasher.write(bytes);
    Some(Place {
        offset,
        digest: hasher.finish(),
    })
}

/// Hands on what is found in one input, and tells it of its origin.
pub(crate) struct Origin<'s> {
    sink: &'s mut dyn Sink,
    ipath: Ipath,
    content: Option<u64>,
    place: Option<Place>,
    modified: Option<i64>,
    /// How many components of internal paths lead to the message around all of it.
    message: Option<u8>,
}

impl<'s> Origin<'s> {
    /// Returns the origin of what is found in an input; hashes its content with a seed.
    pub(crate) fn new(
        input: &Input<'_>,
        detected: Detected,
        seed: Option<u64>,
        sink: &'s mut dyn Sink,
    ) -> Self {
        // What cannot be read is told by the extraction.
        let content = seed.and_then(|seed| content(input, seed).ok().flatten());
        let own = || u8::try_from(input.ipath.depth()).ok();
        let message = input.message.or_else(|| is_message(detected).then(own)?);
        Self {
            sink,
            ipath: input.ipath.clone(),
            content,
            place: seed
                .and_then(|seed| place(input.offset, input.modified, input.in_memory()?, seed)),
            modified: input.modified,
            message,
        }
    }
}

/// One message, not a store of them.
fn is_message(detected: Detected) -> bool {
    ["message/rfc822", "application/vnd.ms-outlook"].contains(&detected.media_type)
}

impl Sink for Origin<'_> {
    fn document(&mut self, mut document: Document) {
        document.message = self.message;
        if document.ipath == self.ipath {
            document.content = self.content;
            document.place = self.place;
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
    fn a_place_is_of_all_that_is_read() {
        let of = |offset, modified, bytes: &[u8]| place(offset, modified, bytes, 7);
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
    fn what_tells_no_time_has_that_of_the_member_around_it() {
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
