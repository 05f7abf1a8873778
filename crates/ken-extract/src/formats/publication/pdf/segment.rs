//! Turns glyphs, in drawing order, into segments: pieces of text on one baseline without a wide
//! gap, in which the spaces between words are found.
//!
//! Many files hold no spaces (TeX moves the pen instead); others hold spaces that are not visible.
//! A space is therefore inferred from a gap: about a tenth of the font size, as in Poppler, and
//! more in letter-spaced text, where every gap is wide.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hayro_font::kurbo::{Point, Rect};

use super::hole::{Hole, Holes};
use super::normal::{Text, normalise, only_char};
use super::run::Run;
use super::script;

/// A gap wider than this share of the font size separates words.
pub(super) const WORD_GAP: f32 = 0.1;
/// A gap at a drawn space need only be this wide.
const DRAWN_SPACE_GAP: f32 = 0.03;
/// A gap wider than this share of the font size ends a segment.
const SEGMENT_GAP: f32 = 1.5;
/// A step back further than this ends a segment.
const SEGMENT_BACK: f32 = 0.35;
/// A baseline further away than this share of the font size is another one.
const BASELINE_SHIFT: f32 = 0.08;
/// A glyph this close to an equal one is the same glyph, printed twice to look bold.
const OVERPRINT: f32 = 0.12;
/// Text is letter-spaced if the usual gap of its letters is within these shares of the font size.
const LETTER_SPACE: Range<f32> = 0.06..0.25;
/// Where a page draws its spaces, it is also if letters are up to this far apart, all alike.
const WIDE_LETTER_SPACE: f32 = 0.8;
/// So many shares of the font size may equal gaps differ.
const EQUAL_GAPS: f32 = 0.03;
/// A widely spaced text has at least so many gaps between letters.
const MIN_WIDE_GAPS: usize = 4;
/// The smaller of two sizes is at least this share of the larger one, if they are alike.
const SAME_SIZE: f32 = 0.8;
/// Bytes of segments of one page that are written again because a glyph fills one of their spaces.
const MAX_FILLED_BYTES: usize = 4 << 20;
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

/// A gap between two glyphs that may be a space.
struct Gap {
    /// Its position in the text of the segment.
    at: usize,
    /// Start along the line.
    x0: f32,
    width: f32,
    drawn: bool,
}

/// How a glyph joins the previous ones.
enum Join {
    /// It starts another segment.
    Apart,
    /// It continues the segment.
    Follows,
    /// It is merged with the last glyph.
    Merged,
}

/// The current segment.
struct Current {
    segment: Segment,
    text: String,
    gaps: Vec<Gap>,
    n_glyphs: usize,
    /// End of the last glyph, without and with the spacing that the text state requests.
    pen: f32,
    spaced_pen: f32,
    /// Start of the last glyph.
    last_x: f32,
    /// Where its text starts.
    last_at: usize,
    /// Steps to the left between right-to-left glyphs, minus those to the right.
    leftward: i32,
    /// Where glyphs are that stand for several characters of a right-to-left script.
    ligatures: Vec<Range<usize>>,
    /// Where the text of each glyph starts, and its area, if areas are wanted.
    areas: Option<Vec<(usize, Rect)>>,
    /// Whether the page has drawn a space.
    draws_spaces: bool,
}

impl Current {
    fn new() -> Self {
        Self {
            segment: Segment {
                range: 0..0,
                angle: 0,
                x0: 0.0,
                x1: 0.0,
                y: 0.0,
                size: 0.0,
                after_space: false,
                words: 0..0,
            },
            text: String::new(),
            gaps: Vec::new(),
            n_glyphs: 0,
            pen: 0.0,
            spaced_pen: 0.0,
            last_x: 0.0,
            last_at: 0,
            leftward: 0,
            ligatures: Vec::new(),
            areas: None,
            draws_spaces: false,
        }
    }

    fn begin(&mut self, placed: &Glyph, after_space: bool) {
        self.segment.angle = placed.run.angle;
        self.segment.x0 = placed.x0;
        self.segment.x1 = placed.x1;
        self.segment.y = placed.run.y;
        self.segment.size = placed.run.size;
        self.segment.after_space = after_space;
        self.text.clear();
        self.gaps.clear();
        self.n_glyphs = 0;
        self.leftward = 0;
        self.ligatures.clear();
        if let Some(areas) = &mut self.areas {
            areas.clear();
        }
    }

    fn is_empty(&self) -> bool {
        self.n_glyphs == 0
    }

    /// Determines how a glyph joins the segment, and notes the gap before it.
    fn join(&mut self, text: &str, placed: &Glyph, drawn_space: bool) -> Join {
        let size = placed.run.size;
        if self.is_empty() || placed.run.angle != self.segment.angle {
            return Join::Apart;
        }
        let shift = (placed.run.y - self.segment.y).abs();
        if !drawn_space && shift < size && placed.x0 < self.pen && self.merge(text, placed, shift) {
            return Join::Merged;
        }
        if shift > BASELINE_SHIFT * self.segment.size.max(size) {
            return Join::Apart;
        }
        let mut gap = placed.x0
            - if drawn_space {
                self.pen
            } else {
                self.spaced_pen
            };
        if !(-SEGMENT_BACK * size..SEGMENT_GAP * size).contains(&gap) {
            gap = self.last_x - placed.x1;
            if !self.reads_leftward(text) || gap.abs() > SEGMENT_GAP * size {
                return Join::Apart;
            }
            self.leftward += 2;
        }
        self.leftward -= 1;
        self.note_gap(gap, size, drawn_space);
        Join::Follows
    }

    /// Drops an overprinted glyph, and joins an accent and its letter.
    fn merge(&mut self, text: &str, placed: &Glyph, shift: f32) -> bool {
        let last = &self.text[self.last_at..];
        let limit = OVERPRINT * placed.run.size;
        if last == text && shift < limit && (placed.x0 - self.last_x).abs() < limit {
            return true;
        }
        let (Some(first), Some(second)) = (only_char(last), only_char(text)) else {
            return false;
        };
        let overlap = self.pen.min(placed.x1) - self.last_x.max(placed.x0);
        let narrower = (self.pen - self.last_x).min(placed.x1 - placed.x0);
        let accented = script::accented(first, second).filter(|_| overlap > 0.5 * narrower);
        let Some(accented) = accented else {
            return false;
        };
        self.text.truncate(self.last_at);
        self.text.push(accented);
        self.widen(placed);
        if second.is_alphabetic() {
            self.segment.y = placed.run.y;
            self.advance(placed);
        }
        true
    }

    fn reads_leftward(&self, text: &str) -> bool {
        let is_rtl = |text: &str| text.chars().next().is_some_and(script::is_right_to_left);
        is_rtl(text) && is_rtl(&self.text[self.last_at..])
    }

    fn note_gap(&mut self, width: f32, size: f32, drawn: bool) {
        if width > DRAWN_SPACE_GAP * size {
            self.gaps.push(Gap {
                at: self.text.len(),
                x0: self.pen,
                width: width / size,
                drawn,
            });
        }
    }

    fn push(&mut self, text: &str, placed: &Glyph) {
        self.end_soft_hyphen(text);
        self.last_at = self.text.len();
        self.text.push_str(text);
        if text.len() > 2 && only_char(text).is_none() && text.contains(script::is_right_to_left) {
            self.ligatures.push(self.last_at..self.text.len());
        }
        self.n_glyphs += 1;
        self.segment.size = self.segment.size.max(placed.run.size);
        if let Some(areas) = &mut self.areas {
            areas.push((self.last_at, placed.area()));
        }
        self.advance(placed);
    }

    /// Drops a soft hyphen between letters; elsewhere it is a hyphen.
    fn end_soft_hyphen(&mut self, next: &str) {
        let end = self.text.len();
        let Some(word) = self.text.strip_suffix(SOFT_HYPHEN) else {
            return;
        };
        // A hyphen at the end of a line may be drawn in addition.
        let continues = |char: char| char.is_alphabetic() || char == '-';
        let is_in_word = word.ends_with(char::is_alphabetic) && next.starts_with(continues);
        self.text.truncate(word.len());
        let gap = self.gaps.last_mut().filter(|gap| gap.at == end);
        let is_space = |gap: &&mut Gap| gap.drawn || gap.width > WORD_GAP;
        if !is_in_word || gap.as_ref().is_some_and(is_space) {
            self.text.push('-');
        }
        if let Some(gap) = gap {
            gap.at = self.text.len();
        }
    }

    /// Turns each ligature around, so that it reads right when the whole text has been turned.
    fn turn_ligatures(&mut self) {
        for range in &self.ligatures {
            let turned: String = self.text[range.clone()].chars().rev().collect();
            self.text.replace_range(range.clone(), &turned);
        }
    }

    /// Adds the area of a glyph to that of the last one.
    fn widen(&mut self, placed: &Glyph) {
        if let Some((_, area)) = self.areas.as_mut().and_then(|areas| areas.last_mut()) {
            *area = area.union(placed.area());
        }
    }

    fn advance(&mut self, placed: &Glyph) {
        self.segment.x0 = self.segment.x0.min(placed.x0);
        self.segment.x1 = self.segment.x1.max(placed.x1);
        self.last_x = placed.x0;
        self.pen = placed.x1;
        self.spaced_pen = placed.x1 + placed.spacing.max(0.0);
    }

    /// Appends the segment's text, with its spaces, to the page's.
    fn write(&self, page: &mut String) {
        let mut written = 0;
        for at in self.spaces().map(|gap| gap.at) {
            page.push_str(&self.text[written..at]);
            page.push(' ');
            written = at;
        }
        page.push_str(&self.text[written..]);
    }

    /// Returns the gaps that are spaces of the text.
    fn spaces(&self) -> impl Iterator<Item = &Gap> {
        let letter_gap = self.letter_gap();
        let limit = letter_gap.map_or(WORD_GAP, |gap| 1.5 * gap + 0.5 * WORD_GAP);
        self.gaps.iter().filter(move |gap| {
            let wide = gap.width > limit || (gap.drawn && letter_gap.is_none());
            wide && !self.is_unspaced(gap)
        })
    }

    /// Returns the spaces that a glyph may fill, by where they are in what [`Self::write`] appends.
    fn holes(&self) -> Vec<Hole> {
        let spaces = self.spaces().enumerate();
        let size = self.segment.size;
        spaces
            .filter(|(_, gap)| gap.width > Hole::MIN_WIDTH)
            .map(|(n_spaces, gap)| Hole {
                at: gap.at + n_spaces,
                x0: gap.x0,
                x1: gap.x0 + gap.width * size,
            })
            .collect()
    }

    /// Returns the usual gap between letters if they are spaced out: nearly all are apart, but for
    /// pairs that are kerned. Dots before a page number are no letters.
    fn letter_gap(&self) -> Option<f32> {
        let n_drawn = self.gaps.iter().filter(|gap| gap.drawn).count();
        let n_others = self.n_glyphs.saturating_sub(1 + n_drawn);
        if self.n_glyphs <= 3 || self.gaps.len() - n_drawn < n_others / 2 {
            return None;
        }
        let letters = self.text.chars().zip(self.text.chars().skip(1));
        let n_pairs = letters.filter(|&(first, second)| is_letter(first) && is_letter(second));
        let between_letters = |gap: &&Gap| {
            let before = self.text[..gap.at].chars().next_back();
            let after = self.text[gap.at..].chars().next();
            before.is_some_and(is_letter) && after.is_some_and(is_letter)
        };
        let gaps = self.gaps.iter().filter(between_letters);
        let (drawn, others): (Vec<&Gap>, Vec<&Gap>) = gaps.partition(|gap| gap.drawn);
        let n_letter_gaps = n_pairs.count().saturating_sub(drawn.len());
        let mut widths: Vec<f32> = others.iter().map(|gap| gap.width).collect();
        widths.retain(|&width| width > LETTER_SPACE.start);
        if widths.len() < 2 || widths.len() < n_letter_gaps * 4 / 5 {
            return None;
        }
        widths.sort_by(f32::total_cmp);
        let usual = widths[widths.len() / 3];
        let is_spaced = LETTER_SPACE.contains(&usual)
            || (LETTER_SPACE.end..WIDE_LETTER_SPACE).contains(&usual)
                && self.is_wide_spacing(&widths, usual);
        is_spaced.then_some(usual)
    }

    /// Returns whether wide gaps between letters are no spaces: the page draws spaces where it has
    /// some, and the gaps are alike.
    fn is_wide_spacing(&self, widths: &[f32], usual: f32) -> bool {
        let equal = |width: &&f32| (**width - usual).abs() < EQUAL_GAPS;
        self.draws_spaces
            && widths.len() >= MIN_WIDE_GAPS
            && widths.iter().filter(equal).count() >= widths.len() * 4 / 5
            && self
                .text
                .chars()
                .filter(|char| is_letter(*char))
                .all(char::is_alphabetic)
    }

    /// Returns the words between the spaces, with their ranges in what [`Self::write`] appends.
    fn words(&self) -> Vec<Word> {
        let Some(areas) = &self.areas else {
            return Vec::new();
        };
        let mut areas = areas.iter().peekable();
        let spaces = self.spaces().map(|gap| gap.at);
        let ends = spaces.chain([self.text.len()]);
        let mut words = Vec::new();
        let mut start = 0;
        for (n_spaces, end) in ends.enumerate() {
            let mut area: Option<Rect> = None;
            while let Some((_, glyph)) = areas.next_if(|(at, _)| *at < end) {
                area = Some(area.map_or(*glyph, |area| area.union(*glyph)));
            }
            words.extend(area.map(|area| Word {
                range: start + n_spaces..end + n_spaces,
                area,
            }));
            start = end;
        }
        words
    }

    /// Returns whether a gap is between characters of a script without spaces.
    fn is_unspaced(&self, gap: &Gap) -> bool {
        let before = self.text[..gap.at].chars().next_back();
        let after = self.text[gap.at..].chars().next();
        gap.width < 1.0
            && before.is_some_and(script::is_unspaced)
            && after.is_some_and(script::is_unspaced)
    }
}

fn is_letter(char: char) -> bool {
    char.is_alphanumeric()
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

    /// Puts a segment into a hole of one before it; returns false if it fits into none. Programs draw
    /// the glyphs that a font lacks with another one, after the rest of their line.
    fn fill_hole(&mut self, segment: &Segment) -> bool {
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

/// Returns the words of a text that was turned around. If it holds a run of left-to-right words, which
/// kept their order, the whole text is one word.
fn turned(words: &[Word], text: &str) -> Vec<Word> {
    let turned = words.iter().rev().map(|word| Word {
        range: text.len() - word.range.end..text.len() - word.range.start,
        area: word.area,
    });
    let turned: Vec<_> = turned.collect();
    let is_space = |at: Option<usize>| at.is_none_or(|at| text.as_bytes().get(at) == Some(&b' '));
    let fits = turned.iter().all(|Word { range, .. }| {
        let before = is_space(range.start.checked_sub(1));
        let after = range.end == text.len() || is_space(Some(range.end));
        before && after && !text[range.clone()].contains(' ')
    });
    if fits {
        return turned;
    }
    let area = words
        .iter()
        .map(|word| word.area)
        .reduce(|all, area| all.union(area));
    let all = area.map(|area| Word {
        range: 0..text.len(),
        area,
    });
    all.into_iter().collect()
}
