//! `path:`: documents whose whole path matches a pattern.
//!
//! Every segment has a sorted dictionary of its locations, each with its document. The pattern is
//! matched with the dictionary, skipping ranges that begin differently. Indexing paths as terms
//! would take as much space again.

use std::sync::Arc;

use ken_core::expression::Expression;
use ken_core::{Glob, GlobPart, Pattern};
use tantivy::index::SegmentReader;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, TantivyError};
use tantivy_common::BitSet;

use crate::dictionary::{RegexAutomaton, compile};
use crate::limits::{Limits, Pace};
use crate::schema::LOCATION;

/// Documents whose whole location the pattern matches; for a regular expression, any part of it.
#[derive(Clone, Debug)]
pub(super) struct PathQuery {
    pub(super) pattern: Pattern,
    /// Limits that may end the search early.
    pub(super) limits: Option<Arc<Limits>>,
}

impl Query for PathQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let regex = location_expression(&self.pattern).ok_or_else(|| {
            let message = "a path has no other forms, no ranges, and cannot be fuzzy".to_owned();
            TantivyError::InvalidArgument(message)
        })?;
        Ok(Box::new(PathWeight {
            expression: Arc::new(compile(&regex)?),
            limits: self.limits.clone(),
        }))
    }
}

/// Returns the expression over the bytes of a location ([`ken_core::Location::to_bytes`]) that a pattern of paths means; none
/// if paths have no such patterns.
pub fn location_expression(pattern: &Pattern) -> Option<String> {
    match pattern {
        Pattern::Term(text) => Some(of_glob(&Glob(vec![GlobPart::Literal(text.clone())]))),
        Pattern::Prefix(text) => Some(of_glob(&Glob(vec![
            GlobPart::Literal(text.clone()),
            GlobPart::Many,
        ]))),
        Pattern::Glob(glob) => Some(of_glob(glob)),
        Pattern::Name(glob) => Some(glob.to_plain_regex()),
        Pattern::Regex(regex) => Some(regex.clone()),
        Pattern::Fuzzy(..)
        | Pattern::Range(..)
        | Pattern::Stem(_)
        | Pattern::Any(_)
        | Pattern::Written(_)
        | Pattern::Border
        | Pattern::Address(_)
        | Pattern::Whole(_)
        | Pattern::Folder(_) => None,
    }
}

/// Returns the expression over the bytes of a location, in which a NUL separates path and member
/// path; people see a bar instead.
fn of_glob(glob: &Glob) -> String {
    let mut regex = String::from("(?s-u)^");
    for part in &glob.0 {
        match part {
            GlobPart::Literal(text) => unescaped(text, &mut regex),
            GlobPart::Many => regex.push_str(".*"),
            GlobPart::One => regex.push_str("(?u:.)"),
            GlobPart::Class { .. } => {
                let whole = Glob(vec![part.clone()]).to_regex();
                let class = whole.trim_start_matches("^(?s:").trim_end_matches(")$");
                regex.push_str(&format!("(?u:{class})"));
            }
        }
    }
    regex.push('$');
    regex
}

/// Adds text as bytes; `\xNN` is a byte that is not UTF-8.
fn unescaped(text: &str, regex: &mut String) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let byte = rest.strip_prefix("\\x").and_then(|rest| rest.get(..2));
        if let Some(byte) = byte.filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())) {
            regex.push_str(&format!("\\x{byte}"));
            rest = &rest[4..];
            continue;
        }
        let (one, after) = rest.split_at(character.len_utf8());
        match character {
            '|' => regex.push_str("[|\\x00]"),
            _ => one
                .bytes()
                .for_each(|byte| regex.push_str(&format!("\\x{byte:02x}"))),
        }
        rest = after;
    }
}

/// Returns the documents with one of these locations in the segment's dictionary, in order.
pub(super) fn documents_at(
    segment: &SegmentReader,
    ordinals: &[u64],
    boost: Score,
) -> tantivy::Result<Box<dyn Scorer>> {
    let mut found = BitSet::with_max_value(segment.max_doc());
    let column = segment.fast_fields().bytes(LOCATION)?;
    if let Some(column) = column.filter(|_| !ordinals.is_empty()) {
        for doc in 0..segment.max_doc() {
            let ordinal = column.term_ords(doc).next();
            if ordinal.is_some_and(|ordinal| ordinals.binary_search(&ordinal).is_ok()) {
                found.insert(doc);
            }
        }
    }
    Ok(Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)))
}

struct PathWeight {
    expression: Arc<Expression>,
    limits: Option<Arc<Limits>>,
}

impl Weight for PathWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut ordinals = Vec::new();
        if let Some(column) = segment.fast_fields().bytes(LOCATION)? {
            let automaton = RegexAutomaton::of_locations(&self.expression);
            let mut stream = column.dictionary().search(automaton).into_stream()?;
            let mut pace = Pace::default();
            while !pace.step(self.limits.as_deref()) && stream.advance() {
                ordinals.push(stream.term_ord());
            }
        }
        documents_at(segment, &ordinals, boost)
    }

    fn explain(&self, segment: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.scorer(segment, 1.0)?;
        if scorer.seek(doc) == doc {
            Ok(Explanation::new("the path", 1.0))
        } else {
            Err(TantivyError::InvalidArgument("another path".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_bytes() {
        let literal = |text: &str| GlobPart::Literal(text.to_owned());
        let glob = Glob(vec![
            GlobPart::Many,
            literal("/é\\xff|"),
            GlobPart::One,
            literal("."),
        ]);
        let regex = of_glob(&glob);
        assert_eq!(regex, r"(?s-u)^.*\x2f\xc3\xa9\xff[|\x00](?u:.)\x2e$");
        compile(&regex).unwrap();
    }
}
