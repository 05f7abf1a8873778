//! The terms of a value, and the spans in which they follow each other.

use std::ops::Range;

use ken_core::{Bound, Field, Glob, GlobPart, Pattern, Span, lower_range};

use crate::analyze::Analyze;
use crate::parse::{Phrase, Piece, Value};

/// Makes an expression ignore case. Terms are folded, so capitals would match nothing.
pub(crate) fn any_case(regex: &str) -> String {
    format!("(?i){regex}")
}

/// Returns a range as terms spell it: each end is one letter without diacritics.
fn folded_range((first, last): (char, char), field: Field, analyze: Analyze) -> (char, char) {
    let letter = terms(field, &first.to_string(), analyze).pop();
    let mut letter = letter.iter().flat_map(|(_, term)| term.chars());
    match (letter.next(), letter.next()) {
        (Some(letter), None) if first == last => (letter, letter),
        _ => lower_range((first, last)),
    }
}

/// Returns the span of the terms of a value, as it is written; `None` if it has none.
pub(crate) fn literally(value: &Value, analyze: Analyze) -> Option<Span> {
    let field = Field::Body;
    let term = |text: &str| terms(field, text, analyze);
    match value {
        Value::Word(text) => {
            let identifier = identifier(field, text, analyze);
            identifier.or_else(|| together(term(text), false, analyze))
        }
        Value::Prefix(text) if text.is_empty() => Some(Span::Match(Pattern::Prefix(String::new()))),
        Value::Prefix(text) => together(term(text), true, analyze),
        Value::Glob(glob) => {
            let mut slots = Slots::new(field, analyze);
            slots.glob(glob);
            slots.finish(false)
        }
        Value::Regex(regex) => Some(Span::Match(Pattern::Regex(any_case(regex)))),
        Value::Whole(whole) => Some(Span::Match(Pattern::Whole(whole.clone()))),
        Value::Fuzzy(text, distance) => {
            let mut terms = term(text);
            // Only a word can be fuzzy, not a phrase.
            match terms.len() {
                1 => {
                    let (_, term) = terms.pop()?;
                    Some(Span::Match(Pattern::Fuzzy(term, *distance)))
                }
                _ => together(terms, false, analyze),
            }
        }
        Value::Terms(from, to) => {
            // If an end of the range has several words, the first one counts.
            let end = |end: &Bound<String>| match end {
                Bound::Included(text) => term(text)
                    .into_iter()
                    .next()
                    .map_or(Bound::Unbounded, |(_, term)| Bound::Included(term)),
                _ => Bound::Unbounded,
            };
            Some(Span::Match(Pattern::Range(end(from), end(to))))
        }
        Value::Phrase(phrase) => self::phrase(field, phrase, analyze),
        Value::Among(_) | Value::Numbers(..) | Value::Dates(..) => None,
    }
}

fn phrase(field: Field, phrase: &Phrase, analyze: Analyze) -> Option<Span> {
    let mut slots = Slots::new(field, analyze);
    for piece in &phrase.pieces {
        match piece {
            Piece::Text(text) => slots.text(text),
            Piece::Glob(glob) => slots.glob(glob),
            Piece::Gap => slots.next += 1,
        }
    }
    let Some(nearness) = phrase.near else {
        return slots.finish(phrase.prefix_last);
    };
    match slots.finish(phrase.prefix_last)? {
        Span::Phrase(terms) => Some(Span::Near {
            parts: terms.into_iter().map(|(_, of)| Span::Match(of)).collect(),
            slop: nearness.slop,
            ordered: nearness.ordered,
        }),
        span => Some(span),
    }
}

/// Returns the pattern of a wildcard in quotes; `None` if it spans several words.
pub(crate) fn pattern(glob: &Glob, analyze: Analyze) -> Option<Pattern> {
    let mut slots = Slots::new(Field::Body, analyze);
    slots.glob(glob);
    match (slots.terms.pop(), slots.terms.is_empty()) {
        (Some((_, pattern)), true) => Some(pattern),
        _ => None,
    }
}

/// Collects the terms of a phrase with their positions.
struct Slots {
    field: Field,
    analyze: Analyze,
    terms: Vec<(u32, Pattern)>,
    next: u32,
}

impl Slots {
    fn new(field: Field, analyze: Analyze) -> Self {
        Self {
            field,
            analyze,
            terms: Vec::new(),
            next: 0,
        }
    }

    fn text(&mut self, text: &str) {
        let mut end = 0;
        let analyze = self.analyze;
        analyze(self.field, text, &mut |_, position, _| end = position + 1);
        for (position, term) in terms(self.field, text, analyze) {
            self.terms.push((self.next + position, Pattern::Term(term)));
        }
        self.next += end;
    }

    /// Adds a pattern. A separator in its text splits it into several words.
    fn glob(&mut self, glob: &Glob) {
        let mut word = Glob(Vec::new());
        for part in &glob.0 {
            let GlobPart::Literal(text) = part else {
                let folded = |range| folded_range(range, self.field, self.analyze);
                word.push(
                    Glob(vec![part.clone()])
                        .map(str::to_lowercase, folded)
                        .0
                        .remove(0),
                );
                continue;
            };
            let mut end = 0;
            for (bytes, term) in outermost(self.field, text, self.analyze) {
                if bytes.start > end {
                    self.word(&mut word);
                }
                end = bytes.end;
                word.push(GlobPart::Literal(term));
            }
            if end < text.len() {
                self.word(&mut word);
            }
        }
        self.word(&mut word);
    }

    fn word(&mut self, word: &mut Glob) {
        let glob = std::mem::replace(word, Glob(Vec::new()));
        let pattern = match (glob.literal(), glob.prefix()) {
            (Some(""), _) => return,
            (_, Some("")) => {
                // A star between separators is any word.
                self.next += 1;
                return;
            }
            (Some(term), _) => Pattern::Term(term.to_owned()),
            (_, Some(prefix)) => Pattern::Prefix(prefix.to_owned()),
            _ => Pattern::Glob(glob),
        };
        self.terms.push((self.next, pattern));
        self.next += 1;
    }

    fn finish(mut self, prefix_last: bool) -> Option<Span> {
        if let Some((_, last)) = self.terms.last_mut()
            && let Pattern::Term(term) = last
            && (prefix_last || starts_pair(term, self.analyze))
        {
            *last = Pattern::Prefix(std::mem::take(term));
        }
        span_of(self.terms)
    }
}

fn together(terms: Vec<(u32, String)>, prefix_last: bool, analyze: Analyze) -> Option<Span> {
    let mut slots = Slots::new(Field::Body, analyze);
    let fixed = terms
        .into_iter()
        .map(|(at, term)| (at, Pattern::Term(term)));
    slots.terms = fixed.collect();
    slots.finish(prefix_last)
}

/// Returns the span of terms at positions, shifted so that the first position is 0.
pub(crate) fn span_of(mut terms: Vec<(u32, Pattern)>) -> Option<Span> {
    let first = terms.first().map_or(0, |(at, _)| *at);
    for (at, _) in &mut terms {
        *at = at.saturating_sub(first);
    }
    match terms.len() {
        0 | 1 => terms.pop().map(|(_, pattern)| Span::Match(pattern)),
        _ => Some(Span::Phrase(terms)),
    }
}

/// Returns what finds an identifier: its whole, or its parts inside another identifier, so that `parseHTTP` finds
/// `parseHTTPHeader`. Returns `None` for other words, and for acronyms, whose letters are in others in another order.
fn identifier(field: Field, text: &str, analyze: Analyze) -> Option<Span> {
    if text.contains('.') {
        return None;
    }
    let mut terms = Vec::new();
    analyze(field, text, &mut |term, position, _| {
        terms.push((position, Pattern::Term(term.to_owned())));
    });
    if terms.iter().any(|(position, _)| *position != 0) || terms.len() < 3 {
        return None;
    }
    let (_, whole) = terms.remove(0);
    // A number and its unit are not parts of a longer word.
    if text.starts_with(|c: char| c.is_ascii_digit()) && terms.len() == 2 && !text.contains('_') {
        return None;
    }
    Some(Span::Any(vec![Span::Match(whole), Span::Phrase(terms)]))
}

/// Returns whether the term is a single character of a script without spaces. The index has such a character only as
/// the start of pairs: `字` must find `字典`. Analysis of the doubled character gives the pair first; an emoji gives none.
fn starts_pair(term: &str, analyze: Analyze) -> bool {
    let mut characters = term.chars();
    let single = characters.next().is_some_and(|c| !c.is_ascii()) && characters.next().is_none();
    let mut positions = 0;
    let mut is_pair = false;
    if single {
        analyze(Field::Body, &term.repeat(2), &mut |found, position, _| {
            positions = position + 1;
            is_pair |= position == 0 && found != term;
        });
    }
    is_pair && positions > 1
}

/// Returns the terms that no other term contains, and their bytes in the text.
pub(crate) fn outermost(field: Field, text: &str, analyze: Analyze) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    analyze(field, text, &mut |term, _, bytes| {
        if found.last().is_none_or(|(last, _)| bytes.start >= last.end) {
            found.push((bytes, term.to_owned()));
        }
    });
    found
}

/// Returns the terms to search for, with positions from 0. Where terms contain each other, as an identifier contains
/// its parts, only the outermost count.
pub(crate) fn terms(field: Field, text: &str, analyze: Analyze) -> Vec<(u32, String)> {
    let mut found: Vec<(Range<usize>, u32, String)> = Vec::new();
    analyze(field, text, &mut |term, position, bytes| {
        found.push((bytes, position, term.to_owned()));
    });
    // Outer terms come before inner ones; if two have the same bytes, the longer comes first.
    found.sort_by(|(a, pa, ta), (b, pb, tb)| {
        let order = (a.start, b.end, *pa).cmp(&(b.start, a.end, *pb));
        order.then_with(|| tb.len().cmp(&ta.len()))
    });
    let mut covered = 0;
    let mut last = 0..0;
    let mut terms: Vec<(u32, String)> = Vec::new();
    for (bytes, position, term) in found {
        // The words of one sign (½) have the same bytes and follow each other.
        let follows = last == bytes && terms.last().is_some_and(|(last, _)| *last < position);
        let inner = !terms.is_empty() && bytes.end <= covered && !follows;
        let beside = terms.last().is_some_and(|(last, _)| *last == position);
        if !inner && !beside {
            covered = bytes.end;
            last = bytes;
            terms.push((position, term));
        }
    }
    let first = terms.first().map_or(0, |(position, _)| *position);
    for (position, _) in &mut terms {
        *position = position.saturating_sub(first);
    }
    terms
}
