//! Turns a syntax tree into a plan: words become terms of the index, values become filters.
//!
//! A word without a field is searched for in every text field, each with its weight. A word that analysis splits into
//! several terms becomes a phrase. A condition that selects without ranking becomes a filter. The caller passes the
//! analysis that made the index, so this module knows no engine.

mod equal;
mod variants;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::{
    Bound, Field, FieldKind, Form, Glob, GlobPart, Kind, Pattern, Plan, Span, Word, language,
    lower_range,
};

use crate::compare;
use crate::folder;
use crate::parse::{Clause, Modifiers, Phrase, Piece, Tree, Value, When};
use crate::synonyms::Synonyms;

/// The state of messages that are from or to the user.
const PERSONAL: &str = "personal";

/// Splits a field's text into terms. It calls back with each term, its position, and the bytes that it comes from.
///
/// Several terms may share a position: a whole identifier and its first part.
pub type Analyze = fn(Field, &str, &mut dyn FnMut(&str, u32, Range<usize>));

/// What the meaning of a query depends on: the user, the time and the current folder.
#[derive(Clone, Debug)]
pub struct Context {
    /// The current time.
    pub now: Timestamp,
    /// The time zone in which days begin.
    pub zone: TimeZone,
    /// What `~` means in `dir:`.
    pub home: Option<PathBuf>,
    /// What `.` means in `dir:`.
    pub cwd: PathBuf,
    /// The folder of all mail, at which `maildir:/…` starts; without one it may be any folder.
    pub mail_root: Option<PathBuf>,
    /// Regular expressions that match the user's own addresses, for `is:personal`.
    pub own_addresses: Vec<String>,
    /// The roots of the index, for `root:`.
    pub roots: Vec<PathBuf>,
    /// The analysis of the index.
    pub analyze: Analyze,
    /// Words that a search treats as equal.
    pub synonyms: Arc<Synonyms>,
}

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
    let Some(field) = clause
        .field
        .filter(|field| field.info().kind != FieldKind::Text)
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
        Value::Word(text) => matched(Pattern::Term(keyword(field, text))),
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

/// Returns a range as terms spell it: each end is one letter without diacritics.
fn folded_range((first, last): (char, char), field: Field, analyze: Analyze) -> (char, char) {
    let letter = terms(field, &first.to_string(), analyze).pop();
    let mut letter = letter.iter().flat_map(|(_, term)| term.chars());
    match (letter.next(), letter.next()) {
        (Some(letter), None) if first == last => (letter, letter),
        _ => lower_range((first, last)),
    }
}

/// Makes an expression ignore case. Terms are folded, so capitals would match nothing.
fn any_case(regex: &str) -> String {
    format!("(?i){regex}")
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

fn literally(value: &Value, analyze: Analyze) -> Option<Span> {
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
        Value::Numbers(..) | Value::Dates(..) => None,
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
/// `parseHTTPHeader`. Returns `None` for other words.
fn identifier(field: Field, text: &str, analyze: Analyze) -> Option<Span> {
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
/// the start of pairs: `字` must find `字典`. Analysis of the doubled character gives more than one position.
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
fn terms(field: Field, text: &str, analyze: Analyze) -> Vec<(u32, String)> {
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
