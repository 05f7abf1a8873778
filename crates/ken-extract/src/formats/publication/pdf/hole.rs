//! Spaces that later glyphs fill.
//!
//! Where a font lacks a glyph, programs leave a gap in the line and draw the glyph with another font
//! after the line: a letter within a word, or a symbol. Only the gaps of the last few segments are kept.

use std::collections::VecDeque;

/// Gaps of so many segments are kept.
const MAX_SEGMENTS: usize = 16;
/// Of one segment, so many gaps.
const MAX_HOLES: usize = 256;

/// A wide space within a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    /// Where the space is in the text of the segment.
    pub(super) at: usize,
    /// Start along the line.
    pub(super) x0: f32,
    /// End along the line.
    pub(super) x1: f32,
}

impl Hole {
    /// A narrower gap, as a share of the font size, has no place for a glyph.
    pub(super) const MIN_WIDTH: f32 = 0.25;
}

/// Where a text goes into another segment, in place of a space.
pub(super) struct Filled {
    /// The number of the segment that takes it.
    pub(super) taker: usize,
    pub(super) at: usize,
    pub(super) space_before: bool,
    pub(super) space_after: bool,
}

/// The holes of the last segments.
pub(super) struct Holes(VecDeque<(usize, Vec<Hole>)>);

impl Holes {
    pub(super) fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Keeps the holes of a segment, by its number.
    pub(super) fn add(&mut self, segment: usize, mut holes: Vec<Hole>) {
        if holes.is_empty() {
            return;
        }
        if self.0.len() >= MAX_SEGMENTS {
            self.0.pop_front();
        }
        holes.truncate(MAX_HOLES);
        self.0.push_back((segment, holes));
    }

    /// Fills the hole that encloses a text of `n_bytes`, of a segment that `fits`. Up to `limit` beside
    /// it there is no space.
    pub(super) fn fill(
        &mut self,
        x0: f32,
        x1: f32,
        n_bytes: usize,
        limit: f32,
        fits: impl Fn(usize) -> bool,
    ) -> Option<Filled> {
        let (taker, holes) = self.0.iter_mut().rev().find(|(taker, holes)| {
            fits(*taker)
                && holes
                    .iter()
                    .any(|hole| hole.x0 - limit < x0 && x1 < hole.x1 + limit)
        })?;
        let place = holes
            .iter()
            .position(|hole| hole.x0 - limit < x0 && x1 < hole.x1 + limit)?;
        let hole = holes[place];
        let space_before = x0 - hole.x0 > limit;
        let space_after = hole.x1 - x1 > limit;
        // What follows moves; the rest of the hole may take another glyph.
        let n_added = n_bytes + usize::from(space_before) + usize::from(space_after) - 1;
        for later in &mut holes[place + 1..] {
            later.at += n_added;
        }
        if space_after {
            holes[place] = Hole {
                at: hole.at + n_bytes + usize::from(space_before),
                x0: x1,
                x1: hole.x1,
            };
        } else {
            holes.remove(place);
        }
        Some(Filled {
            taker: *taker,
            at: hole.at,
            space_before,
            space_after,
        })
    }
}
