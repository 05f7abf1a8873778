//! A small analysis with the shape of the index's: folded words, identifiers whole and in
//! parts, CJK bigrams. Cases stay the same whatever the index's own learns.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::Field;
use ken_search::plan::Context;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Splits at everything but letters, digits and `_`; `_` and capitals split further.
pub(crate) fn analyze(_: Field, text: &str, each: &mut dyn FnMut(&str, u32, Range<usize>)) {
    let mut position = 0;
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside =
            character.is_alphanumeric() || character == '_' || is_combining_mark(character);
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                position += word(&text[first..at], first, position, each);
                start = None;
            }
            _ => {}
        }
    }
}

/// Calls back with one word and its parts; returns how many positions they take.
fn word(
    word: &str,
    start: usize,
    position: u32,
    each: &mut dyn FnMut(&str, u32, Range<usize>),
) -> u32 {
    if word.chars().all(is_cjk) {
        return bigrams(word, start, position, each);
    }
    let parts = parts(word);
    if parts.len() != 1 {
        each(&fold(word), position, start..start + word.len());
    }
    for (number, part) in (0..).zip(&parts) {
        let text = fold(&word[part.clone()]);
        each(
            &text,
            position + number,
            start + part.start..start + part.end,
        );
    }
    u32::try_from(parts.len()).unwrap()
}

fn bigrams(
    word: &str,
    start: usize,
    position: u32,
    each: &mut dyn FnMut(&str, u32, Range<usize>),
) -> u32 {
    let starts: Vec<usize> = word
        .char_indices()
        .map(|(at, _)| at)
        .chain([word.len()])
        .collect();
    if starts.len() == 2 {
        each(word, position, start..start + word.len());
        return 1;
    }
    let mut count = 0;
    for pair in starts.windows(3) {
        each(
            &word[pair[0]..pair[2]],
            position + count,
            start + pair[0]..start + pair[2],
        );
        count += 1;
    }
    count
}

/// Returns the parts of an identifier: `parseHTTPHeader` has three.
fn parts(word: &str) -> Vec<Range<usize>> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (number, &(at, character)) in characters.iter().enumerate().skip(1) {
        let before = characters[number - 1].1;
        let next_small = characters
            .get(number + 1)
            .is_some_and(|(_, c)| c.is_lowercase());
        let border = character.is_uppercase()
            && (before.is_lowercase() || before.is_uppercase() && next_small);
        if border || character == '_' || before == '_' {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..word.len());
    parts.retain(|part| !word[part.clone()].starts_with('_'));
    parts
}

fn fold(word: &str) -> String {
    word.nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_cjk(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns where and when the cases are asked: noon of a day in March, in Berlin.
#[allow(dead_code)] // not every test asks
pub(crate) fn context() -> Context {
    Context {
        now: "2026-03-15T12:00:00Z".parse::<Timestamp>().unwrap(),
        zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
        home: Some("/home/anna".into()),
        cwd: "/srv/work".into(),
        analyze,
    }
}
