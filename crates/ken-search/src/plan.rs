//! Syntax tree → plan: words become terms of the index, values become filters.
//!
//! A word without a field is looked for in every text field, each with its weight; a word that
//! analyses to several terms is a phrase; what selects without ranking is a filter. Analysis is
//! the one the index was made with, handed in, so that this module knows no engine.

use std::ops::Range;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::{Bound, FIELDS, Field, FieldKind, Plan};

use crate::folder;
use crate::parse::{Clause, Tree, Value, When};

/// Splits a field's text into terms: calls back with term, position, and the bytes it is from.
///
/// Several terms may share a position: a whole identifier and its first part.
pub type Analyze = fn(Field, &str, &mut dyn FnMut(&str, u32, Range<usize>));

/// What a query means depends on: who asks, when and where.
#[derive(Clone, Debug)]
pub struct Context {
    /// The time that it is.
    pub now: Timestamp,
    /// The zone in which days begin.
    pub zone: TimeZone,
    /// What `~` stands for in `dir:`.
    pub home: Option<PathBuf>,
    /// What `.` stands for in `dir:`.
    pub cwd: PathBuf,
    /// The analysis of the index.
    pub analyze: Analyze,
}

/// Returns the plan of a query.
///
/// Words in which analysis finds no term (`&`, `--`) are left out, as people write them between
/// other words; a query of only such words finds nothing.
pub fn plan(tree: &Tree, context: &Context) -> Plan {
    let plan = part(tree, context).unwrap_or(Plan::Nothing);
    positive(plan)
}

/// Returns the plan of a part; `None` if it has no term to look for.
fn part(tree: &Tree, context: &Context) -> Option<Plan> {
    match tree {
        Tree::All => Some(Plan::All),
        Tree::Clause(clause) => self::clause(clause, context),
        Tree::And(parts) => {
            let mut plans: Vec<Plan> = parts.iter().filter_map(|p| part(p, context)).collect();
            if plans.iter().all(|plan| matches!(plan, Plan::Not(_))) && !plans.is_empty() {
                plans.insert(0, Plan::All);
            }
            joined(plans, Plan::And)
        }
        Tree::Or(parts) => {
            let plans = parts.iter().filter_map(|p| part(p, context));
            joined(plans.map(positive).collect(), Plan::Or)
        }
        Tree::Not(inner) => Some(Plan::Not(Box::new(positive(part(inner, context)?)))),
    }
}

/// Returns the plan in a form that stands alone: engines exclude only from something.
fn positive(plan: Plan) -> Plan {
    match plan {
        Plan::Not(_) => Plan::And(vec![Plan::All, plan]),
        plan => plan,
    }
}

fn joined(mut plans: Vec<Plan>, list: fn(Vec<Plan>) -> Plan) -> Option<Plan> {
    match plans.len() {
        0 => None,
        1 => plans.pop(),
        _ => Some(list(plans)),
    }
}

fn clause(clause: &Clause, context: &Context) -> Option<Plan> {
    let Some(field) = clause.field else {
        let fields = FIELDS.iter().filter(|info| info.weight > 0.0);
        let plans = fields.filter_map(|info| {
            let plan = words(info.field, &clause.value, context.analyze)?;
            Some(Plan::Weight(info.weight, Box::new(plan)))
        });
        return joined(plans.collect(), Plan::Or);
    };
    if field.info().kind == FieldKind::Text {
        return words(field, &clause.value, context.analyze);
    }
    let selects = match &clause.value {
        Value::Word(text) if field == Field::Dir => folder::plan(text, false, context),
        Value::Prefix(text) if field == Field::Dir => folder::plan(text, true, context),
        Value::Word(text) | Value::Phrase { text, .. } => Plan::Term {
            field,
            term: text.trim().to_lowercase(),
        },
        Value::Prefix(text) => Plan::Prefix {
            field,
            prefix: text.to_lowercase(),
        },
        Value::Numbers(from, to) => Plan::Range {
            field,
            from: *from,
            to: *to,
        },
        Value::Dates(from, to) => dates(field, *from, *to, context),
    };
    Some(Plan::Filter(Box::new(selects)))
}

/// Returns the seconds that a range of days, months and years covers, half open.
fn dates(field: Field, from: Bound<When>, to: Bound<When>, context: &Context) -> Plan {
    let seconds = |when: When| when.seconds(context.now, &context.zone);
    let from = match from {
        Bound::Included(when) => Bound::Included(seconds(when).0),
        Bound::Excluded(when) => Bound::Included(seconds(when).1),
        Bound::Unbounded => Bound::Unbounded,
    };
    let to = match to {
        Bound::Included(when) => Bound::Excluded(seconds(when).1),
        Bound::Excluded(when) => Bound::Excluded(seconds(when).0),
        Bound::Unbounded => Bound::Unbounded,
    };
    Plan::Range { field, from, to }
}

/// Returns the plan of words in a text field; `None` if there is no term in them.
fn words(field: Field, value: &Value, analyze: Analyze) -> Option<Plan> {
    let (text, prefix) = match value {
        Value::Word(text) => (text, false),
        Value::Prefix(text) => (text, true),
        Value::Phrase { text, prefix_last } => (text, *prefix_last),
        Value::Numbers(..) | Value::Dates(..) => return None,
    };
    if text.is_empty() && prefix {
        let prefix = String::new();
        return Some(Plan::Prefix { field, prefix });
    }
    if let (Value::Word(_), Some(plan)) = (value, identifier(field, text, analyze)) {
        return Some(plan);
    }
    let terms = terms(field, text, analyze);
    let prefix = prefix
        || terms
            .last()
            .is_some_and(|(_, term)| starts_pair(term, analyze));
    phrase(field, terms, prefix)
}

/// Returns the plan of a word that is an identifier: the whole, or its parts in one identifier, so
/// that `parseHTTP` finds `parseHTTPHeader`. `None` for other words.
fn identifier(field: Field, text: &str, analyze: Analyze) -> Option<Plan> {
    let mut terms = Vec::new();
    analyze(field, text, &mut |term, position, _| {
        terms.push((position, term.to_owned()));
    });
    if terms.iter().any(|(position, _)| *position != 0) || terms.len() < 3 {
        return None;
    }
    let (_, term) = terms.remove(0);
    let parts = Plan::Phrase {
        field,
        terms,
        prefix_last: false,
    };
    Some(Plan::Or(vec![Plan::Term { field, term }, parts]))
}

/// Tells a single character of a script without blanks, which the index has only as the start of
/// pairs: `字` must find `字典`. Such a character doubled gives more than one position.
fn starts_pair(term: &str, analyze: Analyze) -> bool {
    let mut characters = term.chars();
    let single = characters.next().is_some_and(|c| !c.is_ascii()) && characters.next().is_none();
    let mut positions = 0;
    if single {
        analyze(Field::Body, &term.repeat(2), &mut |_, position, _| {
            positions = position + 1;
        });
    }
    positions > 1
}

/// Returns the plan for terms at positions: a term, a prefix or a phrase.
pub(crate) fn phrase(
    field: Field,
    mut terms: Vec<(u32, String)>,
    prefix_last: bool,
) -> Option<Plan> {
    if terms.len() > 1 {
        return Some(Plan::Phrase {
            field,
            terms,
            prefix_last,
        });
    }
    let (_, term) = terms.pop()?;
    Some(if prefix_last {
        let prefix = term;
        Plan::Prefix { field, prefix }
    } else {
        Plan::Term { field, term }
    })
}

/// Returns the terms to ask for, with positions from 0: of terms that lie in each other, as a
/// whole identifier and its parts, only the outermost.
fn terms(field: Field, text: &str, analyze: Analyze) -> Vec<(u32, String)> {
    let mut found: Vec<(Range<usize>, u32, String)> = Vec::new();
    analyze(field, text, &mut |term, position, bytes| {
        found.push((bytes, position, term.to_owned()));
    });
    // Outer before inner; of two forms of the same bytes the longer.
    found.sort_by(|(a, pa, ta), (b, pb, tb)| {
        let order = (a.start, b.end, *pa).cmp(&(b.start, a.end, *pb));
        order.then_with(|| tb.len().cmp(&ta.len()))
    });
    let mut covered = 0;
    let mut terms: Vec<(u32, String)> = Vec::new();
    for (bytes, position, term) in found {
        let inner = !terms.is_empty() && bytes.end <= covered;
        let beside = terms.last().is_some_and(|(last, _)| *last == position);
        if !inner && !beside {
            covered = bytes.end;
            terms.push((position, term));
        }
    }
    let first = terms.first().map_or(0, |(position, _)| *position);
    for (position, _) in &mut terms {
        *position = position.saturating_sub(first);
    }
    terms
}
