//! Spellings of one thing find each other: what holds one way holds the other way round.

mod support;

use ken_core::{Field, Pattern, Plan, Span};
use ken_search::{parse, plan::plan};
use proptest::prelude::*;

/// Returns the terms of a text with their positions.
fn terms(text: &str) -> Vec<(String, u32)> {
    let mut terms = Vec::new();
    ken_index::analysis::analyze(Field::Body, text, |term, position, _| {
        terms.push((term.to_owned(), position));
    });
    terms
}

fn is_there(pattern: &Pattern, at: Option<u32>, terms: &[(String, u32)]) -> bool {
    terms.iter().any(|(term, position)| {
        let is_term = match pattern {
            Pattern::Term(wanted) | Pattern::Stem(wanted) => term == wanted,
            Pattern::Prefix(start) => term.starts_with(start.as_str()),
            _ => false,
        };
        is_term && at.is_none_or(|at| at == *position)
    })
}

fn has_span(span: &Span, terms: &[(String, u32)]) -> bool {
    match span {
        Span::Match(pattern) => is_there(pattern, None, terms),
        Span::Any(parts) => parts.iter().any(|part| has_span(part, terms)),
        Span::Phrase(parts) => terms.iter().any(|(_, start)| {
            let mut parts = parts.iter();
            parts.all(|(at, pattern)| is_there(pattern, Some(start + at), terms))
        }),
        Span::Near { .. } => false,
    }
}

fn matches(plan: &Plan, terms: &[(String, u32)]) -> bool {
    match plan {
        Plan::Word(word) => word.forms.iter().any(|form| has_span(&form.span, terms)),
        Plan::And(parts) => parts.iter().all(|part| matches(part, terms)),
        Plan::Or(parts) => parts.iter().any(|part| matches(part, terms)),
        _ => false,
    }
}

/// Returns whether a query finds a text that has a word among others.
fn finds(query: &str, word: &str) -> bool {
    let tree = parse::parse(query).unwrap();
    let plan = plan(&tree, &support::context());
    matches(&plan, &terms(&format!("made of {word} today.")))
}

/// Generates two spellings of one thing.
fn spellings() -> impl Strategy<Value = (String, String)> {
    let hyphen = || prop::sample::select(vec!["-", "\u{2010}", "\u{2011}"]);
    let sign = prop::sample::select(vec!["-", "\u{2010}", "\u{2011}", "_", "."]);
    // A query of an operator alone is no query.
    let letters = "[A-Z]{3,5}".prop_filter("an operator", |letters| {
        !["AND", "NEAR", "NOT", "XOR"].contains(&letters.as_str())
    });
    let acronym = (letters, any::<bool>()).prop_map(|(letters, is_closed)| {
        let mut points: String = letters.chars().flat_map(|letter| [letter, '.']).collect();
        if !is_closed {
            points.pop();
        }
        (points, letters)
    });
    let numbered = ("[a-z]{2,5}", sign, "[1-9][0-9]{0,3}");
    let numbered = numbered.prop_map(|(name, sign, number)| {
        ([&name, sign, &number].concat(), [name, number].concat())
    });
    let letter = (
        "[A-Z]",
        prop::sample::select(vec!["-", "."]),
        "[1-9][0-9]{1,3}",
    );
    let letter = letter.prop_map(|(name, sign, number)| {
        ([&name, sign, &number].concat(), [name, number].concat())
    });
    let prefixed = ("[a-zé]{1,3}", hyphen(), "[a-zé]{3,9}");
    let prefixed = prefixed.prop_map(|(first, hyphen, second)| {
        ([&first, hyphen, &second].concat(), [first, second].concat())
    });
    let sides = (
        "[A-Z]{1,4}",
        prop::sample::select(vec!["/", "&"]),
        "[A-Z]{1,4}",
    );
    let sides = sides.prop_map(|(first, sign, second)| {
        ([&first, sign, &second].concat(), [first, second].concat())
    });
    let name = (
        "[OD]",
        prop::sample::select(vec!["'", "’", "ʼ"]),
        "[A-Z][a-z]{2,7}",
    );
    let name = name.prop_map(|(first, sign, second)| {
        (
            [&first, sign, &second].concat(),
            [first, second].concat().to_lowercase(),
        )
    });
    let grouped = (3_u64..999, 0_u64..1_000_000, any::<bool>(), groups());
    let grouped = grouped.prop_map(|(high, low, is_indian, (sign, currency))| {
        let number = (high * 1_000_000 + low).to_string();
        let is_border = |left: usize| match is_indian {
            true => left > 2 && left % 2 == 1,
            false => left.is_multiple_of(3),
        };
        let mut grouped = currency.to_owned();
        for (at, digit) in number.chars().enumerate() {
            let border = at > 0 && is_border(number.len() - at);
            grouped.extend(border.then_some(sign));
            grouped.push(digit);
        }
        (grouped, number)
    });
    let version = "[0-9]{1,2}\\.[0-9]{1,3}\\.[0-9]{1,3}(-(rc|beta)[1-9])?";
    let version = version.prop_map(|version| (format!("v{version}"), version));
    prop_oneof![
        acronym, numbered, letter, prefixed, sides, name, grouped, version
    ]
}

/// Generates the sign between the groups of a number, and its currency.
fn groups() -> impl Strategy<Value = (char, &'static str)> {
    let sign = prop::sample::select(vec![',', '\'', '’', '\u{a0}', '\u{2009}', '\u{202f}']);
    (sign, prop::sample::select(vec!["", "$", "₹", "€", "US$"]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn spellings_find_each_other((one, other) in spellings()) {
        prop_assert!(finds(&one, &one), "{one}");
        prop_assert!(finds(&other, &other), "{other}");
        prop_assert!(finds(&one, &other), "{one} finds {other}");
        prop_assert!(finds(&other, &one), "{other} finds {one}");
    }

    #[test]
    fn a_word_and_its_possessive_find_each_other(word in "[a-z]{5,9}", sign in prop::sample::select(vec!["'s", "’s", "ʼs", "'", "’"])) {
        let possessive = word.clone() + sign;
        prop_assert!(finds(&word, &possessive), "{word}");
        prop_assert!(finds(&possessive, &word), "{possessive}");
    }
}

#[test]
fn other_things_do_not_find_each_other() {
    for (one, other) in [
        ("A1", "a 1"),
        ("1.5", "15"),
        ("2024-03-05", "20240305"),
        ("wellknown", "well-known"),
        ("U.S.A.", "A.U.S."),
        ("don't", "don"),
        ("it's", "it"),
    ] {
        assert!(!finds(one, other), "{one} finds {other}");
    }
}
