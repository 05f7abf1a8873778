//! A part of the text of a document: some lines, some pages, or the surroundings of what a query finds, within a number
//! of bytes.

use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};

use ken_core::Field;

use super::{Error, Reading, Request, Service, reached};
use crate::snippet::{self, Finder};

/// Ends each page but the last.
const PAGE_END: char = '\u{c}';
/// The end of a line that is cut is looked for in so many bytes.
const MAX_WORD: usize = 200;

/// Numbers of lines or pages, from 1.
pub type Numbers = RangeInclusive<usize>;

/// Which part of a text is wanted. Everything is wanted if nothing is said.
#[derive(Clone, Debug, Default)]
pub struct PartRequest {
    /// These lines; with pages, lines of these pages.
    pub lines: Option<Numbers>,
    /// These pages.
    pub pages: Option<Numbers>,
    /// A query whose matches are marked.
    pub query: Option<String>,
    /// How the query is read.
    pub reading: Reading,
    /// Whether the last word of the query may be unfinished.
    pub prefix_last: bool,
    /// Only the matches of the query, each with so many lines before and behind it.
    pub around: Option<usize>,
    /// The number of stretches around matches to leave out: those that were shown before.
    pub offset: usize,
    /// The bytes of a stretch around matches from which on the next match begins another one; no limit if absent. Offsets
    /// count stretches of the same limit.
    pub stretch_bytes: Option<usize>,
    /// The most bytes of text.
    pub max_bytes: Option<usize>,
}

impl PartRequest {
    /// Reads numbers such as `10-40`, `10-` or `10`; none if the text is something else.
    pub fn numbers(text: &str) -> Option<Numbers> {
        let number = |text: &str| text.parse::<usize>().ok();
        let range = match text.split_once('-') {
            None => number(text)?..=number(text)?,
            Some((first, "")) => number(first)?..=usize::MAX,
            Some((first, last)) => number(first)?..=number(last)?,
        };
        (!range.is_empty() && *range.start() > 0).then_some(range)
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// The stretches of the part, in the order of the text.
    pub stretches: Vec<Stretch<'t>>,
    /// The number of lines of the whole text.
    pub n_lines: usize,
    /// The number of pages of the whole text; 1 if it has none.
    pub n_pages: usize,
    /// The number of bytes of the whole text.
    pub n_bytes: usize,
    /// The number of matches in the whole text.
    pub n_matches: usize,
    /// What is wanted and was left out for its length.
    pub next: Option<Next>,
}

/// Some lines of a text that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch<'t> {
    /// The text, with the ends of its lines and pages.
    pub text: &'t str,
    /// The position of the first byte in the whole text.
    pub at: usize,
    /// The number of the first line.
    pub first_line: usize,
    /// The number of the first page.
    pub first_page: usize,
    /// The bytes of the text that match the query, in order and without overlap.
    pub matches: Vec<Range<usize>>,
    /// Whether the last line is not whole, since it alone has more bytes than wanted.
    pub is_cut: bool,
}

/// The part of a text to ask for next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These lines.
    Lines(Numbers),
    /// These pages.
    Pages(Numbers),
    /// The surroundings of the query with this offset.
    Around(usize),
}

impl Service<'_> {
    /// Returns a part of the text of a document.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be read.
    pub fn part<'t>(&self, body: &'t str, request: &PartRequest) -> Result<Part<'t>, Error> {
        let found = match &request.query {
            Some(query) => self.ranges(body, query, request)?,
            None => Vec::new(),
        };
        Ok(part(body, found, request))
    }

    /// Returns the bytes of a text that a query finds, in order and without overlap.
    fn ranges(
        &self,
        body: &str,
        query: &str,
        request: &PartRequest,
    ) -> Result<Vec<Range<usize>>, Error> {
        let query = self.understand(&Request {
            query: query.to_owned(),
            reading: request.reading,
            prefix_last: request.prefix_last,
            ..Request::default()
        })?;
        let limits = query.limits();
        let plan = self.snapshot.expand(&query.plan, limits)?;
        let finder = Finder::new(snippet::matchers(&plan, Field::Body), self.context.analyze);
        Ok(finder.ranges(body, &|| reached(limits)))
    }
}

/// Returns a part of a text in which these bytes match, in order and without overlap.
pub fn part<'t>(body: &'t str, found: Vec<Range<usize>>, request: &PartRequest) -> Part<'t> {
    let text = Text { body, found };
    let (wanted, next) = text.wanted(request);
    let stretches = wanted.into_iter().map(|bytes| text.stretch(bytes));
    Part {
        stretches: stretches.collect(),
        n_lines: body.lines().count(),
        n_pages: count(body, PAGE_END) + 1,
        n_bytes: body.len(),
        n_matches: text.found.len(),
        next,
    }
}

/// A text, and what a query finds in it.
struct Text<'t> {
    body: &'t str,
    found: Vec<Range<usize>>,
}

/// The bytes of the stretches of a part, and what comes next.
type Wanted = (Vec<Range<usize>>, Option<Next>);

impl<'t> Text<'t> {
    fn wanted(&self, request: &PartRequest) -> Wanted {
        let max_bytes = request.max_bytes.unwrap_or(usize::MAX);
        if let Some(n_lines) = request.around {
            return self.around(n_lines, request, max_bytes);
        }
        let mut bytes = 0..self.body.len();
        if let Some(pages) = &request.pages {
            bytes = between(self.body, &bytes, PAGE_END, pages);
        }
        if let Some(lines) = &request.lines {
            bytes = between(self.body, &bytes, '\n', lines);
        }
        let (bytes, next) = match &request.pages {
            Some(pages) if request.lines.is_none() => self.whole_pages(bytes, pages, max_bytes),
            _ => self.whole_lines(bytes, max_bytes),
        };
        (vec![bytes], next)
    }

    /// Returns as many whole pages of these bytes as are not too long, at least the beginning of the first.
    fn whole_pages(
        &self,
        bytes: Range<usize>,
        pages: &Numbers,
        max_bytes: usize,
    ) -> (Range<usize>, Option<Next>) {
        if bytes.len() <= max_bytes {
            return (bytes, None);
        }
        let most = self.body.floor_char_boundary(bytes.start + max_bytes);
        let fitting = &self.body[bytes.start..most];
        match fitting.rfind(PAGE_END) {
            Some(end) => {
                let n_shown = count(&fitting[..=end], PAGE_END);
                let next = pages.start() + n_shown..=*pages.end();
                (bytes.start..bytes.start + end + 1, Some(Next::Pages(next)))
            }
            None => self.whole_lines(bytes, max_bytes),
        }
    }

    /// Returns as many whole lines of these bytes as are not too long, at least a part of the first.
    fn whole_lines(&self, bytes: Range<usize>, max_bytes: usize) -> (Range<usize>, Option<Next>) {
        if bytes.len() <= max_bytes {
            return (bytes, None);
        }
        let most = self.body.floor_char_boundary(bytes.start + max_bytes);
        let fitting = &self.body[bytes.start..most];
        let end = match fitting.rfind('\n') {
            Some(at) => bytes.start + at + 1,
            None => most,
        };
        let is_cut = end == most && !fitting.ends_with('\n');
        let shown = match is_cut {
            true => bytes.start..self.end_of_word(bytes.start, most),
            false => bytes.start..end,
        };
        let first = self.line_of(end) + usize::from(is_cut && !shown.is_empty());
        let last = self.line_of(bytes.end) - usize::from(self.body[..bytes.end].ends_with('\n'));
        let next = (first <= last).then_some(Next::Lines(first..=last));
        (shown, next)
    }

    /// Returns the end of the last whole word before a position, if it is near.
    fn end_of_word(&self, start: usize, end: usize) -> usize {
        let near = self
            .body
            .floor_char_boundary(end.saturating_sub(MAX_WORD).max(start));
        let space = self.body[near..end].rfind(char::is_whitespace);
        space.map_or(end, |at| near + at).max(start)
    }

    /// Returns the stretches around matches, after those that were shown before: those with the most matches first, as
    /// many as are not too long.
    fn around(&self, n_lines: usize, request: &PartRequest, max_bytes: usize) -> Wanted {
        let offset = request.offset;
        let mut groups = self.groups(n_lines, request.stretch_bytes.unwrap_or(usize::MAX));
        let n_groups = groups.len();
        groups.sort_by_key(|(_, n_matches)| Reverse(*n_matches));
        let mut left = max_bytes;
        let mut shown = Vec::new();
        for (bytes, _) in groups.into_iter().skip(offset) {
            if bytes.len() > left {
                if shown.is_empty() {
                    shown.push(self.near_match(bytes, left));
                }
                break;
            }
            left -= bytes.len();
            shown.push(bytes);
        }
        let next = offset + shown.len();
        shown.sort_by_key(|bytes| bytes.start);
        shown.dedup_by(|bytes, last| {
            let touches = bytes.start == last.end;
            if touches {
                last.end = bytes.end;
            }
            touches
        });
        (shown, (next < n_groups).then_some(Next::Around(next)))
    }

    /// Returns the lines around each match, joined where they touch unless they are too many, with the number of matches
    /// in them.
    fn groups(&self, n_lines: usize, max_bytes: usize) -> Vec<(Range<usize>, usize)> {
        let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
        for found in &self.found {
            let bytes = self.lines_around(found, n_lines);
            let next = match groups.last_mut() {
                None => Some(bytes),
                Some((last, n_matches)) => {
                    let end = last.end.max(bytes.end);
                    let has_room = end - last.start <= max_bytes;
                    if bytes.start <= last.end && has_room {
                        last.end = end;
                    }
                    // The match may have room where its surroundings have none.
                    let is_inside = found.end <= last.end;
                    *n_matches += usize::from(is_inside);
                    (!is_inside).then(|| bytes.start.max(last.end)..bytes.end)
                }
            };
            groups.extend(next.map(|bytes| (bytes, 1)));
        }
        groups
    }

    fn lines_around(&self, found: &Range<usize>, n_lines: usize) -> Range<usize> {
        let before = self.body[..found.start].rmatch_indices('\n').nth(n_lines);
        let behind = self.body[found.end..].match_indices('\n').nth(n_lines);
        let start = before.map_or(0, |(at, _)| at + 1);
        let end = behind.map_or(self.body.len(), |(at, _)| found.end + at + 1);
        start..end
    }

    /// Returns a piece of a stretch that is too long: the line of its first match and what follows, or a part of that
    /// line.
    fn near_match(&self, bytes: Range<usize>, max_bytes: usize) -> Range<usize> {
        let first = self.found.iter().find(|found| found.start >= bytes.start);
        let first = first.map_or(bytes.start, |found| found.start);
        let line = self.body[bytes.start..first].rfind('\n');
        let line = line.map_or(bytes.start, |at| bytes.start + at + 1);
        let start = match first - line < max_bytes / 2 {
            true => line,
            false => self.body.ceil_char_boundary(first - max_bytes / 4),
        };
        self.whole_lines(start..bytes.end, max_bytes).0
    }

    fn stretch(&self, bytes: Range<usize>) -> Stretch<'t> {
        let found = self.found.iter();
        let found = found.filter(|found| found.start >= bytes.start && found.end <= bytes.end);
        Stretch {
            text: &self.body[bytes.clone()],
            at: bytes.start,
            first_line: self.line_of(bytes.start),
            first_page: count(&self.body[..bytes.start], PAGE_END) + 1,
            matches: found
                .map(|found| found.start - bytes.start..found.end - bytes.start)
                .collect(),
            is_cut: !(self.body[bytes.end..].is_empty()
                || self.body[..bytes.end].ends_with(['\n', PAGE_END])),
        }
    }

    fn line_of(&self, at: usize) -> usize {
        count(&self.body[..at], '\n') + 1
    }
}

fn count(text: &str, end: char) -> usize {
    memchr::memchr_iter(end as u8, text.as_bytes()).count()
}

/// Returns the pieces of these bytes with these numbers, with what ends each of them.
fn between(body: &str, bytes: &Range<usize>, end: char, numbers: &Numbers) -> Range<usize> {
    let text = &body[bytes.clone()];
    let end_of = |n: usize| match n {
        0 => 0,
        n => text
            .match_indices(end)
            .nth(n - 1)
            .map_or(text.len(), |(at, _)| at + end.len_utf8()),
    };
    let start = end_of(numbers.start().saturating_sub(1));
    let end = end_of(*numbers.end()).max(start);
    bytes.start + start..bytes.start + end
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "one\ntwo\u{c}three\nfour\n";

    fn text(body: &'static str, word: &str) -> Text<'static> {
        let found = body.match_indices(word).filter(|_| !word.is_empty());
        Text {
            body,
            found: found.map(|(at, word)| at..at + word.len()).collect(),
        }
    }

    fn shown(
        text: &Text<'static>,
        request: &PartRequest,
    ) -> (Vec<(usize, &'static str)>, Option<Next>) {
        let (wanted, next) = text.wanted(request);
        let stretches = wanted.into_iter().map(|bytes| text.stretch(bytes));
        (stretches.map(|of| (of.first_line, of.text)).collect(), next)
    }

    #[test]
    fn parts_are_lines_and_pages() {
        let of = |lines: Option<&str>, pages: Option<&str>| {
            let read = |text: Option<&str>| text.map(|text| PartRequest::numbers(text).unwrap());
            let request = PartRequest {
                lines: read(lines),
                pages: read(pages),
                ..PartRequest::default()
            };
            let (stretches, next) = shown(&text(BODY, ""), &request);
            assert_eq!((stretches.len(), next), (1, None));
            stretches[0]
        };
        assert_eq!(of(None, None), (1, BODY));
        assert_eq!(of(Some("2"), None), (2, "two\u{c}three\n"));
        assert_eq!(of(Some("2-"), None), (2, "two\u{c}three\nfour\n"));
        assert_eq!(of(Some("4-9"), None).1, "");
        assert_eq!(of(None, Some("1")), (1, "one\ntwo\u{c}"));
        assert_eq!(of(None, Some("2-3")), (2, "three\nfour\n"));
        for wrong in ["", "0", "2-1", "x", "-3", "1-2-3"] {
            assert_eq!(PartRequest::numbers(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_part_has_whole_units_and_says_what_comes_next() {
        let text = text("one\ntwo words of it\nthree\u{c}four\nfive\u{c}six\n", "");
        let of = |pages: Option<Numbers>, lines: Option<Numbers>, max_bytes| {
            let request = PartRequest {
                pages,
                lines,
                max_bytes: Some(max_bytes),
                ..PartRequest::default()
            };
            let (stretches, next) = shown(&text, &request);
            (stretches[0].1, next)
        };
        let lines = |numbers| Some(Next::Lines(numbers));
        assert_eq!(of(None, None, 100), (text.body, None));
        assert_eq!(of(None, None, 10), ("one\n", lines(2..=4)));
        assert_eq!(of(None, None, 4), ("one\n", lines(2..=4)));
        assert_eq!(of(None, None, 0), ("", lines(1..=4)));
        assert_eq!(of(None, None, 2), ("on", lines(2..=4)));
        assert_eq!(of(None, Some(2..=3), 11), ("two words", lines(3..=3)));
        let pages = |numbers| Some(Next::Pages(numbers));
        let first = "one\ntwo words of it\nthree\u{c}";
        assert_eq!(of(Some(1..=3), None, 30), (first, pages(2..=3)));
        assert_eq!(of(Some(1..=3), None, 9), ("one\n", lines(2..=4)));
        assert_eq!(of(Some(2..=2), None, 6), ("four\n", lines(4..=4)));
    }

    #[test]
    fn every_line_is_shown_once_if_each_part_is_asked_for() {
        let body = "a\nbb bb\n\nccc ccc ccc\nd\n\u{c}eé é\nf";
        let text = text(body, "");
        for max_bytes in 12..40 {
            let mut request = PartRequest {
                max_bytes: Some(max_bytes),
                ..PartRequest::default()
            };
            let mut read = String::new();
            loop {
                let (stretches, next) = shown(&text, &request);
                assert!(stretches[0].1.len() <= max_bytes);
                read.push_str(stretches[0].1);
                match next {
                    Some(Next::Lines(lines)) => request.lines = Some(lines),
                    _ => break,
                }
            }
            assert_eq!(read, body, "{max_bytes}");
        }
    }

    #[test]
    fn long_stretches_are_asked_for_piece_by_piece() {
        let body: String = (1..=60).map(|n| format!("line {n} x\n")).collect();
        let text = text(body.leak(), "x");
        let mut request = PartRequest {
            around: Some(2),
            stretch_bytes: Some(100),
            max_bytes: Some(250),
            ..PartRequest::default()
        };
        let mut read = String::new();
        loop {
            let (stretches, next) = shown(&text, &request);
            // Pieces that touch are one.
            assert_eq!(stretches.len(), 1);
            assert!(stretches[0].1.len() <= 250);
            read.push_str(stretches[0].1);
            match next {
                Some(Next::Around(offset)) => request.offset = offset,
                _ => break,
            }
        }
        let n_read = read.matches('x').count();
        assert_eq!((n_read, read.matches("line 60 x").count()), (60, 1));
    }

    #[test]
    fn the_most_matches_come_first() {
        let text = text("1 x\n2\n3\n4\n5 x\n6 x x\n7\n8\n9 x\n10\n", "x");
        let of = |around, offset, max_bytes| {
            let request = PartRequest {
                around: Some(around),
                offset,
                max_bytes: Some(max_bytes),
                ..PartRequest::default()
            };
            shown(&text, &request)
        };
        let best = (5, "5 x\n6 x x\n");
        assert_eq!(of(0, 0, 13), (vec![best], Some(Next::Around(1))));
        let both = vec![(1, "1 x\n"), best];
        assert_eq!(of(0, 0, 14), (both, Some(Next::Around(2))));
        assert_eq!(of(0, 2, 14), (vec![(9, "9 x\n")], None));
        assert_eq!(of(9, 0, 99).0.len(), 1);
        assert_eq!(of(0, 9, 99), (vec![], None));
        // The group is too long: it is shown from its first match on.
        assert_eq!(
            of(1, 0, 10),
            (vec![(5, "5 x\n6 x x\n")], Some(Next::Around(1)))
        );
    }
}
