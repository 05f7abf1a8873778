//! What raises a document above others that have the same words: the words side by side as the query has them, and words
//! in the title or the name of the file.
//!
//! BM25F sums the frequencies of a word over all fields and dampens the sum, so a long text that has the word often gets
//! nearly as much as a document that is named after it, whatever the weight of the title. Both raises are therefore
//! added after dampening. They never decide whether a document is found.

use ken_core::{Field, Pattern, Span, Word};

use super::terms::WordTerms;

/// The fields that name a document.
pub(super) const NAMES: [Field; 2] = [Field::Title, Field::Filename];

/// A longer text is no phrase that someone remembers.
const MAX_WORDS: usize = 8;

/// A word at an end of the query whose significance is a smaller share of the greatest one only serves the sentence.
const LEAST: f32 = 0.2;

/// Returns the words of a query, in the order of the query, as one word: the phrase of their literal forms. `None` if
/// fewer than two of the words say something, or if a word is not made of whole terms.
pub(super) fn phrase(words: &[&WordTerms]) -> Option<WordTerms> {
    let greatest = words.iter().map(|word| word.idf).fold(0.0, f32::max);
    let says = |word: &&WordTerms| word.idf >= LEAST * greatest;
    let first = words.iter().position(says)?;
    let last = words.iter().rposition(says)?;
    let words = words.get(first..=last)?;
    if !(2..=MAX_WORDS).contains(&words.len()) {
        return None;
    }
    let parts: Vec<Vec<Span>> = words
        .iter()
        .map(|word| literal(word))
        .collect::<Option<_>>()?;
    // A word twice, or a word and its other form, are no phrase.
    let share = |[one, next]: &[Vec<Span>; 2]| one.iter().any(|span| next.contains(span));
    if parts.array_windows().any(share) {
        return None;
    }
    let phrase = Word::new(None, side_by_side(parts));
    let fields: Vec<Field> = Field::all()
        .filter(|field| phrase.looks_in(*field))
        .collect();
    WordTerms::phrase(phrase, words, &fields).ok()
}

/// Returns the literal forms of a word; `None` if one of them is a pattern.
fn literal(word: &WordTerms) -> Option<Vec<Span>> {
    let forms = word.word.forms.iter();
    let literal = forms.filter(|form| !form.derived).map(|form| {
        let mut are_terms = true;
        form.span.patterns(&mut |pattern| {
            are_terms &= matches!(pattern, Pattern::Term(_));
        });
        are_terms.then(|| form.span.clone())
    });
    literal.collect()
}

fn side_by_side(parts: Vec<Vec<Span>>) -> Span {
    let single = |spans: &Vec<Span>| match spans.as_slice() {
        [Span::Match(pattern)] => Some(pattern.clone()),
        _ => None,
    };
    if let Some(patterns) = parts.iter().map(single).collect::<Option<Vec<_>>>() {
        return Span::Phrase((0..).zip(patterns).collect());
    }
    Span::Near {
        parts: parts.into_iter().map(Span::Any).collect(),
        slop: 0,
        ordered: true,
    }
}
