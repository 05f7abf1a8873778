//! Adds other ways to write a word: `10kg` and `10 kg`, `RFC2822` and `RFC 2822`, `1000000` and `1,000,000`, `1.2.3`
//! and `v1.2.3`, `co-operation` and `cooperation`, the start of a hash. Each becomes a form of the word.
//!
//! Analysis makes a phrase of a number with signs in it, so it does not matter which signs they are. Variants cost the
//! index nothing, and only those queries that hold such a word.

use ken_core::{FieldKind, Form, Pattern, Plan, Span};

use super::{Context, clause, terms};
use crate::parse::{Clause, Phrase, Piece, Tree, Value};

/// A longer number is an identifier and not an amount.
const MAX_DIGITS: usize = 15;

/// The most letters of a unit, as in analysis.
const UNIT_LETTERS: usize = 5;

/// Returns the plan of a clause, extended by the other ways to write its numbers.
pub(super) fn with_variants(plan: Plan, of: &Clause, context: &Context) -> Plan {
    let Plan::Word(mut word) = plan else {
        return plan;
    };
    let Some(text) = text(of) else {
        return Plan::Word(word);
    };
    for other in variants(text) {
        let value = match of.value {
            Value::Word(_) if !other.contains(' ') => Value::Word(other),
            _ => Value::Phrase(Phrase {
                pieces: vec![Piece::Text(other)],
                prefix_last: false,
                near: None,
            }),
        };
        let of = Clause {
            value,
            ..of.clone()
        };
        if let Some(Plan::Word(other)) = clause(&of, context) {
            let new = other
                .forms
                .into_iter()
                .filter(|form| !word.forms.contains(form));
            let new: Vec<Form> = new.collect();
            word.forms.extend(new);
        }
    }
    if is_short_hash(text) {
        let span = Span::Match(Pattern::Prefix(text.to_ascii_lowercase()));
        word.forms.push(Form::literal(span));
    }
    Plan::Word(word)
}

/// Returns the plan of one of several words that must all match, where the word may be joined with a neighbour: `RFC
/// 2822` finds `RFC2822`. (The index has the parts of `10kg`.)
pub(super) fn with_neighbours(plan: Plan, parts: &[Tree], at: usize, context: &Context) -> Plan {
    let Plan::Word(mut word) = plan else {
        return plan;
    };
    let before = at.checked_sub(1).and_then(|before| parts.get(before));
    let pairs = [(before, parts.get(at)), (parts.get(at), parts.get(at + 1))];
    for pair in pairs {
        let (Some(name), Some(number)) = (pair.0.and_then(plain), pair.1.and_then(plain)) else {
            continue;
        };
        if name.0 != number.0 || !is_name(name.1) || !is_number(number.1) {
            continue;
        }
        let joined = terms(
            ken_core::Field::Body,
            &[name.1, number.1].concat(),
            context.analyze,
        );
        if let [(_, term)] = joined.as_slice() {
            let span = Span::Match(Pattern::Term(term.clone()));
            word.forms.push(Form::literal(span));
        }
    }
    Plan::Word(word)
}

/// Returns the field and text of a single word.
fn plain(tree: &Tree) -> Option<(Option<ken_core::Field>, &str)> {
    match tree {
        Tree::Clause(of) if matches!(of.value, Value::Word(_)) => Some((of.field, text(of)?)),
        _ => None,
    }
}

/// Returns the text of a clause that has other spellings.
fn text(of: &Clause) -> Option<&str> {
    let is_text = |field: ken_core::Field| field.info().kind == FieldKind::Text;
    if of.modifiers.case || of.modifiers.diacritics || !of.field.is_none_or(is_text) {
        return None;
    }
    match &of.value {
        Value::Word(text) => Some(text),
        Value::Phrase(phrase) if phrase.near.is_none() && !phrase.prefix_last => phrase.literal(),
        _ => None,
    }
}

/// Returns the other spellings of a text with digits.
fn variants(text: &str) -> Vec<String> {
    if text.contains('-') {
        return hyphens(text);
    }
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let ways = [
        apart(text),
        joined(text),
        grouped(text),
        ungrouped(text),
        version(text),
    ];
    ways.into_iter().flatten().collect()
}

/// Returns `cooperation` and `co operation` for `co-operation`. For other words the parts are only searched for one by
/// one: whether the index has `rpmlist` for `rpm-list@x.org` depends on the text before it.
fn hyphens(text: &str) -> Vec<String> {
    let is_part = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let is_within = |bytes: &[u8]| {
        bytes[1] == b'-' && bytes[0].is_ascii_alphabetic() && bytes[2].is_ascii_alphabetic()
    };
    if text.split('-').all(is_part) {
        vec![text.replace('-', " "), text.replace('-', "")]
    } else if text.as_bytes().windows(3).any(is_within) {
        vec![text.replace('-', " ")]
    } else {
        Vec::new()
    }
}

/// Returns whether a word is the start of a hash. People name commits by seven or more of its forty digits.
fn is_short_hash(word: &str) -> bool {
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let n_digits = word.bytes().filter(u8::is_ascii_digit).count();
    (7..40).contains(&word.len()) && is_hex && n_digits > 0 && n_digits < word.len()
}

fn is_number(word: &str) -> bool {
    (1..=MAX_DIGITS).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word may be joined with a number after it.
fn is_name(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether a word may be joined with a number before it.
fn is_unit(word: &str) -> bool {
    let n_letters = word.chars().count();
    (1..=UNIT_LETTERS).contains(&n_letters) && word.chars().all(char::is_alphabetic)
}

/// Returns `10 kg` for `10kg`, and `RFC 2822` for `RFC2822`.
fn apart(text: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut apart = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while !rest.is_empty() {
        let (run, after) = rest.split_at(rest.find(|c| !word(c)).unwrap_or(rest.len()));
        match cut(run) {
            Some((first, second)) => apart.extend([first, " ", second]),
            None => apart.push_str(run),
        }
        let (between, after) = after.split_at(after.find(word).unwrap_or(after.len()));
        apart.push_str(between);
        rest = after;
    }
    (apart != text).then_some(apart)
}

/// Splits a word into a number and its unit, or a name and its number.
fn cut(word: &str) -> Option<(&str, &str)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let starts = word.starts_with(is_digit);
    let at = word.find(|c| is_digit(c) != starts)?;
    let (first, second) = word.split_at(at);
    let (is_measure, is_numbered) = (
        is_number(first) && is_unit(second) && !first.starts_with('0'),
        is_name(first) && is_number(second),
    );
    (is_measure || is_numbered).then_some((first, second))
}

/// Returns `10kg` for `10 kg`, and `RFC2822` for `RFC 2822`.
fn joined(text: &str) -> Option<String> {
    let (first, second) = text.trim().split_once(' ')?;
    let digits = first.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    let is_measure = digits.is_empty() && is_unit(second);
    let is_numbered = is_name(first) && is_number(second);
    (is_measure || is_numbered).then(|| [first, second].concat())
}

/// Returns `1,000,000` for `1000000`. Years are not written so.
fn grouped(text: &str) -> Option<String> {
    let (whole, decimals) = decimals(text);
    let is_year = whole.len() == 4 && (whole.starts_with("19") || whole.starts_with("20"));
    if !is_number(whole) || whole.len() < 4 || whole.starts_with('0') || is_year {
        return None;
    }
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Some(grouped + decimals)
}

/// Returns `1000000` for `1,000,000` and `1.000.000`; `1.000` may be a thousand too.
fn ungrouped(text: &str) -> Option<String> {
    let (whole, decimals) = decimals(text);
    let sign = whole.chars().find(|c| !c.is_ascii_digit())?;
    let mut groups = whole.split(sign);
    let first = groups.next()?;
    let is_start = (1..=3).contains(&first.len()) && is_number(first) && first != "0";
    let is_group = |group: &str| group.len() == 3 && is_number(group);
    let n_groups = groups.clone().count();
    let is_grouped = match sign {
        '.' => n_groups > 1,
        ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' => true,
        _ => false,
    };
    (is_start && is_grouped && groups.all(is_group)).then(|| {
        whole
            .chars()
            .filter(char::is_ascii_digit)
            .chain(decimals.chars())
            .collect()
    })
}

/// Cuts the decimals off a number, with their separator: one or two digits, since three are a group.
fn decimals(text: &str) -> (&str, &str) {
    let at = text.rfind(['.', ',']);
    match at.map(|at| text.split_at(at)) {
        Some((whole, decimals)) if decimals.len() <= 3 && is_number(&decimals[1..]) => {
            (whole, decimals)
        }
        _ => (text, ""),
    }
}

/// Returns `v1.2.3` for `1.2.3`, and the other way round.
fn version(text: &str) -> Option<String> {
    let plain = text.strip_prefix(['v', 'V']);
    let numbers = plain.unwrap_or(text);
    let is_part = |part: &str| part.len() <= 3 && is_number(part);
    if !numbers.contains('.') || !numbers.split('.').all(is_part) {
        return None;
    }
    Some(plain.map_or_else(|| format!("v{text}"), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::variants;

    #[test]
    fn numbers_are_written_in_several_ways() {
        for (text, expected) in [
            ("10kg", "10 kg"),
            ("10 kg", "10kg"),
            ("3.5mm", "3.5 mm"),
            ("3.5 mm", "3.5mm"),
            ("RFC2822", "RFC 2822"),
            ("RFC 2822", "RFC2822"),
            ("see RFC2822 on 8bit", "see RFC 2822 on 8 bit"),
            ("1000", "1,000"),
            ("1234567.89", "1,234,567.89"),
            ("1,000", "1000"),
            ("1.000.000,5", "1000000,5"),
            ("1'000", "1000"),
            ("1 000", "1000"),
            ("1.2.3", "v1.2.3"),
            ("1.22.333.4444", ""),
            ("v1.2", "1.2"),
            ("3.14", "v3.14"),
            ("2024", ""),
            ("2024-03-05", ""),
            ("0xff", ""),
            ("9f86d081", ""),
            ("0123456", ""),
            ("10:30", ""),
            ("a1", ""),
            ("report", ""),
            ("100", ""),
            (".5", ""),
            ("co-operation", "co operation|cooperation"),
            ("on-the-fly", "on the fly|onthefly"),
            ("-x", ""),
            ("foo-2", ""),
        ] {
            assert_eq!(variants(text).join("|"), expected, "{text}");
        }
    }
}
