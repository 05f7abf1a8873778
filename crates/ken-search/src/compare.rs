//! Applies anchors, and the letters `C` and `D` after a quote, to a span of words.
//!
//! A value begins and ends with a border, which is a term like others: `^word` is the phrase of border and word, and
//! `"^word"o5` has both near each other.

use ken_core::{Field, Glob, GlobPart, Pattern, Span, Written};

use crate::analyze::Analyze;
use crate::parse::{Clause, Modifiers, Nearness, Phrase, Piece, Value};
use crate::spans;

/// Returns the span with its words compared as the clause writes them, if the clause asks for that.
pub(crate) fn written(mut span: Span, clause: &Clause, analyze: Analyze) -> Span {
    let modifiers = clause.modifiers;
    if let Value::Phrase(phrase) = &clause.value
        && (modifiers.case || modifiers.diacritics)
    {
        give_forms(&mut span, phrase, modifiers, analyze);
    }
    span
}

/// Returns the span at the beginning or end of the value, if the clause asks for that.
pub(crate) fn anchored(span: Span, clause: &Clause) -> Span {
    let modifiers = clause.modifiers;
    let near = match &clause.value {
        Value::Phrase(phrase) => phrase.near,
        _ => None,
    };
    if modifiers.at_start || modifiers.at_end {
        at_border(span, modifiers, near)
    } else {
        span
    }
}

/// Adds to each pattern the word that it comes from; both come in the same order.
fn give_forms(span: &mut Span, phrase: &Phrase, modifiers: Modifiers, analyze: Analyze) {
    let mut rest = words(phrase, analyze).into_iter();
    span.patterns_mut(&mut |pattern| {
        let is_start = |of: &Pattern| {
            matches!((of, &*pattern), (Pattern::Term(of), Pattern::Prefix(start)) if of == start)
        };
        let found = rest
            .by_ref()
            .find(|(of, _)| of == &*pattern || is_start(of));
        let Some((of, mut text)) = found else { return };
        if of != *pattern {
            text.push(GlobPart::Many);
        }
        *pattern = Pattern::Written(Written {
            terms: Box::new(pattern.clone()),
            text,
            case: modifiers.case,
            diacritics: modifiers.diacritics,
        });
    });
}

/// Returns each word of a phrase, or each pattern that is one word, as it is searched for and as it is written.
fn words(phrase: &Phrase, analyze: Analyze) -> Vec<(Pattern, Glob)> {
    let mut words = Vec::new();
    for piece in &phrase.pieces {
        match piece {
            Piece::Text(text) => analyze(Field::Body, text, &mut |term, _, bytes| {
                let word = GlobPart::Literal(text[bytes].to_owned());
                words.push((Pattern::Term(term.to_owned()), Glob(vec![word])));
            }),
            Piece::Glob(glob) => {
                words.extend(spans::pattern(glob, analyze).map(|of| (of, glob.clone())));
            }
            Piece::Gap => {}
        }
    }
    words
}

fn at_border(span: Span, modifiers: Modifiers, near: Option<Nearness>) -> Span {
    if let Span::Any(parts) = span {
        let parts = parts.into_iter();
        return Span::Any(parts.map(|part| at_border(part, modifiers, near)).collect());
    }
    let terms = match span {
        Span::Match(pattern) if near.is_none() => vec![(0, pattern)],
        Span::Phrase(terms) => terms,
        span => return anchored_near(span, modifiers, near),
    };
    let first = u32::from(modifiers.at_start);
    let mut phrase: Vec<(u32, Pattern)> = Vec::with_capacity(terms.len() + 2);
    phrase.extend(modifiers.at_start.then_some((0, Pattern::Border)));
    phrase.extend(terms.into_iter().map(|(at, pattern)| (first + at, pattern)));
    let end = phrase.iter().map(|(at, _)| at + 1).max().unwrap_or(0);
    phrase.extend(modifiers.at_end.then_some((end, Pattern::Border)));
    Span::Phrase(phrase)
}

/// Returns the words near each other and near the border.
fn anchored_near(span: Span, modifiers: Modifiers, near: Option<Nearness>) -> Span {
    let border = || Span::Match(Pattern::Border);
    let mut parts = Vec::new();
    parts.extend(modifiers.at_start.then(border));
    match span {
        Span::Near {
            parts: inner,
            ordered: true,
            ..
        } => parts.extend(inner),
        span => parts.push(span),
    }
    parts.extend(modifiers.at_end.then(border));
    Span::Near {
        parts,
        slop: near.map_or(0, |near| near.slop),
        ordered: true,
    }
}
