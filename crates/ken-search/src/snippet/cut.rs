//! Turns a stretch of a body into a fragment fit to be shown.
//!
//! A fragment stays on one page, begins and ends between words where there are spaces, and never cuts a character.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::Fragment;
use super::matcher::Hit;

/// A form feed ends a page.
const PAGE_END: char = '\u{c}';
/// Context is searched no further than this many bytes, as a body may have megabytes of white space.
const CONTEXT_BYTES: usize = 4 << 10;

/// The most bytes in which the end of a visible character is searched.
const GRAPHEME_BYTES: usize = 64;

/// Counts pages and lines up to an offset. Counting goes on from the last offset, or from the start if that lies
/// ahead.
pub(super) struct LineCounter<'b> {
    body: &'b str,
    has_pages: bool,
    at: usize,
    line: usize,
    page: usize,
}

impl<'b> LineCounter<'b> {
    pub(super) fn new(body: &'b str) -> Self {
        Self {
            body,
            has_pages: memchr::memchr(PAGE_END as u8, body.as_bytes()).is_some(),
            at: 0,
            line: 1,
            page: 1,
        }
    }

    /// Returns the page, if the body has pages, and the line of an offset, both from 1.
    fn of(&mut self, at: usize) -> (Option<usize>, usize) {
        if at < self.at {
            (self.at, self.line, self.page) = (0, 1, 1);
        }
        let passed = &self.body.as_bytes()[self.at..at];
        self.line += memchr::memchr_iter(b'\n', passed).count();
        if self.has_pages {
            self.page += memchr::memchr_iter(PAGE_END as u8, passed).count();
        }
        self.at = at;
        (self.has_pages.then_some(self.page), self.line)
    }
}

/// Returns the fragment around a stretch with hits; `hits` are sorted by their start.
pub(super) fn fragment(
    counter: &mut LineCounter<'_>,
    hits: &[Hit],
    span: Range<usize>,
    length: usize,
) -> Fragment {
    let body = counter.body;
    let span = on_one_page(body, span);
    let spare = length.saturating_sub(body[span.clone()].chars().count());
    // The text after a match says more than the text before it.
    let (start, used) = before(body, span.start, spare / 3);
    let end = after(body, span.end, spare - used);
    let highlights = highlights(hits, start..end);
    show(counter, start..end, &highlights)
}

/// Returns the beginning of a body; `None` if it is white space.
pub(super) fn beginning(counter: &mut LineCounter<'_>, length: usize) -> Option<Fragment> {
    let body = counter.body;
    let start = body.find(|c: char| !c.is_whitespace() && !c.is_control())?;
    let end = after(body, start, length);
    Some(show(counter, start..end, &[]))
}

fn on_one_page(body: &str, span: Range<usize>) -> Range<usize> {
    match body[span.clone()].find(PAGE_END) {
        Some(0) | None => span,
        Some(offset) => span.start..span.start + offset,
    }
}

/// Returns where context before `at` starts, and how many characters it has.
fn before(body: &str, at: usize, characters: usize) -> (usize, usize) {
    let floor = body.ceil_char_boundary(at.saturating_sub(CONTEXT_BYTES));
    let (mut start, mut used, mut after_space) = (at, 0, false);
    // The last offset at which a word starts, within the context so far.
    let mut word = None;
    for (offset, character) in body[floor..at].char_indices().rev() {
        if character == PAGE_END || used == characters {
            break;
        }
        let is_space = character.is_whitespace();
        if is_space && !after_space {
            word = Some((start, used));
        }
        used += usize::from(!(is_space && after_space));
        after_space = is_space;
        start = floor + offset;
    }
    let whole = start == 0 || body[..start].ends_with(|c: char| c.is_whitespace());
    if whole {
        (start, used)
    } else {
        word.unwrap_or_else(|| (whole_character(body, start, at), used))
    }
}

/// Returns the first offset from `start` to `end` that cuts no character in two. A letter with its marks, a flag or a
/// family of emoji is one character.
fn whole_character(body: &str, start: usize, end: usize) -> usize {
    let from = body.floor_char_boundary(start.saturating_sub(GRAPHEME_BYTES));
    let to = body.ceil_char_boundary(start.saturating_add(2 * GRAPHEME_BYTES).min(body.len()));
    let chunk = &body[from..to];
    let last = to.saturating_sub(GRAPHEME_BYTES / 4).min(end);
    let mut at = start;
    while at < last {
        let mut cursor = GraphemeCursor::new(at - from, chunk.len(), true);
        if cursor.is_boundary(chunk, 0).unwrap_or(true) {
            return at;
        }
        at = body.ceil_char_boundary(at + 1);
    }
    end.min(at)
}

/// Returns the last offset from `start` to `end` that cuts no character in two.
fn whole_characters(body: &str, start: usize, end: usize) -> usize {
    let from = body.floor_char_boundary(end.saturating_sub(2 * GRAPHEME_BYTES).max(start));
    let to = body.ceil_char_boundary(end.saturating_add(GRAPHEME_BYTES).min(body.len()));
    let chunk = &body[from..to];
    let mut at = end;
    while at > from {
        let mut cursor = GraphemeCursor::new(at - from, chunk.len(), true);
        if cursor.is_boundary(chunk, 0).unwrap_or(true) {
            return at;
        }
        at = body.floor_char_boundary(at - 1);
    }
    end
}

/// Returns where context after `at` ends.
fn after(body: &str, at: usize, characters: usize) -> usize {
    let ceiling = body.floor_char_boundary(at.saturating_add(CONTEXT_BYTES));
    let (mut end, mut used, mut after_space) = (at, 0, false);
    let mut word = None;
    for (offset, character) in body[at..ceiling].char_indices() {
        if character == PAGE_END || used == characters {
            break;
        }
        let is_space = character.is_whitespace();
        if is_space && !after_space {
            word = Some(at + offset);
        }
        used += usize::from(!(is_space && after_space));
        after_space = is_space;
        end = at + offset + character.len_utf8();
    }
    let whole = body[end..].chars().next().is_none_or(char::is_whitespace);
    match word {
        _ if whole => end,
        Some(word) => word,
        None => whole_characters(body, at, end),
    }
}

/// Returns the hits within a range, joined where they overlap.
fn highlights(hits: &[Hit], within: Range<usize>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for hit in hits {
        let (start, end) = (hit.bytes.start, hit.bytes.end.min(within.end));
        if start < within.start || start >= end {
            continue;
        }
        match joined.last_mut() {
            Some(last) if start < last.end => last.end = last.end.max(end),
            _ => joined.push(start..end),
        }
    }
    joined
}

/// Folds white space and moves the highlights with it.
fn show(counter: &mut LineCounter<'_>, at: Range<usize>, matches: &[Range<usize>]) -> Fragment {
    let body = counter.body;
    let mut text = String::with_capacity(at.len());
    let mut highlights: Vec<Range<usize>> = Vec::with_capacity(matches.len());
    let mut matches_left = matches.iter();
    let mut range = matches_left.next();
    for (offset, character) in body[at.clone()].char_indices() {
        let here = at.start + offset;
        while let Some(ended) = range.filter(|range| range.end <= here) {
            debug_assert!(ended.start < here);
            range = matches_left.next();
        }
        let length = text.len();
        if character.is_whitespace() {
            if !text.is_empty() && !text.ends_with(' ') {
                text.push(' ');
            }
        } else if !character.is_control() {
            text.push(character);
        }
        if range.is_some_and(|range| range.start == here) {
            highlights.push(length..text.len());
        } else if range.is_some_and(|range| range.start < here)
            && let Some(last) = highlights.last_mut()
        {
            last.end = text.len();
        }
    }
    text.truncate(text.trim_end().len());
    for highlight in &mut highlights {
        highlight.end = highlight.end.min(text.len());
    }
    highlights.retain(|range| range.start < range.end);
    let first = matches.first().map_or(at.start, |range| range.start);
    let (page, line) = counter.of(first);
    Fragment {
        text,
        highlights,
        cut_start: continues(body[..at.start].chars().rev()),
        cut_end: continues(body[at.end..].chars()),
        page,
        line,
        at,
    }
}

/// Returns whether there is text before the end of the page.
fn continues(characters: impl Iterator<Item = char>) -> bool {
    characters
        .take(CONTEXT_BYTES)
        .take_while(|character| *character != PAGE_END)
        .any(|character| !character.is_whitespace())
}
