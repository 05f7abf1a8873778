//! Turns the segments of a page into text: lines, columns, words that were hyphenated.

use super::script;
use super::segment::{Segment, Segments, WORD_GAP};

/// A segment whose baseline is this share of the font size away is still on the line: an
/// exponent, an index.
const SAME_LINE: f32 = 0.5;
/// A segment may start this share of the font size before the end of the one before it.
const OVERLAP: f32 = 0.5;
/// A line further below than this many font sizes starts a paragraph.
const PARAGRAPH: f32 = 1.8;

/// Appends the text of a page.
pub(super) fn write(page: &Segments, body: &mut String) {
    let mut line: Option<Line> = None;
    for segment in &page.segments {
        let text = &page.text[segment.range.clone()];
        match &mut line {
            Some(line) if line.takes(segment, text) => {
                if line.needs_space(segment) {
                    body.push(' ');
                }
                line.add(segment);
            }
            Some(previous) => {
                break_line(body, previous, segment, text);
                line = Some(Line::new(segment));
            }
            None => line = Some(Line::new(segment)),
        }
        body.push_str(text);
    }
}

/// The line that is being written.
struct Line {
    angle: i16,
    x0: f32,
    x1: f32,
    y: f32,
    size: f32,
    /// Ends of the last segment.
    last: (f32, f32),
}

impl Line {
    fn new(segment: &Segment) -> Self {
        Self {
            angle: segment.angle,
            x0: segment.x0,
            x1: segment.x1,
            y: segment.y,
            size: segment.size,
            last: (segment.x0, segment.x1),
        }
    }

    fn takes(&self, segment: &Segment, text: &str) -> bool {
        let size = self.size.max(segment.size);
        if self.angle != segment.angle || (segment.y - self.y).abs() > SAME_LINE * size {
            return false;
        }
        segment.x0 >= self.last.1 - OVERLAP * size
            || (segment.x1 <= self.x0 + OVERLAP * size && text.contains(script::is_right_to_left))
    }

    fn needs_space(&self, segment: &Segment) -> bool {
        let gap = if segment.x0 >= self.last.0 {
            segment.x0 - self.last.1
        } else {
            self.last.0 - segment.x1
        };
        segment.after_space || gap > WORD_GAP * self.size.min(segment.size)
    }

    fn add(&mut self, segment: &Segment) {
        if segment.size > self.size {
            self.size = segment.size;
            self.y = segment.y;
        }
        self.x0 = self.x0.min(segment.x0);
        self.x1 = self.x1.max(segment.x1);
        self.last = (segment.x0, segment.x1);
    }
}

/// Ends a line: joins a hyphenated word, joins scripts without spaces, else starts a new line.
fn break_line(body: &mut String, previous: &Line, next: &Segment, text: &str) {
    let below = previous.y - next.y;
    let size = previous.size.max(next.size);
    let continues = previous.angle == next.angle && below > 0.0 && below < PARAGRAPH * size;
    let first = text.chars().next().unwrap_or(' ');
    if first.is_lowercase() && ends_with_hyphenated_word(body) {
        body.pop();
        return;
    }
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
