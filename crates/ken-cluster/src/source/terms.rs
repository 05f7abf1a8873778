//! The dictionary of a cluster: the index of words, and counts of the documents that have them.
//!
//! A word stays in the index of words when the last document with it is deleted. It is left out here, as it counts nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use ken_core::{Field, FieldKind, Pattern};
use ken_engine::{Error, Limits, Similar, TermCount, TermList, Terms};
use serde_json::{Value, json};

use super::ClusterSource;
use super::lexicon::words_query;
use crate::layout;

/// The shortest word for suggestions, and the shortest for suggestions with two mistakes; see `ken-index`.
const MIN_LENGTH: usize = 3;
const MIN_LENGTH_FOR_TWO: usize = 6;

impl ClusterSource {
    /// Returns the terms that a pattern means, each with its field.
    fn words_with(
        &self,
        fields: &[Field],
        pattern: &Pattern,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(Field, &str) -> bool,
    ) -> Result<(), Error> {
        if let Pattern::Regex(regex) = pattern {
            let wrong = |error| Error::Query(format!("{regex:?}: {error}"));
            ken_core::expression::compile(regex).map_err(wrong)?;
        }
        let all = json!({ "match_all": {} });
        let query = words_query(pattern, &all);
        let is_exact = query.is_exact;
        // What the cluster cannot decide, the expression does.
        let expression = match pattern {
            Pattern::Regex(regex) if !is_exact => Some(regex.clone()),
            Pattern::Glob(glob) if !is_exact => Some(glob.to_regex()),
            Pattern::Name(glob) if !is_exact => Some(glob.to_plain_regex()),
            _ if is_exact => None,
            pattern => {
                return Err(Error::Query(format!(
                    "a cluster does not list the terms of {pattern}"
                )));
            }
        };
        let matcher = match &expression {
            Some(regex) => Some(
                regex_automata::meta::Regex::new(regex)
                    .map_err(|error| Error::Query(format!("{regex:?}: {error}")))?,
            ),
            None => None,
        };
        self.each_word(
            fields,
            &query.json,
            limits,
            &mut |field, term| match matcher.as_ref().is_none_or(|regex| regex.is_match(term)) {
                true => each(field, term),
                false => true,
            },
        )
    }

    /// Counts the documents of each of some words.
    fn documents_of_words(&self, words: &[(Field, String)]) -> Result<Vec<u64>, Error> {
        let query = |(field, term): &(Field, String)| term_query(*field, term);
        let queries: BTreeMap<usize, Value> = words.iter().map(query).enumerate().collect();
        let counts = self.counts_of(queries)?.into_iter();
        Ok(counts.map(|(_, n)| n).collect())
    }

    /// Counts the documents with a term in any of some fields, and its occurrences in all of them.
    fn count_term(&self, fields: &[Field], term: &str) -> Result<(u64, u64), Error> {
        let any: Vec<Value> = fields
            .iter()
            .map(|field| term_query(*field, term))
            .collect();
        let documents = self.count(&json!({ "bool": { "should": any } }))?;
        Ok((documents, self.occurrences(fields, term)?))
    }

    /// Counts the occurrences of a term. Of a keyword each document has one.
    fn occurrences(&self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut sum = 0;
        for field in fields {
            let at = layout::terms(*field);
            let query = term_query(*field, term);
            sum += match field.info().kind {
                FieldKind::Keyword => self.count(&query)?,
                // A script that sums what each document has.
                _ => {
                    let source = "_score";
                    let answer = self.search(json!({
                        "size": 0,
                        "query": { "script_score": {
                            "query": { "constant_score": { "filter": query } },
                            "script": {
                                "source": "termFreq(params.field, params.term)",
                                "params": { "field": at, "term": layout::term(term) },
                            },
                        } },
                        "aggs": { "sum": { "sum": { "script": { "source": source } } } },
                    }))?;
                    answer["aggregations"]["sum"]["value"]
                        .as_f64()
                        .unwrap_or(0.0) as u64
                }
            };
        }
        Ok(sum)
    }
}

fn term_query(field: Field, term: &str) -> Value {
    let at = layout::terms(field);
    json!({ "term": { &at: layout::term_in(&at, term) } })
}

fn has_terms(field: Field) -> bool {
    !field.is_number()
}

impl Terms for ClusterSource {
    fn frequent(
        &self,
        field: Field,
        pattern: &Pattern,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<(Vec<(String, u64)>, usize), Error> {
        let limits = limits.map(|limits| &**limits);
        let mut words = Vec::new();
        self.words_with(&[field], pattern, limits, &mut |field, term| {
            words.push((field, term.to_owned()));
            true
        })?;
        let counts = self.documents_of_words(&words)?;
        let words = words.into_iter().map(|(_, term)| term).zip(counts);
        let mut found: Vec<(String, u64)> = words.filter(|(_, n)| *n > 0).collect();
        let n_found = found.len();
        found.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        found.truncate(limit);
        Ok((found, n_found))
    }

    fn list(
        &self,
        list: &TermList<'_>,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let limits = list.limits.map(|limits| &**limits);
        let fields: Vec<Field> = list
            .fields
            .iter()
            .copied()
            .filter(|of| has_terms(*of))
            .collect();
        let mut of_term: Option<(String, Vec<Field>)> = None;
        let mut failed = None;
        let mut give = |(term, fields): &(String, Vec<Field>)| {
            if limits.is_some_and(Limits::reached) {
                return false;
            }
            match self.give(list.by_field, fields, term, each) {
                Ok(flow) => flow.is_continue(),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        };
        let mut goes_on = true;
        self.words_with(&fields, list.pattern, limits, &mut |field, term| {
            match &mut of_term {
                Some((same, fields)) if same == term => fields.push(field),
                _ => {
                    let new = Some((term.to_owned(), vec![field]));
                    if let Some(before) = std::mem::replace(&mut of_term, new) {
                        goes_on = give(&before);
                    }
                }
            }
            goes_on
        })?;
        if let Some(last) = of_term.filter(|_| goes_on) {
            give(&last);
        }
        failed.map_or(Ok(()), Err)
    }

    fn similar(
        &self,
        fields: &[Field],
        word: &str,
        limit: usize,
        limits: Option<&Arc<Limits>>,
    ) -> Result<Vec<Similar>, Error> {
        let limits = limits.map(|limits| &**limits);
        let length = word.chars().count();
        if length < MIN_LENGTH || word.chars().any(|c| !c.is_alphabetic()) {
            return Ok(Vec::new());
        }
        let first = word.chars().next();
        for distance in 1..=2_u8 {
            if distance == 2 && length < MIN_LENGTH_FOR_TWO {
                break;
            }
            let mut words = Vec::new();
            let pattern = Pattern::Fuzzy(word.to_owned(), distance);
            self.words_with(fields, &pattern, limits, &mut |field, term| {
                let is_near = distance == 1 || term.chars().next() == first;
                if term != word && is_near {
                    words.push((field, term.to_owned()));
                }
                true
            })?;
            let mut most: BTreeMap<String, u64> = BTreeMap::new();
            for (at, n) in self.documents_of_words(&words)?.into_iter().enumerate() {
                let known = most.entry(words[at].1.clone()).or_default();
                *known = n.max(*known);
            }
            most.retain(|_, n| *n > 0);
            if !most.is_empty() {
                return Ok(best(most, distance, limit));
            }
        }
        Ok(Vec::new())
    }

    fn n_documents_with(&self, field: Field, term: &str) -> Result<u64, Error> {
        self.count(&term_query(field, term))
    }
}

impl ClusterSource {
    fn give(
        &self,
        by_field: bool,
        fields: &[Field],
        term: &str,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let groups: Vec<(Option<Field>, &[Field])> = match by_field {
            true => fields
                .chunks(1)
                .map(|field| (field.first().copied(), field))
                .collect(),
            false => vec![(None, fields)],
        };
        for (field, of) in groups {
            let (documents, occurrences) = self.count_term(of, term)?;
            if documents == 0 {
                continue;
            }
            let count = TermCount {
                field,
                term,
                documents,
                occurrences,
            };
            if each(count).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn best(found: BTreeMap<String, u64>, distance: u8, limit: usize) -> Vec<Similar> {
    let found = found.into_iter();
    let mut all: Vec<Similar> = found
        .map(|(term, documents)| Similar {
            term,
            distance,
            documents,
        })
        .collect();
    all.sort_by(|a, b| {
        b.documents
            .cmp(&a.documents)
            .then_with(|| a.term.cmp(&b.term))
    });
    all.truncate(limit);
    all
}
