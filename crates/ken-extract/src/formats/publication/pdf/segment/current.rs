//! The segment that is being drawn: how glyphs join it, and which of its gaps are spaces.

use std::ops::Range;

use hayro_font::kurbo::Rect;

use super::super::hole::Hole;
use super::super::normal::only_char;
use super::super::script;
use super::{BASELINE_SHIFT, Glyph, OVERPRINT, SOFT_HYPHEN, Segment, WORD_GAP, Word};

/// A gap at a drawn space need only be this wide.
const DRAWN_SPACE_GAP: f32 = 0.03;
/// A gap wider than this share of the font size ends a segment.
const SEGMENT_GAP: f32 = 1.5;
/// A step back further than this ends a segment.
const SEGMENT_BACK: f32 = 0.35;
/// Text is letter-spaced if the usual gap of its letters is within these shares of the font size.
const LETTER_SPACE: Range<f32> = 0.06..0.25;
/// Where a page draws its spaces, it is also if letters are up to this far apart, all alike.
const WIDE_LETTER_SPACE: f32 = 0.8;
/// So many shares of the font size may equal gaps differ.
const EQUAL_GAPS: f32 = 0.03;
/// A widely spaced text has at least so many gaps between letters.
const MIN_WIDE_GAPS: usize = 4;

/// A gap between two glyphs that may be a space.
pub(super) struct Gap {
    /// Its position in the text of the segment.
    pub(super) at: usize,
    /// Start along the line.
    pub(super) x0: f32,
    pub(super) width: f32,
    pub(super) drawn: bool,
}

/// How a glyph joins the previous ones.
pub(super) enum Join {
    /// It starts another segment.
    Apart,
    /// It continues the segment.
    Follows,
    /// It is merged with the last glyph.
    Merged,
}

/// The current segment.
pub(super) struct Current {
    pub(super) segment: Segment,
    pub(super) text: String,
    pub(super) gaps: Vec<Gap>,
    pub(super) n_glyphs: usize,
    /// End of the last glyph, without and with the spacing that the text state requests.
    pub(super) pen: f32,
    pub(super) spaced_pen: f32,
    /// Start of the last glyph.
    pub(super) last_x: f32,
    /// Where its text starts.
    pub(super) last_at: usize,
    /// Steps to the left between right-to-left glyphs, minus those to the right.
    pub(super) leftward: i32,
    /// Where glyphs are that stand for several characters of a right-to-left script.
    pub(super) ligatures: Vec<Range<usize>>,
    /// Where the text of each glyph starts, and its area, if areas are wanted.
    pub(super) areas: Option<Vec<(usize, Rect)>>,
    /// Whether the page has drawn a space.
    pub(super) draws_spaces: bool,
}

impl Current {
    pub(super) fn new() -> Self {
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

    pub(super) fn begin(&mut self, placed: &Glyph, after_space: bool) {
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

    pub(super) fn is_empty(&self) -> bool {
        self.n_glyphs == 0
    }

    /// Determines how a glyph joins the segment, and notes the gap before it.
    pub(super) fn join(&mut self, text: &str, placed: &Glyph, drawn_space: bool) -> Join {
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

    pub(super) fn push(&mut self, text: &str, placed: &Glyph) {
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
    pub(super) fn turn_ligatures(&mut self) {
        for range in &self.ligatures {
            let turned: String = self.text[range.clone()].chars().rev().collect();
            self.text.replace_range(range.clone(), &turned);
        }
    }

    /// Adds the area of a glyph to that of the last one.
    pub(super) fn widen(&mut self, placed: &Glyph) {
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
    pub(super) fn write(&self, page: &mut String) {
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
    pub(super) fn holes(&self) -> Vec<Hole> {
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
    pub(super) fn words(&self) -> Vec<Word> {
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
