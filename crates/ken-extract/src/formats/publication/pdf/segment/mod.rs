//! Turns glyphs, in drawing order, into segments: pieces of text on one baseline without a wide
//! gap, in which the spaces between words are found.
//!
//! Many files hold no spaces (TeX moves the pen instead); others hold spaces that are not visible.
//! A space is therefore inferred from a gap: about a tenth of the font size, as in Poppler, and
//! more in letter-spaced text, where every gap is wide.

mod current;
mod filling;
mod turned;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hayro_font::kurbo::{Point, Rect};

use super::hole::Holes;
use super::normal::{Text, normalise, only_char};
use super::run::Run;
use super::script;
use current::{Current, Join};
use turned::turned;

/// A gap wider than this share of the font size separates words.
pub(super) const WORD_GAP: f32 = 0.1;
/// A baseline further away than this share of the font size is another one.
const BASELINE_SHIFT: f32 = 0.08;
/// A glyph this close to an equal one is the same glyph, printed twice to look bold.
const OVERPRINT: f32 = 0.12;
/// The smaller of two sizes is at least this share of the larger one, if they are alike.
const SAME_SIZE: f32 = 0.8;
/// A hyphen that is seen only at the end of a line.
pub(super) const SOFT_HYPHEN: char = '\u{AD}';
/// Glyphs of one page beyond this number are left out.
const MAX_GLYPHS: usize = 4_000_000;

/// A piece of text on one baseline.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Its text, within [`Segments::text`].
    pub(super) range: Range<usize>,
    pub(super) angle: i16,
    /// Start along the line.
    pub(super) x0: f32,
    /// End along the line.
    pub(super) x1: f32,
    /// Baseline; it grows upwards.
    pub(super) y: f32,
    /// Font size.
    pub(super) size: f32,
    /// Whether a space is drawn before it.
    pub(super) after_space: bool,
    /// Its words, within [`Segments::words`].
    pub(super) words: Range<usize>,
}

impl Segment {
    /// Returns whether another segment may be part of this one: text of the same size on the same line.
    fn may_hold(&self, other: &Self) -> bool {
        let size = self.size.max(other.size);
        self.angle == other.angle
            && (self.y - other.y).abs() <= BASELINE_SHIFT * size
            && self.size.min(other.size) > SAME_SIZE * size
    }
}

/// A word, with the upright rectangle of the page that encloses it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// Its text, within the text that holds it.
    pub(super) range: Range<usize>,
    pub(super) area: Rect,
}

/// A glyph on the page.
struct Glyph {
    run: Run,
    x0: f32,
    x1: f32,
    /// Spacing after it that the text state requests.
    spacing: f32,
}

impl Glyph {
    /// Returns the upright rectangle of the page that encloses it.
    fn area(&self) -> Rect {
        let Run { y, unit, reach, .. } = self.run;
        let [low, high] = reach.map(|reach| y + reach);
        let corner = |x: f32, y: f32| {
            let (x, y) = (x * unit.0 - y * unit.1, x * unit.1 + y * unit.0);
            Point::new(x.into(), y.into())
        };
        Rect::from_points(corner(self.x0, low), corner(self.x1, high))
            .union_pt(corner(self.x0, high))
            .union_pt(corner(self.x1, low))
    }
}

/// Collects the text of one page.
pub(super) struct Segments {
    /// The text of all segments.
    text: String,
    /// The segments in drawing order.
    pub(super) segments: Vec<Segment>,
    /// The words of all segments, with their ranges in the text; none if they are not wanted.
    pub(super) words: Vec<Word>,
    current: Current,
    run: Option<Run>,
    space: bool,
    actual_text: Option<Text>,
    /// The last segment with each text, by the text's hash.
    by_text: HashMap<u64, Segment>,
    hasher: RandomState,
    /// Spaces of the last segments that are wide enough for a glyph.
    holes: Holes,
    /// Bytes that were written again to fill them.
    n_filled_bytes: usize,
    n_glyphs: usize,
    bounds: Rect,
}

impl Segments {
    /// Creates an empty page. What is outside of `bounds` is left out, unless they are empty.
    pub(super) fn new(bounds: Rect) -> Self {
        Self {
            text: String::new(),
            segments: Vec::new(),
            words: Vec::new(),
            current: Current::new(),
            run: None,
            space: false,
            actual_text: None,
            by_text: HashMap::new(),
            hasher: RandomState::new(),
            holes: Holes::new(),
            n_filled_bytes: 0,
            n_glyphs: 0,
            bounds,
        }
    }

    /// Makes the page note where its words are.
    pub(super) fn with_words(mut self) -> Self {
        self.current.areas = Some(Vec::new());
        self
    }

    /// Returns the text of a segment.
    pub(super) fn text_of(&self, segment: &Segment) -> &str {
        &self.text[segment.range.clone()]
    }

    /// Starts a run; the following glyphs are placed relative to its start.
    pub(super) fn begin_run(&mut self, run: Run) {
        self.run = Some(run);
    }

    /// Replaces the following glyphs by a text, until [`Self::end_actual_text`].
    pub(super) fn begin_actual_text(&mut self, text: &str) {
        self.actual_text = Some(match only_char(text) {
            Some(SOFT_HYPHEN) => Text::Char(SOFT_HYPHEN),
            _ => normalise(text),
        });
    }

    /// Ends the replacement of [`Self::begin_actual_text`].
    pub(super) fn end_actual_text(&mut self) {
        self.actual_text = None;
    }

    /// Adds a glyph, with its distance from the start of the run, its width, and the spacing after
    /// it, all in text space.
    pub(super) fn glyph(&mut self, text: &Text, at: f64, width: f64, spacing: f64) {
        let Some(run) = self.run else {
            return;
        };
        let x0 = run.x + at as f32 * run.scale;
        let x1 = x0 + width as f32 * run.scale;
        let placed = Glyph {
            run,
            x0: x0.min(x1),
            x1: x0.max(x1),
            spacing: spacing as f32 * run.scale,
        };
        if !placed.x1.is_finite() || self.n_glyphs >= MAX_GLYPHS || self.is_outside(&placed) {
            return;
        }
        self.n_glyphs += 1;
        match &mut self.actual_text {
            None => self.place(text, &placed),
            Some(actual) => {
                // The first glyph takes the whole text, the others only take space.
                let text = std::mem::replace(actual, Text::Unknown);
                self.place(&text, &placed);
            }
        }
    }

    /// Returns whether an upright glyph is off the page, where it is not visible.
    fn is_outside(&self, placed: &Glyph) -> bool {
        let Run { angle, y, size, .. } = placed.run;
        let Rect { x0, y0, x1, y1 } = self.bounds;
        let [x0, y0, x1, y1] = [x0, y0, x1, y1].map(|bound| bound as f32);
        let beside = placed.x1 < x0 || placed.x0 > x1;
        let is_page = self.bounds.area() > 0.0;
        angle == 0 && is_page && (beside || y < y0 - size || y > y1)
    }

    fn place(&mut self, text: &Text, placed: &Glyph) {
        let mut buffer = [0; 4];
        let text: &str = match text {
            Text::Space => {
                self.space = true;
                self.current.draws_spaces = true;
                return;
            }
            Text::Unknown => return self.skip(placed),
            Text::Char(char) => char.encode_utf8(&mut buffer),
            Text::Chars(chars) => chars,
        };
        match self.current.join(text, placed, self.space) {
            Join::Merged => return,
            Join::Follows => {}
            Join::Apart => {
                self.finish_segment();
                self.current.begin(placed, self.space);
            }
        }
        self.space = false;
        self.current.push(text, placed);
    }

    /// Moves the pen past a glyph without text, so that the glyph does not look like a gap.
    fn skip(&mut self, placed: &Glyph) {
        let gap = placed.x0 - self.current.spaced_pen;
        let size = placed.run.size;
        if placed.run.angle == self.current.segment.angle && gap.abs() < WORD_GAP * size {
            self.current.pen = placed.x1;
            self.current.spaced_pen = placed.x1 + placed.spacing.max(0.0);
            self.current.widen(placed);
        }
    }

    /// Ends the current segment, unless it duplicates one at the same position.
    pub(super) fn finish_segment(&mut self) {
        if self.current.is_empty() {
            return;
        }
        let start = self.text.len();
        let is_turned =
            self.current.leftward <= 0 && self.current.text.contains(script::is_right_to_left);
        if is_turned {
            self.current.turn_ligatures();
        }
        self.current.write(&mut self.text);
        if is_turned {
            let logical = script::logical_order(&self.text[start..]);
            self.text.truncate(start);
            self.text.push_str(&logical);
        }
        let mut segment = self.current.segment.clone();
        segment.range = start..self.text.len();
        if self.is_overprint(&segment) {
            self.text.truncate(start);
        } else {
            self.add_words(&mut segment, is_turned);
            if is_turned || !self.fill_hole(&segment) {
                if !is_turned {
                    self.holes.add(self.segments.len(), self.current.holes());
                }
                self.segments.push(segment);
            }
        }
        self.current.n_glyphs = 0;
    }

    /// Adds the words of the current segment, whose text may have been turned from visual to reading
    /// order.
    fn add_words(&mut self, segment: &mut Segment, is_turned: bool) {
        let mut words = self.current.words();
        let text = &self.text[segment.range.clone()];
        if is_turned {
            words = turned(&words, text);
        }
        let start = self.words.len();
        self.words.extend(words.into_iter().map(|word| Word {
            range: word.range.start + segment.range.start..word.range.end + segment.range.start,
            ..word
        }));
        segment.words = start..self.words.len();
    }

    /// Returns whether a segment was drawn before at nearly the same place, as for bold or a shadow.
    fn is_overprint(&mut self, segment: &Segment) -> bool {
        let text = &self.text[segment.range.clone()];
        let hash = self.hasher.hash_one(text);
        let limit = 2.0 * OVERPRINT * segment.size;
        let is_same = |before: &Segment| {
            before.angle == segment.angle
                && (before.x0 - segment.x0).abs() < limit
                && (before.y - segment.y).abs() < limit
                && &self.text[before.range.clone()] == text
        };
        let is_overprint = self.by_text.get(&hash).is_some_and(is_same);
        if !is_overprint {
            self.by_text.insert(hash, segment.clone());
        }
        is_overprint
    }
}
