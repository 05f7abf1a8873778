//! Turns the segments of a page into text: lines, blocks, hyphenated words.
//!
//! Files usually draw text in reading order, so that order is kept unless most steps go up the
//! page. An interruption (a note in the margin, line numbers, the next cell of a row) becomes a
//! separate block. A segment continues the line or column that it belongs to, whatever was drawn in
//! between, and blocks follow each other in the order of their beginnings.

use std::cmp::Ordering;

use super::script;
use super::segment::{SOFT_HYPHEN, Segment, Segments, WORD_GAP, Word};
use crate::output::body::is_note_number;

/// Maximum distance of a segment's baseline from its line, as a share of the font size: for an
/// exponent, an index or a fraction.
const SAME_LINE: f32 = 0.5;
/// The same for small print such as exponents.
const SMALL_SAME_LINE: f32 = 0.9;
/// Print smaller than this share of the line's font size is small.
const SMALL: f32 = 0.85;
/// Print smaller than this share of a letter that stands before it follows a large first letter.
const DROP_CAP: f32 = 0.6;
/// A baseline this share of the font size above that of the line is raised.
const MIN_RAISE: f32 = 0.1;
/// A segment may start this share of the font size before the end of the previous one.
const OVERLAP: f32 = 0.5;
/// A wider gap (as a share of the font size) separates columns.
const COLUMN_GAP: f32 = 2.0;
/// A line further below than this many font sizes starts another block.
const LINE_SPACING: f32 = 1.6;
/// Number of blocks before the last that may still continue.
const OPEN_BLOCKS: usize = 32;
/// Number of parts of a line before the last into whose gaps others may fit.
const OPEN_PARTS: usize = 32;
/// Number of steps up the page that are always allowed, as for headers and figures.
const MIN_UPWARD: usize = 4;

/// Words before which a hyphen stands for the rest of a compound: *und*, *oder* and the like in
/// Germanic languages. Words that also end a divided word (*Frau-en*) are not among them.
const HANGING: [&str; 10] = [
    "und", "oder", "bzw", "sowie", "and", "or", "of", "och", "eller", "og",
];

/// Words within compounds of English, behind which a hyphen at the end of a line divides no word:
/// `state-of-the-art`.
const LINKS: [&str; 12] = [
    "a", "and", "by", "for", "in", "of", "on", "or", "out", "the", "to", "up",
];

/// Appends the text of a page, and returns its words with their ranges in the body, if the page noted
/// where they are.
pub(super) fn write(page: &Segments, body: &mut String) -> Vec<Word> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut latest = 0;
    let mut leads = false;
    for (index, segment) in page.segments.iter().enumerate() {
        let text = page.text_of(segment);
        if leads
            && let Some(block) = blocks.get_mut(latest)
            && block.is_beside(segment)
        {
            block.add(index, segment, text, Place::Beside);
            leads = is_leader(text);
            continue;
        }
        leads = is_leader(text);
        let open = blocks.iter().enumerate().rev().take(OPEN_BLOCKS);
        let mut takers =
            open.filter_map(|(taker, block)| Some((taker, block.place(segment, text)?)));
        if let Some((taker, place)) = takers.next() {
            latest = taker;
            blocks[taker].add(index, segment, text, place);
        } else {
            latest = blocks.len();
            blocks.push(Block::new(index, segment, text));
        }
    }
    if !is_reading_order(&blocks) {
        blocks.sort_by(Block::top_down);
    }
    let mut words = Vec::new();
    let mut previous: Option<&Line> = None;
    for line in blocks.iter().flat_map(|block| &block.lines) {
        if let Some(previous) = previous {
            break_line(body, previous, line, page);
            cut(&mut words, body.len());
        }
        line.write(page, body, &mut words);
        previous = Some(line);
    }
    end_soft_hyphen(body, false);
    cut(&mut words, body.len());
    words
}

/// Takes the hyphen that a line break removed from the last word.
fn cut(words: &mut [Word], n_bytes: usize) {
    if let Some(last) = words.last_mut() {
        last.range.end = last.range.end.min(n_bytes);
    }
}

/// Returns whether blocks are drawn in reading order: those in one column mostly go down the page.
fn is_reading_order(blocks: &[Block]) -> bool {
    let mut n_down = 0;
    let mut n_up = 0;
    for pair in blocks.windows(2) {
        let [above, below] = pair else { continue };
        let in_column = above.x0 < below.x1 && below.x0 < above.x1;
        if above.angle == below.angle && in_column {
            if below.y() < above.y() {
                n_down += 1;
            } else {
                n_up += 1;
            }
        }
    }
    // Figures, formulas and notes cause a few steps up among many down.
    n_up < MIN_UPWARD || n_up * 3 < n_down * 2
}

/// Returns whether the next segment to the right belongs to a text however wide the gap is: after a
/// section number, and after the dots before a page number.
fn is_leader(text: &str) -> bool {
    let is_number =
        text.contains('.') && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    is_number || text.ends_with(" .") || text.ends_with("..")
}

/// Lines that follow each other downwards.
struct Block {
    angle: i16,
    x0: f32,
    x1: f32,
    /// The lines, of which the last one is growing.
    lines: Vec<Line>,
}

impl Block {
    fn new(index: usize, segment: &Segment, text: &str) -> Self {
        Self {
            angle: segment.angle,
            x0: segment.x0,
            x1: segment.x1,
            lines: vec![Line::new(index, segment, text)],
        }
    }

    /// Returns the baseline of the first line.
    fn y(&self) -> f32 {
        self.lines.first().map_or(0.0, |line| line.y)
    }

    /// Orders from the top, then from the left; text of each angle separately.
    fn top_down(&self, other: &Self) -> Ordering {
        let angle = self.angle.cmp(&other.angle);
        let down = other.y().total_cmp(&self.y());
        angle.then(down).then(self.x0.total_cmp(&other.x0))
    }

    /// Returns where a segment continues the block, if it does.
    fn place(&self, segment: &Segment, text: &str) -> Option<Place> {
        let line = self.lines.last().filter(|_| self.angle == segment.angle)?;
        if line.is_letter && segment.size < DROP_CAP * line.size {
            let is_beside = line.is_large_letter_of(segment, text) || line.takes(segment, text);
            return is_beside.then_some(Place::Beside);
        }
        if line.takes(segment, text) {
            return Some(Place::Beside);
        }
        self.continues_below(line, segment).then_some(Place::Below)
    }

    /// Returns whether a segment is to the right of the last line.
    fn is_beside(&self, segment: &Segment) -> bool {
        self.lines.last().is_some_and(|line| {
            self.angle == segment.angle && line.is_level(segment) && segment.x0 >= line.last.1
        })
    }

    fn continues_below(&self, line: &Line, segment: &Segment) -> bool {
        let size = line.size.max(segment.size);
        let below = line.y - segment.y;
        // Small print may be set tight below a large line.
        let least = SAME_LINE * segment.size.min(line.size).max(SMALL * segment.size);
        let overlaps = segment.x0 < self.x1 && segment.x1 > self.x0;
        overlaps && below > least && below < LINE_SPACING * size
    }

    fn add(&mut self, index: usize, segment: &Segment, text: &str, place: Place) {
        self.x0 = self.x0.min(segment.x0);
        self.x1 = self.x1.max(segment.x1);
        match self.lines.last_mut() {
            Some(line) if place == Place::Beside => line.add(index, segment, text),
            _ => self.lines.push(Line::new(index, segment, text)),
        }
    }
}

/// Where a segment continues a block.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// In its last line.
    Beside,
    /// In a new line.
    Below,
}

/// A segment of a line.
struct Part {
    index: usize,
    /// Whether a space precedes it.
    space: bool,
    /// Whether one is drawn before it.
    after_space: bool,
    x0: f32,
    x1: f32,
}

impl Part {
    fn new(index: usize, space: bool, segment: &Segment) -> Self {
        Self {
            index,
            space,
            after_space: segment.after_space,
            x0: segment.x0,
            x1: segment.x1,
        }
    }
}

/// Segments next to each other.
struct Line {
    parts: Vec<Part>,
    x0: f32,
    x1: f32,
    y: f32,
    size: f32,
    /// Ends and baseline of the last segment.
    last: (f32, f32, f32),
    /// Font size of the last segment.
    last_size: f32,
    /// Whether it is a single letter.
    is_letter: bool,
}

impl Line {
    fn new(index: usize, segment: &Segment, text: &str) -> Self {
        Self {
            parts: vec![Part::new(index, false, segment)],
            x0: segment.x0,
            x1: segment.x1,
            y: segment.y,
            size: segment.size,
            last: (segment.x0, segment.x1, segment.y),
            last_size: segment.size,
            is_letter: is_single_letter(text),
        }
    }

    /// Returns whether the line is the large first letter of a text.
    fn is_large_letter_of(&self, segment: &Segment, text: &str) -> bool {
        let right = segment.x0 - self.x1;
        self.is_letter
            && text.starts_with(char::is_alphabetic)
            && segment.size < DROP_CAP * self.size
            && right > -OVERLAP * segment.size
            && right < segment.size
            && (self.y - segment.size / 2.0..self.y + self.size).contains(&segment.y)
    }

    /// Returns whether a segment is at the height of the line.
    fn is_level(&self, segment: &Segment) -> bool {
        let size = self.size.max(segment.size);
        let small = self.size.min(segment.size) < SMALL * size;
        let limit = if small { SMALL_SAME_LINE } else { SAME_LINE };
        (segment.y - self.y).abs() <= limit * size
    }

    /// Returns whether a segment continues the line to the right (or to the left, if it is read
    /// that way), or is above or below the line's last segment.
    fn takes(&self, segment: &Segment, text: &str) -> bool {
        let size = self.size.max(segment.size);
        if !self.is_level(segment) {
            return false;
        }
        let (last_x0, last_x1, _) = self.last;
        let is_small = segment.size < SMALL * self.size;
        // The parts of a fraction, or an exponent above an index.
        let stacked = is_small
            && self.last_size < SMALL * self.size
            && segment.x0 >= last_x0 - OVERLAP * size;
        let right = segment.x0 - last_x1;
        let left = self.x0 - segment.x1;
        right < COLUMN_GAP * size && (stacked || right > -OVERLAP * size)
            || left > -OVERLAP * size
                && left < COLUMN_GAP * size
                && text.contains(script::is_right_to_left)
            || self.gap_for(segment).is_some()
    }

    /// Returns the place between two parts into which a segment fits, as a symbol of another font that
    /// is drawn after its line.
    fn gap_for(&self, segment: &Segment) -> Option<usize> {
        let slack = WORD_GAP * segment.size;
        let pairs = self.parts.windows(2).enumerate().rev().take(OPEN_PARTS);
        let mut fitting = pairs
            .filter(|(_, pair)| pair[0].x1 < segment.x0 + slack && segment.x1 < pair[1].x0 + slack);
        let is_level = (segment.y - self.y).abs() <= MIN_RAISE * self.size;
        fitting
            .next()
            .filter(|_| is_level)
            .map(|(before, _)| before + 1)
    }

    fn needs_space(&self, segment: &Segment) -> bool {
        let (x0, x1, y) = self.last;
        let gap = if segment.x0 >= x0 {
            segment.x0 - x1
        } else {
            x0 - segment.x1
        };
        segment.after_space
            || gap > WORD_GAP * self.size.min(segment.size)
            || (segment.y - y).abs() > SMALL_SAME_LINE * self.size
    }

    fn add(&mut self, index: usize, segment: &Segment, text: &str) {
        if let Some(at) = self.gap_for(segment) {
            let gap = WORD_GAP * segment.size;
            let next = &mut self.parts[at];
            next.space = next.after_space || next.x0 - segment.x1 > gap;
            let space = segment.after_space || segment.x0 - self.parts[at - 1].x1 > gap;
            return self.parts.insert(at, Part::new(index, space, segment));
        }
        if self.is_large_letter_of(segment, text) {
            // The line goes on in the size of the text, whose first word begins with the letter.
            self.parts
                .push(Part::new(index, segment.after_space, segment));
            self.size = segment.size;
            self.y = segment.y;
        } else {
            let space = self.needs_space(segment);
            self.parts.push(Part::new(index, space, segment));
        }
        self.is_letter = false;
        if segment.size > self.size {
            self.size = segment.size;
            self.y = segment.y;
        }
        self.x0 = self.x0.min(segment.x0);
        self.x1 = self.x1.max(segment.x1);
        self.last = (segment.x0, segment.x1, segment.y);
        self.last_size = segment.size;
    }

    /// Returns whether a segment is small print above the baseline.
    fn is_raised(&self, segment: &Segment) -> bool {
        segment.size < SMALL * self.size && segment.y > self.y + MIN_RAISE * self.size
    }

    /// Returns whether the line begins with the mark of a note.
    fn begins_with_mark(&self, page: &Segments) -> bool {
        let first = self.parts.first();
        first.is_some_and(|first| self.is_raised(&page.segments[first.index]))
    }

    fn write(&self, page: &Segments, body: &mut String, words: &mut Vec<Word>) {
        for (place, &Part { index, space, .. }) in self.parts.iter().enumerate() {
            let segment = &page.segments[index];
            let text = page.text_of(segment);
            end_soft_hyphen(body, !space && text.starts_with(char::is_alphabetic));
            // In a formula, powers stand behind other small print.
            let is_behind_small = place.checked_sub(1).is_some_and(|before| {
                page.segments[self.parts[before].index].size < SMALL * self.size
            });
            let is_noted = self.is_raised(segment)
                && is_note_number(body, text)
                && (!is_behind_small || text.starts_with(|char: char| char.is_ascii_digit()));
            let is_note = place == 1 && self.begins_with_mark(page) && begins_text(text);
            if space || is_noted || is_note {
                body.push(' ');
            }
            let at = body.len();
            body.push_str(text);
            words.extend(page.words[segment.words.clone()].iter().map(|word| Word {
                range: word.range.start - segment.range.start + at
                    ..word.range.end - segment.range.start + at,
                area: word.area,
            }));
        }
    }
}

/// Returns whether a text is a letter, with a quotation mark before it at most.
fn is_single_letter(text: &str) -> bool {
    let mut letters = text
        .trim_start_matches(|char: char| !char.is_alphanumeric())
        .chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

/// Returns whether a text begins with a word that is no symbol of an element: `³He`.
fn begins_text(text: &str) -> bool {
    let n_letters = text.chars().take_while(|char| char.is_alphabetic()).count();
    n_letters > 2 || n_letters > 0 && text.contains(' ')
}

/// Makes a soft hyphen nothing if the word continues, otherwise a hyphen.
fn end_soft_hyphen(body: &mut String, continues: bool) {
    if body.ends_with(SOFT_HYPHEN) {
        body.pop();
        if !(continues && body.ends_with(char::is_alphabetic)) {
            body.push('-');
        }
    }
}

/// Ends a line: joins a hyphenated word, joins scripts without spaces, otherwise starts a new line.
fn break_line(body: &mut String, previous: &Line, next: &Line, page: &Segments) {
    let first = next.parts.first().map(|part| &page.segments[part.index]);
    let text = first.map_or("", |segment| page.text_of(segment));
    let first = text.chars().next().unwrap_or(' ');
    if body.ends_with(SOFT_HYPHEN) {
        body.pop();
        if first.is_alphabetic() {
            return;
        }
        body.push('-');
    }
    if first.is_lowercase() && ends_with_hyphenated_word(body) && !is_conjunction(text) {
        if !ends_with_link(body) {
            body.pop();
        }
        return;
    }
    let below = previous.y - next.y;
    let continues = below > 0.0 && below < LINE_SPACING * previous.size.max(next.size);
    let unspaced = script::is_unspaced(first) && body.ends_with(script::is_unspaced);
    if continues && unspaced {
        return;
    }
    body.push('\n');
    if !continues {
        body.push('\n');
    }
}

fn ends_with_hyphenated_word(body: &str) -> bool {
    let mut last = body.chars().rev();
    last.next() == Some('-') && last.next().is_some_and(char::is_alphabetic)
}

/// Returns whether a text ends with a compound whose last part links it to the next: `state-of-`.
fn ends_with_link(body: &str) -> bool {
    let mut parts = body.trim_end_matches('-').rsplit('-');
    let link = parts.next().unwrap_or_default();
    LINKS.contains(&link)
        && parts
            .next()
            .is_some_and(|before| before.ends_with(char::is_alphabetic))
}

/// Returns whether a text begins with a word before which a hyphen hangs: `Berg- und Talbahn`.
fn is_conjunction(text: &str) -> bool {
    let end = text.find(|char: char| !char.is_alphabetic());
    HANGING.contains(&&text[..end.unwrap_or(text.len())])
}
