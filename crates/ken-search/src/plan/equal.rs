//! Adds synonyms: each becomes an alternative in the plan.

use ken_core::{FieldKind, Form, Plan};

use super::{Context, clause, joined, part, variants};
use crate::parse::{Clause, Modifiers, Phrase, Piece, Tree, Value};
use crate::synonyms;

/// The weight of a synonym relative to the word itself, as it may mean something else.
const WEIGHT: f32 = 0.7;

/// Returns the plan of a clause, extended by its synonyms.
pub(super) fn with_synonyms(plan: Plan, of: &Clause, context: &Context) -> Plan {
    let Some(text) = open_text(of) else {
        return plan;
    };
    let terms = synonyms::terms(text, context.analyze);
    either(plan, of, &terms, context)
}

/// Returns the plans of parts that must all match. Several words that form an expression may be replaced by another:
/// `motor car` by `automobile`.
pub(super) fn parts(parts: &[Tree], context: &Context) -> Vec<Plan> {
    let mut plans = Vec::with_capacity(parts.len());
    let mut at = 0;
    while at < parts.len() {
        if let Some((length, plan)) = expression(&parts[at..], context) {
            plans.push(plan);
            at += length;
        } else {
            let plan = part(&parts[at], context);
            plans.extend(plan.map(|plan| variants::with_neighbours(plan, parts, at, context)));
            at += 1;
        }
    }
    plans
}

/// Returns the longest run of words from the first on that has synonyms, and its plan.
fn expression(parts: &[Tree], context: &Context) -> Option<(usize, Plan)> {
    let longest = context.synonyms.longest().min(parts.len());
    let first = word(parts.first()?)?;
    let mut terms = Vec::new();
    let mut found = None;
    for (number, tree) in parts[..longest].iter().enumerate() {
        let Some(of) = word(tree).filter(|of| of.field == first.field) else {
            break;
        };
        let text = open_text(of).unwrap_or_default();
        terms.extend(synonyms::terms(text, context.analyze));
        if number > 0 && !context.synonyms.of(&terms).is_empty() {
            found = Some((number + 1, terms.clone()));
        }
    }
    let (length, terms) = found?;
    let plans = parts[..length].iter().filter_map(|p| part(p, context));
    let plan = joined(plans.collect(), Plan::And)?;
    Some((length, either(plan, first, &terms, context)))
}

fn word(tree: &Tree) -> Option<&Clause> {
    match tree {
        Tree::Clause(of) if matches!(of.value, Value::Word(_)) => open_text(of).map(|_| of),
        _ => None,
    }
}

/// Returns the text of a clause that synonyms may replace: a word, or a phrase that is not asked for exactly.
fn open_text(of: &Clause) -> Option<&str> {
    let Modifiers {
        case,
        diacritics,
        no_synonyms,
        ..
    } = of.modifiers;
    let is_text = of
        .field
        .is_none_or(|field| field.info().kind == FieldKind::Text);
    if case || diacritics || no_synonyms || !is_text {
        return None;
    }
    match &of.value {
        Value::Word(text) => Some(text),
        Value::Phrase(phrase) => phrase.literal(),
        _ => None,
    }
}

/// Returns the plan, extended by the synonyms of the terms in the field of the clause.
fn either(plan: Plan, of: &Clause, terms: &[String], context: &Context) -> Plan {
    let others = context.synonyms.of(terms);
    let plans = others.into_iter().filter_map(|terms| {
        let text = terms.join(" ");
        let value = match terms {
            [_] => Value::Word(text),
            _ => Value::Phrase(Phrase {
                pieces: vec![Piece::Text(text)],
                prefix_last: false,
                near: None,
            }),
        };
        clause(&Clause::new(of.field, value), context)
    });
    let plans: Vec<Plan> = plans.collect();
    if plans.is_empty() {
        return plan;
    }
    one_word(plan, plans)
}

/// Returns the plan and its alternatives. The ranking counts them as one word if they are words.
fn one_word(plan: Plan, others: Vec<Plan>) -> Plan {
    match plan {
        Plan::Word(mut word) if others.iter().all(|of| matches!(of, Plan::Word(_))) => {
            for other in others {
                if let Plan::Word(other) = other {
                    word.forms.extend(other.forms.into_iter().map(|form| Form {
                        weight: form.weight * WEIGHT,
                        ..form
                    }));
                }
            }
            Plan::Word(word)
        }
        plan => {
            let weighted = |of| Plan::Weight(WEIGHT, Box::new(of));
            let mut all = vec![plan];
            all.extend(others.into_iter().map(weighted));
            Plan::Or(all)
        }
    }
}
