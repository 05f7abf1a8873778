//! A part of the text of a document: some lines, or some pages.

use std::ops::RangeInclusive;

use crate::answer::Error;

/// Ends each page but the last.
const PAGE_END: char = '\u{c}';

/// A part of a text. Lines and pages are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    /// The number of the first line of the part, and the number of lines of the text.
    pub(crate) first_line: usize,
    pub(crate) n_lines: usize,
    /// The number of pages of the text.
    pub(crate) n_pages: usize,
}

/// Returns some lines or pages of a text, or all of it.
pub(crate) fn part<'t>(
    body: &'t str,
    lines: Option<&RangeInclusive<usize>>,
    pages: Option<&RangeInclusive<usize>>,
) -> Part<'t> {
    let mut text = body;
    if let Some(pages) = pages {
        text = between(text, PAGE_END, pages);
    }
    if let Some(lines) = lines {
        text = between(text, '\n', lines);
    }
    let before = text.as_ptr() as usize - body.as_ptr() as usize;
    Part {
        text,
        first_line: count(&body[..before], '\n') + 1,
        n_lines: body.lines().count(),
        n_pages: count(body, PAGE_END) + 1,
    }
}

fn count(text: &str, end: char) -> usize {
    text.matches(end).count()
}

/// Returns the pieces of a text with these numbers, with what ends each of them.
fn between<'t>(text: &'t str, end: char, numbers: &RangeInclusive<usize>) -> &'t str {
    let end_of = |n: usize| match n {
        0 => 0,
        n => text
            .match_indices(end)
            .nth(n - 1)
            .map_or(text.len(), |(at, _)| at + end.len_utf8()),
    };
    let start = end_of(numbers.start().saturating_sub(1));
    &text[start..end_of(*numbers.end()).max(start)]
}

/// Reads numbers such as `10-40`, `10-` or `10`.
///
/// # Errors
/// Fails if they are none.
pub(crate) fn range(text: &str) -> Result<RangeInclusive<usize>, Error> {
    let wrong = || Error::wrong(format!("\"{text}\" is no range of numbers such as 10-40"));
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let range = match text.split_once('-') {
        None => number(text)?..=number(text)?,
        Some((first, "")) => number(first)?..=usize::MAX,
        Some((first, last)) => number(first)?..=number(last)?,
    };
    match range.is_empty() || *range.start() == 0 {
        true => Err(wrong()),
        false => Ok(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_lines_and_pages() {
        let body = "one\ntwo\u{c}three\nfour\n";
        let of = |lines: Option<&str>, pages: Option<&str>| {
            let read = |text: Option<&str>| text.map(|text| range(text).unwrap());
            let part = part(body, read(lines).as_ref(), read(pages).as_ref());
            assert_eq!((part.n_lines, part.n_pages), (3, 2));
            (part.text, part.first_line)
        };
        assert_eq!(of(None, None), (body, 1));
        assert_eq!(of(Some("2"), None), ("two\u{c}three\n", 2));
        assert_eq!(of(Some("2-"), None), ("two\u{c}three\nfour\n", 2));
        assert_eq!(of(Some("4-9"), None).0, "");
        assert_eq!(of(None, Some("1")), ("one\ntwo\u{c}", 1));
        assert_eq!(of(None, Some("2-3")), ("three\nfour\n", 2));
        for wrong in ["", "0", "2-1", "x", "-3", "1-2-3"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
