//! Turns a syntax tree into a plan: words become terms of the index, values become filters.
//!
//! A word without a field is searched for in every text field, each with its weight. A word that analysis splits into
//! several terms becomes a phrase. A condition that selects without ranking becomes a filter. The caller passes the
//! analysis that made the index, so this module knows no engine.

mod equal;
mod variants;

use ken_core::{
    Bound, Field, FieldKind, Form, Glob, GlobPart, Kind, Pattern, Plan, Span, Word, language,
    lower_range,
};

pub use crate::analyze::Analyze;
use crate::compare;
pub use crate::context::Context;
use crate::folder;
use crate::media_types;
use crate::parse::{Clause, Modifiers, Tree, Value, When};
use crate::spans::{any_case, literally};

/// The state of messages that are from or to the user.
const PERSONAL: &str = "personal";

/// Returns the plan of a query.
///
/// Words without a term (`&`, `--`) are left out, as people write them between other words. A query of only such words
/// finds nothing.
pub fn plan(tree: &Tree, context: &Context) -> Plan {
    let plan = part(tree, context).unwrap_or(Plan::Nothing);
    positive(plan)
}

/// Returns the plan of a part; `None` if it has no term.
fn part(tree: &Tree, context: &Context) -> Option<Plan> {
    match tree {
        Tree::All => Some(Plan::All),
        Tree::Clause(clause) => {
            if let Some(plan) = personal(clause, context) {
                return Some(plan);
            }
            if let Some(parts) = alternatives(clause) {
                return part(&Tree::or(parts), context);
            }
            let plan = self::clause(clause, context)?;
            let plan = variants::with_variants(plan, clause, context);
            Some(equal::with_synonyms(plan, clause, context))
        }
        Tree::And(parts) => {
            let mut plans = equal::parts(parts, context);
            if plans.iter().all(|plan| matches!(plan, Plan::Not(_))) && !plans.is_empty() {
                plans.insert(0, Plan::All);
            }
            joined(plans, Plan::And)
        }
        Tree::Or(parts) => {
            let plans = parts.iter().filter_map(|p| part(p, context));
            joined(plans.map(positive).collect(), Plan::Or)
        }
        Tree::Xor(left, right) => match (part(left, context), part(right, context)) {
            (Some(left), Some(right)) => {
                let (left, right) = (positive(left), positive(right));
                Some(Plan::Xor(Box::new(left), Box::new(right)))
            }
            (one, None) | (None, one) => one,
        },
        Tree::Not(inner) => Some(Plan::Not(Box::new(positive(part(inner, context)?)))),
        Tree::Near(parts, nearness) => {
            let field = near_field(parts);
            let parts = parts.iter().filter_map(|p| near_part(p, context));
            let mut parts: Vec<Span> = parts.collect();
            let span = match parts.len() {
                0 | 1 => parts.pop()?,
                _ => Span::Near {
                    parts,
                    slop: nearness.slop,
                    ordered: nearness.ordered,
                },
            };
            Some(word(field, span))
        }
        Tree::Thread(inner) => {
            let message = Plan::Match {
                field: Field::Type,
                pattern: Pattern::Term(Kind::Message.name().to_owned()),
            };
            // An attachment leads to a thread too, and a page has one of its own; only messages are wanted.
            let thread = Plan::Thread(Box::new(positive(part(inner, context)?)));
            Some(Plan::Filter(Box::new(Plan::And(vec![thread, message]))))
        }
        Tree::Part(inner) => {
            let plan = positive(part(inner, context)?);
            Some(Plan::Filter(Box::new(Plan::Carrier(Box::new(plan)))))
        }
        Tree::Boost(inner, boost) => {
            let plan = positive(part(inner, context)?);
            Some(Plan::Weight(boost.0 as f32 / 1000.0, Box::new(plan)))
        }
    }
}

/// Returns the alternatives of a clause that stands for several clauses.
fn alternatives(clause: &Clause) -> Option<Vec<Tree>> {
    let field = clause.field?;
    let in_field = |field: Field, clause: &Clause| {
        Tree::Clause(Clause {
            field: Some(field),
            ..clause.clone()
        })
    };
    let members = field.members();
    if !members.is_empty() {
        let parts = members.iter().map(|member| in_field(*member, clause));
        return Some(parts.collect());
    }
    None
}

/// Returns the plan for messages from or to the user, if the clause asks for them.
fn personal(clause: &Clause, context: &Context) -> Option<Plan> {
    let is_it = clause.field == Some(Field::Is) && clause.value == Value::Word(PERSONAL.to_owned());
    let own = &context.own_addresses;
    let fields = Field::Contact.members().iter();
    let plans = fields.filter(|_| !own.is_empty()).map(|field| Plan::Match {
        field: *field,
        pattern: Pattern::Address(own.clone()),
    });
    is_it.then(|| {
        let plan = joined(plans.collect(), Plan::Or).unwrap_or(Plan::Nothing);
        Plan::Filter(Box::new(plan))
    })
}

/// Returns the field that all words of a NEAR share; `None` for any field.
fn near_field(parts: &[Tree]) -> Option<Field> {
    match parts.first()? {
        Tree::Clause(clause) => clause.field,
        Tree::Or(parts) => near_field(parts),
        _ => None,
    }
}

fn near_part(tree: &Tree, context: &Context) -> Option<Span> {
    match tree {
        Tree::Clause(clause) => words(clause, context.analyze),
        Tree::Or(parts) => {
            let parts = parts.iter().filter_map(|p| near_part(p, context));
            let mut parts: Vec<Span> = parts.collect();
            match parts.len() {
                0 | 1 => parts.pop(),
                _ => Some(Span::Any(parts)),
            }
        }
        _ => None,
    }
}

/// Returns the plan of a span of words in one text field or in all. The ranking counts the span as one word.
fn word(field: Option<Field>, span: Span) -> Plan {
    let mut word = Word::new(field, span);
    // The whole of an identifier, and its parts.
    if let [only] = word.forms.as_slice()
        && let Span::Any(parts) = &only.span
    {
        let forms = parts.iter().cloned();
        word.forms = forms.map(Form::literal).collect();
    }
    Plan::Word(word)
}

/// Returns the plan in a form that works alone: an engine can only exclude from something.
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
    let is_whole = matches!(clause.value, Value::Whole(_));
    let Some(field) = clause
        .field
        .filter(|field| field.info().kind != FieldKind::Text || is_whole)
    else {
        return Some(word(clause.field, words(clause, context.analyze)?));
    };
    let matched = |pattern| Plan::Match { field, pattern };
    let selects = match &clause.value {
        Value::Word(text) if field.info().kind == FieldKind::Path => {
            folder::field(field, &literal(text), context)
        }
        Value::Prefix(text) if field.info().kind == FieldKind::Path => {
            folder::field(field, &starting(text), context)
        }
        Value::Glob(glob) if field.info().kind == FieldKind::Path => {
            folder::field(field, glob, context)
        }
        Value::Regex(regex) if matches!(field, Field::Dir | Field::Maildir) => {
            folder::matching(field, regex, context.mail_root.as_deref())
        }
        Value::Regex(regex) if field == Field::Path => matched(Pattern::Regex(regex.clone())),
        // The index does not keep the normal priority.
        Value::Word(text) if field == Field::Prio && text == "normal" => Plan::And(vec![
            Plan::Match {
                field: Field::Type,
                pattern: Pattern::Term(Kind::Message.name().to_owned()),
            },
            Plan::Not(Box::new(matched(Pattern::Prefix(String::new())))),
        ]),
        // A tag is found without its diacritics, as a word is.
        Value::Word(text) if field == Field::Tag => matched(Pattern::Name(literal(text.trim()))),
        Value::Prefix(text) if field == Field::Tag => matched(Pattern::Name(starting(text))),
        Value::Among(values) => matched(Pattern::Any(values.clone())),
        Value::Whole(whole) => matched(Pattern::Whole(whole.clone())),
        Value::Word(text) => matched(term(field, text)),
        Value::Prefix(text) => matched(Pattern::Prefix(text.to_lowercase())),
        Value::Glob(glob) => matched(Pattern::Glob(lowercase(glob))),
        Value::Regex(regex) => matched(Pattern::Regex(any_case(regex))),
        Value::Terms(from, to) => {
            let end = |end: &Bound<String>| end.as_ref().map(|text| text.to_lowercase());
            matched(Pattern::Range(end(from), end(to)))
        }
        Value::Fuzzy(text, distance) => {
            matched(Pattern::Fuzzy(text.trim().to_lowercase(), *distance))
        }
        Value::Phrase(phrase) => matched(Pattern::Term(keyword(
            field,
            phrase.literal().unwrap_or(""),
        ))),
        Value::Numbers(from, to) => Plan::Range {
            field,
            from: *from,
            to: *to,
        },
        Value::Dates(from, to) => dates(field, *from, *to, context),
    };
    Some(Plan::Filter(Box::new(selects)))
}

/// Returns the pattern of a whole value. A media type is also found by another name that programs give it.
fn term(field: Field, value: &str) -> Pattern {
    let term = keyword(field, value);
    let other = match field {
        Field::Mime | Field::Has => media_types::canonical(&term),
        _ => None,
    };
    match other {
        Some(name) => Pattern::Any(vec![name.to_owned(), term]),
        None => Pattern::Term(term),
    }
}

/// Returns the term of a whole value.
fn keyword(field: Field, value: &str) -> String {
    let value = match field {
        Field::Lang => language::normalize(value),
        _ => None,
    }
    .unwrap_or_else(|| value.trim().to_owned());
    value.to_lowercase()
}

fn literal(text: &str) -> Glob {
    let mut glob = Glob(Vec::new());
    glob.push(GlobPart::Literal(text.to_owned()));
    glob
}

fn starting(text: &str) -> Glob {
    let mut glob = literal(text);
    glob.push(GlobPart::Many);
    glob
}

fn lowercase(glob: &Glob) -> Glob {
    glob.map(str::to_lowercase, lower_range)
}

/// Returns the plan for a range of days, months and years as seconds, half open.
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

/// Returns the span of words that a clause searches for in text fields; `None` if it has no term. All text fields
/// share one analysis. A word matches all its forms and a phrase only the written ones, unless modifiers say
/// otherwise.
fn words(clause: &Clause, analyze: Analyze) -> Option<Span> {
    let span = literally(&clause.value, analyze)?;
    let span = compare::written(span, clause, analyze);
    let Modifiers {
        unstemmed, expand, ..
    } = clause.modifiers;
    let span = match (&clause.value, span) {
        (_, span) if unstemmed => span,
        (Value::Word(_), Span::Match(pattern)) => Span::Match(stem(pattern)),
        (Value::Phrase(_), span) if expand => stems(span),
        (_, span) => span,
    };
    Some(compare::anchored(span, clause))
}

fn stem(pattern: Pattern) -> Pattern {
    match pattern {
        Pattern::Term(term) => Pattern::Stem(term),
        pattern => pattern,
    }
}

fn stems(span: Span) -> Span {
    let list = |parts: Vec<Span>| parts.into_iter().map(stems).collect();
    match span {
        Span::Match(pattern) => Span::Match(stem(pattern)),
        Span::Any(parts) => Span::Any(list(parts)),
        Span::Phrase(terms) => {
            let terms = terms.into_iter().map(|(at, pattern)| (at, stem(pattern)));
            Span::Phrase(terms.collect())
        }
        Span::Near {
            parts,
            slop,
            ordered,
        } => Span::Near {
            parts: list(parts),
            slop,
            ordered,
        },
    }
}
