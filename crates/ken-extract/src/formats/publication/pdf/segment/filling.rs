//! Puts a segment where another one left a hole.

use super::{Segment, Segments, WORD_GAP, Word};

/// Bytes of segments of one page that are written again because a glyph fills one of their spaces.
const MAX_FILLED_BYTES: usize = 4 << 20;

impl Segments {
    /// Puts a segment into a hole of one before it; returns false if it fits into none. Programs draw
    /// the glyphs that a font lacks with another one, after the rest of their line.
    pub(super) fn fill_hole(&mut self, segment: &Segment) -> bool {
        let fits = |taker: usize| {
            self.segments
                .get(taker)
                .is_some_and(|taker| taker.may_hold(segment))
        };
        if self.n_filled_bytes > MAX_FILLED_BYTES {
            return false;
        }
        let limit = WORD_GAP * segment.size;
        let Some(filled) =
            self.holes
                .fill(segment.x0, segment.x1, segment.range.len(), limit, fits)
        else {
            return false;
        };
        let taker = &mut self.segments[filled.taker];
        let start = self.text.len();
        let at = taker.range.start + filled.at;
        let (before, after) = (taker.range.start..at, at + 1..taker.range.end);
        self.text.extend_from_within(before);
        if filled.space_before {
            self.text.push(' ');
        }
        let inserted = self.text.len();
        self.text.extend_from_within(segment.range.clone());
        let end = self.text.len();
        if filled.space_after {
            self.text.push(' ');
        }
        self.text.extend_from_within(after);
        self.n_filled_bytes += self.text.len() - start;
        let old = std::mem::replace(&mut taker.range, start..self.text.len());
        let moved = |place: usize| {
            if place > at {
                end + usize::from(filled.space_after) + (place - at - 1)
            } else {
                start + (place - old.start)
            }
        };
        let mut words: Vec<Word> = self.words[taker.words.clone()]
            .iter()
            .map(|word| Word {
                range: moved(word.range.start)..moved(word.range.end),
                area: word.area,
            })
            .collect();
        words.extend(self.words[segment.words.clone()].iter().map(|word| Word {
            range: word.range.start - segment.range.start + inserted
                ..word.range.end - segment.range.start + inserted,
            area: word.area,
        }));
        words.sort_by_key(|word| word.range.start);
        words.dedup_by(|word, before| {
            let touches = before.range.end == word.range.start;
            if touches {
                before.range.end = word.range.end;
                before.area = before.area.union(word.area);
            }
            touches
        });
        let first = self.words.len();
        self.words.extend(words);
        taker.words = first..self.words.len();
        true
    }
}
