//! Pieces of a large text, each with its own n-grams, so that only pieces that may match are
//! searched.
//!
//! A piece consists of whole lines, so that a match within a line is within a piece. Its line feeds
//! are counted, so that a reader that skips the piece knows the number of the next line. If a text
//! has too many n-grams to hold, neighbouring pieces are joined, and become larger.

use crate::ngram::{Ngram, NgramSet};

/// A piece ends with the first line that ends after this many bytes. Smaller pieces leave less to
/// search, but take more space: in Linux 6.1, where a third is in large files, they take 10.9 % of
/// the source with 128 KiB, 11.3 with 32, 11.6 with 16.
const PIECE_BYTES: u64 = 16 << 10;
/// Maximum number of n-grams of all pieces together.
const MAX_NGRAMS: usize = 4 << 20;
/// Maximum number of pieces.
pub(crate) const MAX_PIECES: usize = 1 << 14;

/// The extent of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of bytes.
    pub bytes: u64,
    /// Number of line feeds among them.
    pub lines: u32,
}

impl Extent {
    fn add(&mut self, text: &[u8]) {
        let lines = memchr::memchr_iter(b'\n', text).count();
        self.join(Self {
            bytes: text.len() as u64,
            lines: u32::try_from(lines).unwrap_or(u32::MAX),
        });
    }

    fn join(&mut self, next: Self) {
        self.bytes += next.bytes;
        self.lines = self.lines.saturating_add(next.lines);
    }
}

/// The n-grams of a text, piece by piece; reused for the next text.
#[derive(Debug)]
pub struct Pieces {
    done: Vec<Piece>,
    /// Number of n-grams of all pieces.
    n_ngrams: usize,
    limits: Limits,
    /// Minimum length of a piece of this text.
    piece_bytes: u64,
    /// The n-grams of the unfinished piece.
    set: NgramSet,
    extent: Extent,
    /// The last bytes that were added.
    last: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    piece_bytes: u64,
    n_ngrams: usize,
    n_pieces: usize,
}

#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) extent: Extent,
    pub(crate) ngrams: Vec<Ngram>,
}

impl Pieces {
    /// Creates pieces that hold at most this many n-grams, within the usual maximum.
    pub fn with_ngrams(n_ngrams: usize) -> Self {
        Self::new(Limits {
            piece_bytes: PIECE_BYTES,
            n_ngrams: n_ngrams.min(MAX_NGRAMS),
            n_pieces: MAX_PIECES,
        })
    }

    fn new(limits: Limits) -> Self {
        Self {
            done: Vec::new(),
            n_ngrams: 0,
            piece_bytes: limits.piece_bytes,
            limits,
            set: NgramSet::default(),
            extent: Extent { bytes: 0, lines: 0 },
            last: Vec::new(),
        }
    }

    /// Adds the next part of a text, which contains no byte 0. `whole` receives the n-grams of the
    /// whole text, complete once the text is [ended](Self::end).
    pub fn add(&mut self, mut text: &[u8], whole: &mut NgramSet) {
        while let Some(length) = self.rest_of_piece(text) {
            let (piece, others) = text.split_at(length);
            self.extend(piece, whole);
            self.end_piece(whole);
            text = others;
        }
        self.extend(text, whole);
    }

    /// Adds the n-grams that span the last bytes and the start of `text`: they may be in two
    /// pieces, or in one.
    fn bridge(&mut self, text: &[u8], whole: &mut NgramSet) {
        let start = &text[..text.len().min(NgramSet::OVERLAP)];
        self.last.extend_from_slice(start);
        whole.add(&self.last);
        if self.extent.bytes > 0 {
            self.set.add(&self.last);
        }
        if text.len() >= NgramSet::OVERLAP {
            self.last.clear();
            self.last
                .extend_from_slice(&text[text.len() - NgramSet::OVERLAP..]);
        } else {
            let too_many = self.last.len().saturating_sub(NgramSet::OVERLAP);
            self.last.drain(..too_many);
        }
    }

    /// Returns how much of the text belongs to the piece, if the piece ends in it.
    fn rest_of_piece(&self, text: &[u8]) -> Option<usize> {
        let least = self.piece_bytes.saturating_sub(self.extent.bytes);
        let from = usize::try_from(least).ok()?;
        let end = memchr::memchr(b'\n', text.get(from..)?)?;
        Some(from + end + 1)
    }

    fn extend(&mut self, text: &[u8], whole: &mut NgramSet) {
        self.bridge(text, whole);
        self.extent.add(text);
        self.set.add(text);
    }

    fn end_piece(&mut self, whole: &mut NgramSet) {
        let extent = std::mem::replace(&mut self.extent, Extent { bytes: 0, lines: 0 });
        // A piece with too many n-grams may contain anything, and then so may the whole text.
        let ngrams = self.set.ngrams().unwrap_or_default().to_vec();
        whole.join(&self.set);
        self.set.clear();
        self.n_ngrams += ngrams.len();
        self.done.push(Piece { extent, ngrams });
        while self.has_too_many() {
            self.halve();
        }
    }

    fn has_too_many(&self) -> bool {
        let (limits, n_pieces) = (self.limits, self.done.len());
        n_pieces > limits.n_pieces || (self.n_ngrams > limits.n_ngrams && n_pieces > 1)
    }

    /// Joins each pair of neighbours.
    fn halve(&mut self) {
        let mut pairs = std::mem::take(&mut self.done).into_iter();
        while let Some(mut piece) = pairs.next() {
            if let Some(next) = pairs.next() {
                piece.extent.join(next.extent);
                piece.ngrams.extend(next.ngrams);
                piece.ngrams.sort_unstable();
                piece.ngrams.dedup();
            }
            self.done.push(piece);
        }
        self.n_ngrams = self.done.iter().map(|piece| piece.ngrams.len()).sum();
        self.piece_bytes = self.piece_bytes.saturating_mul(2);
    }

    /// Ends the text.
    pub fn end(&mut self, whole: &mut NgramSet) {
        if self.extent.bytes > 0 {
            self.end_piece(whole);
        }
        // One piece says no more than the whole, nor do the pieces of a text that may contain
        // anything.
        if self.done.len() == 1 || whole.is_full() {
            self.clear();
        }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.done
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.done.clear();
        self.n_ngrams = 0;
        self.piece_bytes = self.limits.piece_bytes;
        self.set.clear();
        self.extent = Extent { bytes: 0, lines: 0 };
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ngram::ngrams_of;

    const LIMITS: Limits = Limits {
        piece_bytes: 20,
        n_ngrams: 1 << 20,
        n_pieces: 1 << 10,
    };

    /// Adds a text in parts of these lengths, which are repeated.
    fn taken(text: &[u8], lengths: &[usize], limits: Limits) -> (Pieces, NgramSet) {
        let (mut pieces, mut whole) = (Pieces::new(limits), NgramSet::default());
        let mut rest = text;
        for length in lengths.iter().cycle() {
            let (part, others) = rest.split_at(rest.len().min(*length));
            pieces.add(part, &mut whole);
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        pieces.end(&mut whole);
        (pieces, whole)
    }

    fn sorted(ngrams: &[Ngram]) -> Vec<Ngram> {
        let mut ngrams = ngrams.to_vec();
        ngrams.sort_unstable();
        ngrams
    }

    #[test]
    fn pieces_end_with_lines() {
        let text = b"one short line\nthen one that goes beyond the end\nlast";
        let (pieces, _) = taken(text, &[7], LIMITS);
        let extents: Vec<_> = pieces.done.iter().map(|piece| piece.extent).collect();
        let extent = |bytes, lines| Extent { bytes, lines };
        assert_eq!(extents, [extent(49, 2), extent(4, 0)]);
        assert!(
            taken(b"one short line\nand another", &[7], LIMITS)
                .0
                .done
                .is_empty()
        );
    }

    #[test]
    fn what_is_too_much_is_joined() {
        let text = "frob\nwidget\nquux\n".repeat(100);
        let few_ngrams = Limits {
            n_ngrams: 200,
            ..LIMITS
        };
        let few_pieces = Limits {
            n_pieces: 10,
            ..LIMITS
        };
        for limits in [few_ngrams, few_pieces] {
            let (pieces, _) = taken(text.as_bytes(), &[50], limits);
            assert!(pieces.n_ngrams <= limits.n_ngrams);
            assert!((2..=limits.n_pieces).contains(&pieces.done.len()));
            let extents = pieces.done.iter().map(|piece| piece.extent);
            let all = extents.reduce(|mut all, next| {
                all.join(next);
                all
            });
            let lines = 300;
            let bytes = text.len() as u64;
            assert_eq!(all, Some(Extent { bytes, lines }));
        }
    }

    proptest! {
        #[test]
        fn lines_are_in_their_pieces(
            text in r"([a-e]{1,9}|the |αβγ|日本|\n|\r\n){0,60}",
            lengths in prop::collection::vec(1_usize..40, 1..5),
            n_ngrams in 5_usize..200,
        ) {
            let text = text.as_bytes();
            let (pieces, whole) = taken(text, &lengths, Limits { n_ngrams, ..LIMITS });
            prop_assert_eq!(sorted(whole.ngrams().unwrap()), ngrams_of(text));
            let mut rest = text;
            for piece in &pieces.done {
                let (here, others) = rest.split_at(piece.extent.bytes as usize);
                prop_assert!(others.is_empty() || here.ends_with(b"\n"));
                let n_lines = here.iter().filter(|byte| **byte == b'\n').count();
                prop_assert_eq!(n_lines, piece.extent.lines as usize);
                let ngrams = sorted(&piece.ngrams);
                let of_lines = here.split_inclusive(|byte| *byte == b'\n').flat_map(ngrams_of);
                for ngram in of_lines {
                    prop_assert!(ngrams.binary_search(&ngram).is_ok());
                }
                rest = others;
            }
            prop_assert!(rest.is_empty() || pieces.done.is_empty());
        }
    }
}
