//! Finds the most distinctive terms of a document, by which similar documents are searched for.
//!
//! A term is more distinctive if the text has it more often and if fewer documents of the index have it (tf·idf, as in Salton
//! and Buckley, 1988). A document is similar if it has many of the best terms; each term counts by its weight.

use std::collections::HashMap;

use ken_core::{Field, Pattern, Plan};

use crate::plan::Analyze;

/// Bytes of the text that are read: its beginning shows what a document is about.
const TEXT_BYTES: usize = 1 << 20;
/// Different terms that are weighed: the first ones of the text.
const CANDIDATES: usize = 20_000;
/// Terms that are searched for.
const TERMS: usize = 30;

/// A term that more than one of so many documents has says little, and is not searched for.
const COMMON: u64 = 5;
/// If fewer other terms are left, common ones are searched for, too.
const FEW: usize = 5;

/// Returns a plan for documents similar to one with this text. The plan finds nothing if no other document has a term
/// of the text. `frequency` returns how many of `n_documents` have a term in their text.
///
/// # Errors
/// Fails if `frequency` does.
pub fn like<E>(
    text: &str,
    analyze: Analyze,
    n_documents: u64,
    frequency: &mut dyn FnMut(&str) -> Result<u64, E>,
) -> Result<Plan, E> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
    let mut counts: HashMap<String, u32> = HashMap::new();
    analyze(Field::Body, text, &mut |term, _, _| {
        if let Some(count) = counts.get_mut(term) {
            *count += 1;
        } else if counts.len() < CANDIDATES && is_distinctive(term) {
            counts.insert(term.to_owned(), 1);
        }
    });
    let (mut terms, mut common) = (Vec::with_capacity(counts.len()), Vec::new());
    for (term, count) in sorted(counts) {
        let n_having = frequency(&term)?;
        let of_its_kind = match n_having > n_documents / COMMON {
            true => &mut common,
            false => &mut terms,
        };
        if n_having > 0 {
            of_its_kind.push((weight(count, n_having, n_documents), term));
        }
    }
    if terms.len() < FEW {
        terms.append(&mut common);
    }
    terms.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    terms.truncate(TERMS);
    let most = terms.first().map_or(1.0, |(weight, _)| *weight);
    let parts = terms.into_iter().map(|(weight, term)| {
        let found = Plan::Match {
            field: Field::Body,
            pattern: Pattern::Term(term),
        };
        Plan::Weight(weight / most, Box::new(found))
    });
    Ok(match parts.collect::<Vec<_>>() {
        parts if parts.is_empty() => Plan::Nothing,
        parts => Plan::Or(parts),
    })
}

/// Returns whether a term says what a text is about: single letters, digits and numbers hardly do.
fn is_distinctive(term: &str) -> bool {
    term.chars().nth(1).is_some() && term.contains(char::is_alphabetic)
}

fn sorted(counts: HashMap<String, u32>) -> Vec<(String, u32)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}

fn weight(count: u32, n_having: u64, n_documents: u64) -> f32 {
    let rarity = (1.0 + n_documents as f64 / n_having as f64).ln();
    ((1.0 + f64::from(count).ln()) * rarity) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_spaces(_: Field, text: &str, each: &mut dyn FnMut(&str, u32, std::ops::Range<usize>)) {
        for (position, word) in text.split(' ').enumerate() {
            each(word, position as u32, 0..0);
        }
    }

    #[test]
    fn rare_and_frequent_terms_weigh_most() {
        let mut frequency = |term: &str| -> Result<u64, ()> {
            Ok(match term {
                "the" => 1000,
                "okapi" => 3,
                "zoo" => 50,
                _ => 0,
            })
        };
        let text = "the the the the zoo okapi okapi unknown 1234 x";
        let plan = like(text, by_spaces, 1000, &mut frequency).unwrap();
        let Plan::Or(parts) = plan else {
            panic!("{plan}")
        };
        let terms: Vec<_> = parts.iter().map(ToString::to_string).collect();
        assert_eq!(terms.len(), 3);
        assert_eq!(terms[0], r#"(weight 1 (body "okapi"))"#);
        assert!(
            terms[1].contains("zoo") && terms[2].contains("the"),
            "{terms:?}"
        );
        let text = "the zoo zoa zob zoc zod";
        let mut rare = |term: &str| -> Result<u64, ()> { Ok(if term == "the" { 900 } else { 7 }) };
        let plan = like(text, by_spaces, 1000, &mut rare).unwrap();
        assert!(!plan.to_string().contains("the"), "{plan}");
        let plan = like("unknown", by_spaces, 1000, &mut frequency).unwrap();
        assert_eq!(plan, Plan::Nothing);
    }
}
