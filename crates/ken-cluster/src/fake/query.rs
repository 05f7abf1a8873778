//! Queries of OpenSearch on the documents of the fake, one document after the other.

use std::collections::HashSet;

use regex_automata::meta::Regex;
use serde_json::Value;

use crate::layout::{GAP, JOIN, NO_BORDER};

/// A document with its identifier.
pub(super) type Entry<'d> = (&'d str, &'d Value);

/// Returns the values of a field.
pub(super) fn values<'d>(source: &'d Value, field: &str) -> &'d [Value] {
    match source.get(field) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(values)) => values,
        Some(value) => std::slice::from_ref(value),
    }
}

/// Returns the terms of a field with their positions. Text is taken apart as the analyzer `ken` of the mapping does.
fn terms<'d>(source: &'d Value, field: &str) -> Vec<(u32, &'d str)> {
    let texts = values(source, field).iter().filter_map(Value::as_str);
    if !field.starts_with("t_") {
        return texts.map(|text| (0, text)).collect();
    }
    let tokens = texts.flat_map(|text| text.split(' '));
    (0..)
        .zip(tokens)
        .flat_map(|(at, token)| at_one(at, token))
        .collect()
}

fn at_one(at: u32, token: &str) -> impl Iterator<Item = (u32, &str)> {
    let parts = token.split(JOIN);
    parts
        .filter(|part| !part.starts_with(GAP))
        .map(move |part| (at, part))
}

/// Returns the field and the argument of a query such as `{ "term": { FIELD: … } }`.
fn of_field(of: &Value) -> (&str, &Value) {
    let mut fields = of.as_object().unwrap().iter();
    let (field, argument) = fields.next().unwrap();
    (field, argument)
}

fn value_of(argument: &Value) -> &Value {
    argument.get("value").unwrap_or(argument)
}

fn parts(bool: &Value, name: &str) -> Vec<Value> {
    match bool.get(name) {
        None => Vec::new(),
        Some(Value::Array(parts)) => parts.clone(),
        Some(part) => vec![part.clone()],
    }
}

/// Words near each other, as OpenSearch's intervals have them.
pub(super) struct Near {
    words: Vec<Vec<String>>,
    max_gaps: i64,
    is_ordered: bool,
}

impl Near {
    fn read(of: &Value) -> Self {
        let parts = of["intervals"].as_array().unwrap().iter();
        let words = parts.map(|part| {
            let any = part["any_of"]["intervals"].as_array().unwrap().iter();
            let words = any.map(|of| of["match"]["query"].as_str().unwrap().to_owned());
            words.collect()
        });
        Self {
            words: words.collect(),
            max_gaps: of["max_gaps"].as_i64().unwrap(),
            is_ordered: of["ordered"].as_bool().unwrap(),
        }
    }

    /// Tries all choices of positions.
    fn is_in(&self, terms: &[(u32, &str)]) -> bool {
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new()];
        for words in &self.words {
            let here = terms
                .iter()
                .filter(|(_, term)| words.iter().any(|word| word == term));
            let here: Vec<u32> = here.map(|(at, _)| *at).collect();
            let longer = chosen
                .iter()
                .flat_map(|before| here.iter().map(|at| [&before[..], &[*at]].concat()));
            chosen = longer.collect();
        }
        chosen.iter().any(|at| {
            let width = i64::from(at.iter().max().unwrap() - at.iter().min().unwrap()) + 1;
            let is_in_order = at.windows(2).all(|two| two[0] < two[1]);
            (!self.is_ordered || is_in_order) && width - at.len() as i64 <= self.max_gaps
        })
    }
}

/// A query that is ready for many documents.
pub(super) enum Query {
    All(bool),
    Ids(HashSet<String>),
    /// A field has one of these values.
    Values(String, HashSet<String>),
    /// A field has a term that passes.
    Term(String, Box<dyn Fn(&str) -> bool>),
    Number(String, Box<dyn Fn(i64) -> bool>),
    Exists(String),
    Phrase(String, Vec<(u32, Vec<String>)>),
    Near(String, Near),
    Bool {
        all: Vec<Self>,
        any: Vec<Self>,
        none: Vec<Self>,
        needs_any: bool,
    },
    Best(Vec<Self>),
    Weighed(f64, Box<Self>),
    /// Scores by the frequency of a term.
    Frequency(Box<Self>, String, String),
}

impl Query {
    /// Reads a query.
    ///
    /// # Panics
    /// Panics at a query that the fake does not know.
    pub(super) fn read(query: &Value) -> Self {
        if query.is_null() {
            return Self::All(true);
        }
        let (name, of) = of_field(query);
        let all = |parts: Vec<Value>| parts.iter().map(Self::read).collect::<Vec<_>>();
        match name {
            "match_all" => Self::All(true),
            "match_none" => Self::All(false),
            "ids" => Self::Ids(texts(&of["values"])),
            "exists" => Self::Exists(of["field"].as_str().unwrap().to_owned()),
            "bool" => {
                let needs = [parts(of, "filter"), parts(of, "must")].concat();
                let any = all(parts(of, "should"));
                Self::Bool {
                    needs_any: !any.is_empty()
                        && (needs.is_empty() || of["minimum_should_match"] == 1),
                    all: all(needs),
                    any,
                    none: all(parts(of, "must_not")),
                }
            }
            "dis_max" => Self::Best(all(parts(of, "queries"))),
            "constant_score" => weighed(of, Self::read(&of["filter"])),
            "script_score" => {
                let of_script = |name: &str| {
                    let text = &of["script"]["params"][name];
                    text.as_str().unwrap().to_owned()
                };
                let inner = Box::new(Self::read(&of["query"]));
                Self::Frequency(inner, of_script("field"), of_script("term"))
            }
            name => Self::on_field(name, of),
        }
    }

    fn on_field(name: &str, of: &Value) -> Self {
        let (field, argument) = of_field(of);
        let text = || value_of(argument).as_str().unwrap().to_owned();
        let at = field.to_owned();
        match name {
            "term" => weighed(argument, Self::Values(at, texts(value_of(argument)))),
            "terms" => Self::Values(at, texts(argument)),
            "prefix" => {
                let prefix = text();
                Self::Term(at, Box::new(move |term| term.starts_with(&prefix)))
            }
            "regexp" => {
                let regex = expression(&text());
                let has_border = move |term: &str| term.starts_with('\u{1}');
                Self::Term(
                    at,
                    Box::new(move |term| !has_border(term) && regex.is_match(term)),
                )
            }
            "fuzzy" => {
                let (word, most) = (text(), argument["fuzziness"].as_u64().unwrap());
                Self::Term(
                    at,
                    Box::new(move |term| distance(&word, term) <= most as usize),
                )
            }
            "range" if at.starts_with("n_") => {
                let end = |name: &str| argument[name].as_i64();
                let ends = [end("gte"), end("gt"), end("lte"), end("lt")];
                Self::Number(
                    at,
                    Box::new(move |n| {
                        ends[0].is_none_or(|end| n >= end)
                            && ends[1].is_none_or(|end| n > end)
                            && ends[2].is_none_or(|end| n <= end)
                            && ends[3].is_none_or(|end| n < end)
                    }),
                )
            }
            "range" => {
                let end = |name: &str| argument[name].as_str().map(str::to_owned);
                let (from, to) = (end("gte"), end("lt"));
                Self::Term(
                    at,
                    Box::new(move |term| {
                        from.as_deref().is_none_or(|from| term >= from)
                            && to.as_deref().is_none_or(|to| term < to)
                    }),
                )
            }
            "match_phrase" => {
                let line = argument["query"].as_str().unwrap();
                let mut phrase: Vec<(u32, Vec<String>)> = Vec::new();
                for (at, token) in (0..).zip(line.split(' ')) {
                    let here: Vec<String> =
                        at_one(at, token).map(|(_, term)| term.to_owned()).collect();
                    if !here.is_empty() {
                        phrase.push((at, here));
                    }
                }
                Self::Phrase(at, phrase)
            }
            "intervals" => Self::Near(at, Near::read(&argument["all_of"])),
            name => panic!("the fake knows no query {name}"),
        }
    }

    /// Returns whether a document matches.
    pub(super) fn matches(&self, (id, source): Entry<'_>) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Ids(ids) => ids.contains(id),
            Self::Values(field, of) if field.starts_with("t_") => terms(source, field)
                .iter()
                .any(|(_, term)| of.contains(*term)),
            Self::Values(field, of) => values(source, field)
                .iter()
                .any(|value| of.contains(&key(value))),
            Self::Term(field, passes) => terms(source, field).iter().any(|(_, term)| passes(term)),
            Self::Number(field, passes) => values(source, field)
                .iter()
                .any(|value| passes(value.as_i64().unwrap())),
            Self::Exists(field) => !values(source, field).is_empty(),
            Self::Phrase(field, phrase) => has_phrase(&terms(source, field), phrase),
            Self::Near(field, near) => near.is_in(&terms(source, field)),
            Self::Bool {
                all,
                any,
                none,
                needs_any,
            } => {
                all.iter().all(|part| part.matches((id, source)))
                    && !none.iter().any(|part| part.matches((id, source)))
                    && (!needs_any || any.iter().any(|part| part.matches((id, source))))
            }
            Self::Best(parts) => parts.iter().any(|part| part.matches((id, source))),
            Self::Weighed(_, part) | Self::Frequency(part, ..) => part.matches((id, source)),
        }
    }

    /// Returns the score of a document that matches. It only depends on which parts match.
    pub(super) fn score(&self, entry: Entry<'_>) -> f64 {
        let of = |part: &Self| match part.matches(entry) {
            true => part.score(entry),
            false => 0.0,
        };
        match self {
            Self::Bool { any, .. } => any.iter().map(of).sum(),
            Self::Best(parts) => parts.iter().map(of).fold(0.0, f64::max),
            Self::Weighed(weight, _) => *weight,
            Self::Frequency(_, field, wanted) => {
                let found = terms(entry.1, field);
                found.iter().filter(|(_, term)| term == wanted).count() as f64
            }
            _ => 1.0,
        }
    }
}

fn weighed(of: &Value, query: Query) -> Query {
    Query::Weighed(of["boost"].as_f64().unwrap_or(1.0), Box::new(query))
}

/// Returns a value as the text that terms are compared by.
pub(super) fn key(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn texts(value: &Value) -> HashSet<String> {
    match value {
        Value::Array(values) => values.iter().map(key).collect(),
        value => HashSet::from([key(value)]),
    }
}

fn has_phrase(terms: &[(u32, &str)], phrase: &[(u32, Vec<String>)]) -> bool {
    let at: HashSet<(u32, &str)> = terms.iter().copied().collect();
    let last = terms.last().map_or(0, |(at, _)| *at);
    (0..=last).any(|start| {
        let first = phrase.first().map_or(0, |(at, _)| *at);
        phrase.iter().all(|(of, any)| {
            any.iter()
                .any(|term| at.contains(&(start + of - first, term)))
        })
    })
}

/// Returns an expression of Lucene, as `pattern.rs` writes it.
fn expression(lucene: &str) -> Regex {
    let of_term = lucene
        .strip_suffix(&format!("&{NO_BORDER}"))
        .unwrap_or(lucene);
    let mut text = String::from("(?s)^(?:");
    let mut chars = of_term.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let escaped = chars.next().unwrap();
                text.push_str(&format!("\\x{{{:x}}}", u32::from(escaped)));
            }
            c => text.push(c),
        }
    }
    text.push_str(")$");
    Regex::new(&text).unwrap()
}

/// Returns the number of letters that differ, where two that changed places are one.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            rows[i][j] = match (i, j) {
                (0, n) | (n, 0) => n,
                (i, j) => {
                    let cost = usize::from(one[i - 1] != other[j - 1]);
                    let mut least = (rows[i - 1][j] + 1)
                        .min(rows[i][j - 1] + 1)
                        .min(rows[i - 1][j - 1] + cost);
                    let swapped =
                        i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                    if swapped {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[one.len()][other.len()]
}
