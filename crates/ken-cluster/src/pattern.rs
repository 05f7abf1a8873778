//! Patterns of terms as queries of OpenSearch, and regular expressions in the syntax of Lucene.
//!
//! Lucene's expressions match whole terms and know neither look-around nor classes by name
//! (<https://lucene.apache.org/core/10_0_0/core/org/apache/lucene/util/automaton/RegExp.html>). They are made from the
//! syntax tree of the crate `regex`, so classes are those of Unicode that ken's own engine uses. What has no equal becomes a
//! wider query, and ken looks at what it finds.

use ken_core::{Bound, Pattern};
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde_json::{Value, json};

use crate::layout::{FIRST, NO_BORDER, term};

/// The longest expression that OpenSearch takes by default (`index.max_regex_length`).
const MAX_REGEX: usize = 1_000;
/// The most terms of one query (`index.max_terms_count`).
const MAX_TERMS: usize = 65_000;

/// A query, and whether it finds exactly what was asked for. If not, it finds more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) json: Value,
    pub(crate) is_exact: bool,
}

impl Query {
    pub(crate) fn exact(json: Value) -> Self {
        Self {
            json,
            is_exact: true,
        }
    }

    pub(crate) fn wider(json: Value) -> Self {
        Self {
            json,
            is_exact: false,
        }
    }

    pub(crate) fn all() -> Self {
        Self::exact(json!({ "match_all": {} }))
    }

    pub(crate) fn nothing() -> Self {
        Self::exact(json!({ "match_none": {} }))
    }
}

/// Returns the query for the terms that a pattern means, in a field of OpenSearch. `any` finds what has the field at all.
pub(crate) fn query(at: &str, pattern: &Pattern, any: &Value) -> Query {
    match pattern {
        Pattern::Term(text) | Pattern::Stem(text) => {
            Query::exact(json!({ "term": { at: { "value": term(text) } } }))
        }
        Pattern::Border => Query::exact(json!({ "term": { at: { "value": term("\0") } } })),
        Pattern::Any(terms) if terms.len() <= MAX_TERMS => {
            let terms: Vec<String> = terms.iter().map(|text| term(text)).collect();
            Query::exact(json!({ "terms": { at: terms } }))
        }
        Pattern::Prefix(prefix) if prefix.is_empty() => Query::exact(any.clone()),
        Pattern::Prefix(prefix) => {
            Query::exact(json!({ "prefix": { at: { "value": term(prefix) } } }))
        }
        Pattern::Range(from, to) => Query::exact(range(at, from, to)),
        Pattern::Fuzzy(text, distance) => Query::exact(json!({ "fuzzy": { at: {
            "value": term(text),
            "fuzziness": distance,
            "prefix_length": 0,
            "transpositions": true,
            // Every term counts, and none of them alone.
            "rewrite": "constant_score",
        } } })),
        Pattern::Glob(glob) => expression(at, &glob.to_regex(), any),
        Pattern::Regex(regex) => expression(at, regex, any),
        Pattern::Written(written) => Query {
            is_exact: false,
            ..query(at, &written.terms, any)
        },
        Pattern::Any(_)
        | Pattern::Name(_)
        | Pattern::Address(_)
        | Pattern::Whole(_)
        | Pattern::Folder(_) => Query::wider(any.clone()),
    }
}

fn range(at: &str, from: &Bound<String>, to: &Bound<String>) -> Value {
    let mut ends = serde_json::Map::new();
    let from = match from {
        Bound::Included(from) | Bound::Excluded(from) => term(from),
        Bound::Unbounded => String::new(),
    };
    ends.insert("gte".to_owned(), json!(from.max(FIRST.to_owned())));
    // The end includes all terms that start with it.
    if let Bound::Included(to) | Bound::Excluded(to) = to
        && let Some(end) = successor(&term(to))
    {
        ends.insert("lt".to_owned(), json!(end));
    }
    json!({ "range": { at: ends } })
}

/// Returns the first string after all strings that start with `prefix`.
fn successor(prefix: &str) -> Option<String> {
    let mut stem = prefix.to_owned();
    while let Some(last) = stem.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            stem.push(next);
            return Some(stem);
        }
    }
    None
}

fn expression(at: &str, regex: &str, any: &Value) -> Query {
    match lucene(regex).filter(|regex| regex.chars().count() <= MAX_REGEX) {
        Some(regex) => Query::exact(json!({ "regexp": { at: {
            "value": format!("({regex})&{NO_BORDER}"),
            "flags": "INTERSECTION",
            "rewrite": "constant_score",
        } } })),
        None => Query::wider(any.clone()),
    }
}

/// Returns the expression that matches the terms in which `regex` matches; none if Lucene has no such expression.
pub(crate) fn lucene(regex: &str) -> Option<String> {
    let hir = regex_syntax::ParserBuilder::new()
        .utf8(true)
        .build()
        .parse(regex)
        .ok()?;
    let branches = match hir.kind() {
        HirKind::Alternation(parts) => parts.clone(),
        _ => vec![hir],
    };
    let branches = branches.iter().map(branch).collect::<Option<Vec<_>>>()?;
    Some(branches.join("|"))
}

/// Returns one alternative of the whole expression. Only here an end of the term may be asked for.
fn branch(hir: &Hir) -> Option<String> {
    let mut parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => std::slice::from_ref(hir),
    };
    let is = |hir: Option<&Hir>, look| hir.is_some_and(|hir| *hir.kind() == HirKind::Look(look));
    let mut text = String::new();
    if is(parts.first(), Look::Start) {
        parts = &parts[1..];
    } else {
        text.push_str(".*");
    }
    let at_end = is(parts.last(), Look::End);
    if at_end {
        parts = &parts[..parts.len() - 1];
    }
    parts.iter().try_for_each(|part| write(&mut text, part))?;
    if !at_end {
        text.push_str(".*");
    }
    // Lucene takes an empty expression for one that matches nothing.
    match text.is_empty() {
        true => Some("()".to_owned()),
        false => Some(text),
    }
}

fn write(text: &mut String, hir: &Hir) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => text.push_str("()"),
        HirKind::Look(_) => return None,
        HirKind::Literal(literal) => {
            let literal = std::str::from_utf8(&literal.0).ok()?;
            literal.chars().for_each(|c| escape(text, c));
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            if let [all] = ranges
                && all.start() == '\0'
                && all.end() == char::MAX
            {
                text.push('.');
                return Some(());
            }
            if ranges.is_empty() {
                return None;
            }
            let mut parts: Vec<String> = Vec::new();
            let mut class = String::new();
            for range in ranges {
                let (mut start, mut end) = (u32::from(range.start()), u32::from(range.end()));
                // A range cannot begin or end with an escaped character.
                while start <= end && is_special(start) {
                    parts.push(escaped(start));
                    start += 1;
                }
                while start < end && is_special(end) {
                    parts.push(escaped(end));
                    end -= 1;
                }
                if let Some((first, last)) = char::from_u32(start).zip(char::from_u32(end))
                    && start <= end
                {
                    class.extend([first, '-', last]);
                }
            }
            if !class.is_empty() {
                parts.push(format!("[{class}]"));
            }
            text.push_str(&format!("({})", parts.join("|")));
        }
        HirKind::Class(Class::Bytes(_)) => return None,
        HirKind::Capture(capture) => write(text, &capture.sub)?,
        HirKind::Repetition(repetition) => {
            text.push('(');
            write(text, &repetition.sub)?;
            text.push(')');
            match (repetition.min, repetition.max) {
                (0, None) => text.push('*'),
                (1, None) => text.push('+'),
                (0, Some(1)) => text.push('?'),
                (min, None) => text.push_str(&format!("{{{min},}}")),
                (min, Some(max)) => text.push_str(&format!("{{{min},{max}}}")),
            }
        }
        HirKind::Concat(parts) => {
            text.push('(');
            parts.iter().try_for_each(|part| write(text, part))?;
            text.push(')');
        }
        HirKind::Alternation(parts) => {
            text.push('(');
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    text.push('|');
                }
                write(text, part)?;
            }
            text.push(')');
        }
    }
    Some(())
}

/// Returns whether a character has a meaning inside of a class.
fn is_special(c: u32) -> bool {
    char::from_u32(c).is_some_and(|c| "[]\\^-".contains(c))
}

fn escaped(c: u32) -> String {
    let mut text = String::new();
    if let Some(c) = char::from_u32(c) {
        escape(&mut text, c);
    }
    text
}

fn escape(text: &mut String, c: char) {
    if c.is_ascii() && !c.is_ascii_alphanumeric() {
        text.push('\\');
    }
    text.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_those_of_lucene() {
        for (regex, expected) in [
            ("b", Some(".*b.*")),
            ("^a", Some("a.*")),
            ("c$", Some(".*c")),
            ("^(?s:a.*b)$", Some("a(.)*b")),
            ("^a|b", Some("a.*|.*b.*")),
            ("[b-c]\\.", Some(".*([b-c])\\..*")),
            ("^[Z-a]$", Some("([Z-a])")),
            ("^[\\]-^x]$", Some("(\\]|\\^|[x-x])")),
            ("^$", Some("()")),
            ("\\bx", None),
            ("a(^b|c)", None),
        ] {
            assert_eq!(lucene(regex).as_deref(), expected, "{regex}");
        }
    }

    #[test]
    fn a_pattern_without_an_equal_is_a_wider_query() {
        let any = json!({ "exists": { "field": "t_body" } });
        let found = query("t_body", &Pattern::Regex("\\bx".to_owned()), &any);
        assert_eq!(found, Query::wider(any.clone()));
        let found = query("t_body", &Pattern::Prefix("a b".to_owned()), &any);
        assert_eq!(found.json["prefix"]["t_body"]["value"], "a\u{f8ff}20;b");
        assert!(found.is_exact);
    }
}
