//! Decodes streams under limits, so that a small file does not unpack to more than memory holds.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;
use hayro_syntax::Filter;
use hayro_syntax::object::Stream;

/// Maximum size of one decoded content stream; the rest is left out.
pub(super) const MAX_CONTENT_BYTES: usize = 128 << 20;
/// Maximum length of a stream in a rare encoding, whose decoder has no limit. Such decoders produce
/// at most about 1,300 times the length of their input.
const MAX_RARE_BYTES: usize = 512 << 10;

/// The work that one document may still cost, in bytes of content streams.
pub(super) struct Budget {
    left: usize,
    exhausted: bool,
}

impl Budget {
    /// Creates a budget of `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            left: bytes,
            exhausted: false,
        }
    }

    /// Takes `bytes` if that much is left.
    pub(super) fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.exhausted = true,
        }
        !self.exhausted
    }

    /// Returns whether more was requested than was left.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}

/// Returns the content of a stream, cut at `limit` bytes; none if it cannot be decoded.
pub(super) fn decode<'a>(stream: &Stream<'a>, limit: usize) -> Option<Cow<'a, [u8]>> {
    let filters = stream.filters();
    let dict = stream.dict();
    match filters.as_slice() {
        [] => Some(cut(stream.raw_data(), limit)),
        [Filter::FlateDecode]
            if !dict.contains_key(b"DecodeParms") && !dict.contains_key(b"DP") =>
        {
            let raw = stream.raw_data();
            inflate(&raw, limit)
                .map(Cow::Owned)
                .or_else(|| rare(stream, limit))
        }
        _ => rare(stream, limit),
    }
}

fn cut(content: Cow<'_, [u8]>, limit: usize) -> Cow<'_, [u8]> {
    match content {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(limit)]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(limit);
            Cow::Owned(bytes)
        }
    }
}

/// Unpacks as much as possible: a damaged stream is read up to its damage.
fn inflate(raw: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut content = Vec::with_capacity(raw.len().saturating_mul(4).min(limit).min(4 << 20));
    let result = ZlibDecoder::new(raw)
        .take(limit as u64)
        .read_to_end(&mut content);
    (result.is_ok() || !content.is_empty()).then_some(content)
}

fn rare<'a>(stream: &Stream<'a>, limit: usize) -> Option<Cow<'a, [u8]>> {
    let n_expanding = stream
        .filters()
        .iter()
        .filter(|filter| {
            matches!(
                filter,
                Filter::FlateDecode | Filter::LzwDecode | Filter::RunLengthDecode
            )
        })
        .count();
    if n_expanding > 1 || (n_expanding == 1 && stream.raw_data().len() > MAX_RARE_BYTES) {
        return None;
    }
    stream
        .decoded_data()
        .ok()
        .map(|content| cut(content, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(10);
        assert!(budget.spend(10));
        assert!(!budget.is_exhausted());
        assert!(!budget.spend(1));
        assert!(budget.is_exhausted());
        assert!(!budget.spend(0));
    }
}
