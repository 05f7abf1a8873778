//! The query for whole values in which a regular expression matches: subjects, names, addresses.
//!
//! No word shows what stands beside it: `mary.ann@x.org` ends in the words of `ann@x.org`. So the
//! expressions are matched with each value of the column, which has each value once, and the
//! documents with one of these values are found: one pass over the values, and one over the numbers
//! of the documents.

use std::borrow::Cow;
use std::sync::Arc;

use ken_core::{Field, Whole};
use memchr::{memchr, memrchr};
use regex_automata::meta::Regex;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{BitSet, DocId, Score, SegmentReader, TantivyError};

use super::selection::scorer;
use crate::analysis::folded;
use crate::columns::value;
use crate::limits::{Limits, Pace};
use crate::schema::value_column;

/// Maximum memory of an expression.
const MAX_BYTES: usize = 1 << 20;

/// The form of a value in which an expression is searched for.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueForm {
    /// The address in the value, without regard to case.
    Address,
    /// The value as it is written.
    Written,
    /// The value without regard to case and diacritics.
    Folded,
}

impl ValueForm {
    pub(super) fn of(whole: &Whole) -> Self {
        match whole.is_exact {
            true => Self::Written,
            false => Self::Folded,
        }
    }
}

/// Documents with a value in the field in which one of the expressions matches.
#[derive(Clone, Debug)]
pub(super) struct ValueQuery {
    pub(super) field: Field,
    pub(super) expressions: Vec<String>,
    pub(super) form: ValueForm,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

/// A test of the values of a column.
#[derive(Clone)]
pub(super) struct Test {
    regex: Arc<Regex>,
    form: ValueForm,
}

impl Test {
    pub(super) fn new(expressions: &[String], form: ValueForm) -> tantivy::Result<Self> {
        let limits = Regex::config()
            .nfa_size_limit(Some(MAX_BYTES))
            .hybrid_cache_capacity(MAX_BYTES);
        let expressions = expressions.iter();
        let expressions: Vec<Cow<'_, str>> = match form {
            ValueForm::Folded => expressions
                .map(|text| folded_expression(text).into())
                .collect(),
            _ => expressions.map(|text| text.as_str().into()).collect(),
        };
        let regex = Regex::builder()
            .configure(limits)
            .build_many(&expressions)
            .map_err(|error| TantivyError::InvalidArgument(error.to_string()))?;
        let regex = Arc::new(regex);
        Ok(Self { regex, form })
    }

    /// Returns whether an expression matches in a value of the column.
    pub(super) fn accepts(&self, value: &[u8]) -> bool {
        let found = |text: &str| self.regex.is_match(text);
        match self.form {
            ValueForm::Address => address(value).is_some_and(|text| found(&text)),
            ValueForm::Written => {
                std::str::from_utf8(value).is_ok_and(|text| found(&value::written(text)))
            }
            ValueForm::Folded => {
                std::str::from_utf8(value).is_ok_and(|text| found(value::common(text)))
            }
        }
    }
}

impl Query for ValueQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ValueWeight {
            column: value_column(self.field),
            test: Test::new(&self.expressions, self.form)?,
            limits: self.limits.clone(),
        }))
    }
}

struct ValueWeight {
    column: String,
    test: Test,
    limits: Option<Arc<Limits>>,
}

impl Weight for ValueWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(texts) = segment.fast_fields().str(&self.column)? else {
            return Ok(Box::new(EmptyScorer));
        };
        let n_values = u32::try_from(texts.num_terms()).unwrap_or(u32::MAX);
        let mut own = BitSet::with_max_value(n_values);
        let mut values = texts.dictionary().stream()?;
        let mut pace = Pace::default();
        while !pace.step(self.limits.as_deref()) && values.advance() {
            if self.test.accepts(values.key()) {
                own.insert(values.term_ord() as u32);
            }
        }
        if own.len() == 0 {
            return Ok(Box::new(EmptyScorer));
        }
        let is_own = |doc: &DocId| {
            let mut numbers = texts.ords().values_for_doc(*doc);
            numbers.any(|number| own.contains(number as u32))
        };
        Ok(scorer(
            segment,
            segment.doc_ids_alive().filter(is_own),
            boost,
        ))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("a whole value", 1.0))
    }
}

/// Returns the expression with the letters of folded text. Letters after a backslash have other
/// meanings.
fn folded_expression(expression: &str) -> String {
    let mut text = String::with_capacity(expression.len());
    let mut characters = expression.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                text.push(character);
                text.extend(characters.next());
            }
            letter if letter.is_alphabetic() => {
                text.push_str(&folded(letter.encode_utf8(&mut [0; 4])))
            }
            other => text.push(other),
        }
    }
    text
}

/// Returns the address in a value of a column: the text in the last angle brackets, or the whole
/// value. For ASCII, the common form is enough, since case does not matter; other text is stored in
/// its written form as well.
fn address(value: &[u8]) -> Option<Cow<'_, str>> {
    let end = memchr(0, value).unwrap_or(value.len());
    if value.get(end + 1) == Some(&0) {
        let value = String::from_utf8_lossy(value);
        return Some(Cow::Owned(in_brackets(&value::written(&value)).to_owned()));
    }
    let common = std::str::from_utf8(&value[..end]).ok()?;
    Some(Cow::Borrowed(in_brackets(common)))
}

fn in_brackets(value: &str) -> &str {
    let inside = value.strip_suffix('>');
    let start = inside.and_then(|inside| Some((inside, memrchr(b'<', inside.as_bytes())?)));
    start.map_or(value, |(inside, at)| &inside[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_expressions_are_folded_and_escapes_are_not() {
        assert_eq!(
            folded_expression(r"^Résumé\S[A-Z]\\Ü$"),
            r"^resume\S[a-z]\\u$"
        );
    }

    #[test]
    fn an_address_ends_its_value() {
        for (value, expected) in [
            ("Ann <A@x.org>", "a@x.org"),
            ("a@x.org", "a@x.org"),
            ("<a@x.org>", "a@x.org"),
            ("A <b> <a@x.org>", "a@x.org"),
            ("Jürgen <Jürgen@x.org>", "Jürgen@x.org"),
            ("Jürgen <a@x.org>", "a@x.org"),
            ("Team", "team"),
            ("a>", "a>"),
            ("", ""),
        ] {
            let kept = value::column_value(Field::To, value);
            assert_eq!(
                address(kept.as_bytes()).as_deref(),
                Some(expected),
                "{value}"
            );
        }
    }
}
