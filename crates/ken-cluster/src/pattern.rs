//! Patterns of terms as queries of OpenSearch, and regular expressions in the syntax of Lucene.
//!
//! Lucene's expressions match whole terms and know neither look-around nor classes by name
//! (<https://lucene.apache.org/core/10_0_0/core/org/apache/lucene/util/automaton/RegExp.html>). They are made from the
//! syntax tree of the crate `regex`, so classes are those of Unicode that ken's own engine uses. What has no equal becomes a
//! wider query, and ken looks at what it finds.

use ken_core::{Bound, Pattern};
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde_json::{Value, json};

use crate::layout::{ESCAPE, FIRST, MAX_REGEX, NO_BORDER, has_escapes, is_escaped, term, term_in};

/// The most repeated letters that may differ, such as the dots of `[ab].{12}`: an automaton may need two to this power
/// states, and Lucene refuses an expression that needs more than 10,000.
const MAX_CHOICES: usize = 12;

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
            Query::exact(json!({ "term": { at: { "value": term_in(at, text) } } }))
        }
        Pattern::Border => Query::exact(json!({ "term": { at: { "value": term("\0") } } })),
        Pattern::Any(terms) if terms.len() <= MAX_TERMS => {
            let terms: Vec<String> = terms.iter().map(|text| term_in(at, text)).collect();
            Query::exact(json!({ "terms": { at: terms } }))
        }
        Pattern::Prefix(prefix) if prefix.is_empty() => Query::exact(any.clone()),
        Pattern::Prefix(prefix) => {
            Query::exact(json!({ "prefix": { at: { "value": term_in(at, prefix) } } }))
        }
        Pattern::Range(from, to) => Query::exact(range(at, from, to)),
        Pattern::Fuzzy(text, distance) => Query::exact(json!({ "fuzzy": { at: {
            "value": term_in(at, text),
            "fuzziness": distance,
            "prefix_length": 0,
            "transpositions": true,
            // Every term counts, and none of them alone.
            "rewrite": "constant_score",
        } } })),
        Pattern::Glob(glob) => expression(at, &glob.to_regex(), any),
        Pattern::Name(glob) => expression(at, &glob.to_plain_regex(), any),
        Pattern::Regex(regex) => expression(at, regex, any),
        Pattern::Written(written) => Query {
            is_exact: false,
            ..query(at, &written.terms, any)
        },
        Pattern::Any(_) | Pattern::Address(_) | Pattern::Whole(_) | Pattern::Folder(_) => {
            Query::wider(any.clone())
        }
    }
}

fn range(at: &str, from: &Bound<String>, to: &Bound<String>) -> Value {
    let mut ends = serde_json::Map::new();
    let from = match from {
        Bound::Included(from) | Bound::Excluded(from) => term_in(at, from),
        Bound::Unbounded => String::new(),
    };
    ends.insert("gte".to_owned(), json!(from.max(FIRST.to_owned())));
    // The end includes all terms that start with it.
    if let Bound::Included(to) | Bound::Excluded(to) = to
        && let Some(end) = successor(&term_in(at, to))
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
    let found = lucene(regex, has_escapes(at));
    match found.filter(|regex| regex.chars().count() <= MAX_REGEX / 2) {
        Some(regex) => Query::exact(json!({ "regexp": { at: {
            "value": format!("({regex})&{NO_BORDER}"),
            "flags": "INTERSECTION",
            "rewrite": "constant_score",
        } } })),
        None => Query::wider(any.clone()),
    }
}

/// Returns the expression that matches the terms in which `regex` matches; none if Lucene has no such expression.
/// `has_escapes` says whether the terms may have escaped characters.
pub(crate) fn lucene(regex: &str, has_escapes: bool) -> Option<String> {
    let hir = regex_syntax::ParserBuilder::new()
        .utf8(true)
        .build()
        .parse(regex)
        .ok()?;
    written(&hir, &Terms { has_escapes })
}

/// How the letters of an expression are written.
pub(crate) trait Letters {
    /// What matches any text.
    const ANY_TEXT: &str;

    /// Writes what matches a text.
    fn literal(&self, text: &mut String, literal: &[u8]) -> Option<()>;

    /// Writes what matches one letter of a class.
    fn class(&self, text: &mut String, class: &Class) -> Option<()>;

    /// Returns whether a class, as often as one likes, is any text.
    fn is_any(&self, class: &Class) -> bool;
}

/// Returns an expression in the syntax of Lucene; none if it has no such form, or if Lucene might refuse it.
pub(crate) fn written<L: Letters>(hir: &Hir, letters: &L) -> Option<String> {
    if repeated_choices(hir, 1) > MAX_CHOICES {
        return None;
    }
    let branches = match hir.kind() {
        HirKind::Alternation(parts) => parts.as_slice(),
        _ => std::slice::from_ref(hir),
    };
    let branches = branches.iter().map(|part| branch(part, letters));
    Some(branches.collect::<Option<Vec<_>>>()?.join("|"))
}

/// Returns how many letters that may differ are repeated a number of times, each counted as often.
fn repeated_choices(hir: &Hir, times: usize) -> usize {
    match hir.kind() {
        HirKind::Class(_) if times > 1 => times,
        HirKind::Class(_) | HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => 0,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min).max(1) as usize;
            repeated_choices(&repetition.sub, times.saturating_mul(most))
        }
        HirKind::Capture(capture) => repeated_choices(&capture.sub, times),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .map(|part| repeated_choices(part, times))
            .fold(0, usize::saturating_add),
    }
}

/// Returns one alternative of the whole expression. Only here an end of the term may be asked for.
fn branch<L: Letters>(hir: &Hir, letters: &L) -> Option<String> {
    let mut parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => std::slice::from_ref(hir),
    };
    let is = |hir: Option<&Hir>, look| hir.is_some_and(|hir| *hir.kind() == HirKind::Look(look));
    let mut text = String::new();
    if is(parts.first(), Look::Start) {
        parts = &parts[1..];
    } else {
        text.push_str(L::ANY_TEXT);
    }
    let at_end = is(parts.last(), Look::End);
    if at_end {
        parts = &parts[..parts.len() - 1];
    }
    parts
        .iter()
        .try_for_each(|part| write(&mut text, part, letters))?;
    if !at_end {
        text.push_str(L::ANY_TEXT);
    }
    // Lucene takes an empty expression for one that matches nothing.
    match text.is_empty() {
        true => Some("()".to_owned()),
        false => Some(text),
    }
}

fn write<L: Letters>(text: &mut String, hir: &Hir, letters: &L) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => text.push_str("()"),
        HirKind::Look(_) => return None,
        HirKind::Literal(literal) => letters.literal(text, &literal.0)?,
        HirKind::Class(class) => letters.class(text, class)?,
        HirKind::Capture(capture) => write(text, &capture.sub, letters)?,
        HirKind::Repetition(repetition) => {
            if let HirKind::Class(class) = repetition.sub.kind()
                && (repetition.min, repetition.max) == (0, None)
                && letters.is_any(class)
            {
                text.push_str(L::ANY_TEXT);
                return Some(());
            }
            text.push('(');
            write(text, &repetition.sub, letters)?;
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
            parts
                .iter()
                .try_for_each(|part| write(text, part, letters))?;
            text.push(')');
        }
        HirKind::Alternation(parts) => {
            text.push('(');
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    text.push('|');
                }
                write(text, part, letters)?;
            }
            text.push(')');
        }
    }
    Some(())
}

/// The letters of terms are characters.
struct Terms {
    has_escapes: bool,
}

impl Letters for Terms {
    const ANY_TEXT: &str = ".*";

    fn literal(&self, text: &mut String, literal: &[u8]) -> Option<()> {
        for c in std::str::from_utf8(literal).ok()?.chars() {
            match self.has_escapes && is_escaped(c) {
                true => term(&c.to_string()).chars().for_each(|c| escape(text, c)),
                false => escape(text, c),
            }
        }
        Some(())
    }

    fn class(&self, text: &mut String, class: &Class) -> Option<()> {
        let Class::Unicode(of) = class else {
            return None;
        };
        let ranges = of.ranges();
        if ranges.is_empty() {
            return None;
        }
        let mut parts: Vec<String> = Vec::new();
        if self.has_escapes {
            parts.extend(escapes_in(of)?);
        }
        if self.is_any(class) {
            match parts.pop() {
                Some(escape) => text.push_str(&format!("({escape}|[^{ESCAPE}])")),
                None => text.push('.'),
            }
            return Some(());
        }
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
            let escape = u32::from(ESCAPE);
            let pieces = match self.has_escapes && (start..=end).contains(&escape) {
                true => [(start, escape - 1), (escape + 1, end)],
                false => [(start, end), (1, 0)],
            };
            for (start, end) in pieces.into_iter().filter(|(start, end)| start <= end) {
                class.extend(char::from_u32(start));
                class.push('-');
                class.extend(char::from_u32(end));
            }
        }
        if !class.is_empty() {
            parts.push(format!("[{class}]"));
        }
        text.push_str(&format!("({})", parts.join("|")));
        Some(())
    }

    fn is_any(&self, class: &Class) -> bool {
        let Class::Unicode(class) = class else {
            return false;
        };
        matches!(class.ranges(), [all] if all.start() == '\0' && all.end() == char::MAX)
    }
}

/// Returns what matches the escaped characters of a class; none if that is too long.
fn escapes_in(class: &regex_syntax::hir::ClassUnicode) -> Option<Vec<String>> {
    let is_in = |c: char| {
        let mut ranges = class.ranges().iter();
        ranges.any(|range| (range.start()..=range.end()).contains(&c))
    };
    let (inside, outside): (Vec<char>, Vec<char>) = ('\0'..'\u{fffd}')
        .filter(|c| is_escaped(*c))
        .partition(|c| is_in(*c));
    match (inside.len(), outside.as_slice()) {
        (0, _) => Some(Vec::new()),
        // What a dot means does not include the end of a line, which no name of a folder has.
        (_, [] | ['\n']) => Some(vec![format!("{ESCAPE}[0-9a-f]+;")]),
        (n, _) if n <= 32 => Some(
            inside
                .into_iter()
                .map(|c| {
                    let mut one = String::new();
                    term(&c.to_string())
                        .chars()
                        .for_each(|c| escape(&mut one, c));
                    one
                })
                .collect(),
        ),
        _ => None,
    }
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
            ("^(?s:a.*b)$", Some("a.*b")),
            ("^a|b", Some("a.*|.*b.*")),
            ("[b-c]\\.", Some(".*([b-c])\\..*")),
            ("^[Z-a]$", Some("([Z-a])")),
            ("^[\\]-^x]$", Some("(\\]|\\^|[x-x])")),
            ("^$", Some("()")),
            ("\\bx", None),
            ("a(^b|c)", None),
            ("^[0-9]{2}x$", Some("(([0-9])){2,2}x")),
            ("[ab].{50}c", None),
            ("((?:[ab].){3}){9}", None),
        ] {
            assert_eq!(lucene(regex, false).as_deref(), expected, "{regex}");
        }
    }

    #[test]
    fn names_of_folders_may_have_spaces() {
        let of = |regex| lucene(regex, true).unwrap();
        assert_eq!(of("^a b$"), "a\u{f8ff}20\\;b");
        assert_eq!(of("^(?s:.)$"), "(\u{f8ff}[0-9a-f]+;|[^\u{f8ff}])");
        assert_eq!(of("^(?s:a.*)$"), "a.*");
        assert_eq!(of("^[ a]$"), "(\u{f8ff}20\\;|[ - a-a])");
        assert_eq!(lucene("^\\S$", true), None);
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
