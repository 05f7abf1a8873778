//! The words of the cluster: which terms there are, for the forms of words and for patterns.

use std::cell::RefCell;
use std::collections::BTreeMap;

use ken_core::{Field, Pattern, Plan};
use ken_engine::{Error, Limits};
use ken_index::Lexicon;
use serde_json::{Value, json};

use super::{ClusterSource, buckets, filter};
use crate::layout;
use crate::pattern;
use crate::search::hits;

/// The terms of a page.
const PAGE: usize = 10_000;
/// The most values of an aggregation that is not paged.
const MAX_LANGUAGES: usize = 500;

/// The field of a word in the index of words.
const FIELD: &str = "field";
/// The term of a word in the index of words.
const TERM: &str = "term";

impl ClusterSource {
    /// Returns a plan with the forms that the cluster has of each word.
    pub(super) fn with_forms(&self, plan: &Plan, limits: Option<&Limits>) -> Result<Plan, Error> {
        let asking = Asking {
            source: self,
            limits,
            failed: RefCell::new(None),
        };
        let languages = self.reading.stemming.as_deref();
        let expanded = ken_index::expand(plan, &asking, &self.reading.ranking, languages, limits);
        match asking.failed.into_inner() {
            Some(error) => Err(error),
            None => expanded.map_err(Error::Query),
        }
    }

    /// Gives the terms of some fields that a query of the index of words finds to `each`, each with its field, in the order
    /// of the terms, until it returns false.
    pub(super) fn each_word(
        &self,
        fields: &[Field],
        query: &Value,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(Field, &str) -> bool,
    ) -> Result<(), Error> {
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let query = filter(&[json!({ "terms": { FIELD: names } }), query.clone()]);
        let mut after = Value::Null;
        loop {
            if limits.is_some_and(Limits::reached) {
                return Ok(());
            }
            let mut body = json!({
                "query": query,
                "size": PAGE,
                "sort": [{ TERM: "asc" }, { FIELD: "asc" }],
                "track_total_hits": false,
            });
            if !after.is_null() {
                body["search_after"] = after;
            }
            let answer = self.search_words(&body)?;
            let page = hits(&answer);
            for hit in page {
                let name = hit["_source"][FIELD].as_str().unwrap_or_default();
                let term = hit["_source"][TERM].as_str().unwrap_or_default();
                let field = fields.iter().find(|field| field.name() == name);
                if field.is_some_and(|field| !each(*field, term)) {
                    return Ok(());
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = last["sort"].clone(),
                _ => return Ok(()),
            }
        }
    }

    /// Returns the terms of a field that a pattern means; none if they are more than `most`, or the terms do not show it.
    pub(super) fn terms_meant(
        &self,
        field: Field,
        pattern: &Pattern,
        most: usize,
    ) -> Result<Option<Vec<String>>, Error> {
        let all = json!({ "match_all": {} });
        let query = words_query(pattern, &all);
        if !query.is_exact {
            return Ok(None);
        }
        let mut terms = Vec::new();
        self.each_word(&[field], &query.json, None, &mut |_, term| {
            terms.push(term.to_owned());
            terms.len() <= most
        })?;
        Ok((terms.len() <= most).then_some(terms))
    }

    /// Returns a number of documents for each value of a keyword field of documents that match a query.
    fn by_value(&self, field: Field, query: &Value) -> Result<BTreeMap<String, u64>, Error> {
        let at = layout::terms(field);
        let answer = self.search(json!({
            "query": query,
            "size": 0,
            "aggs": { "values": { "terms": { "field": at, "size": MAX_LANGUAGES } } },
        }))?;
        let found = buckets(&answer["aggregations"]["values"]).iter();
        let found = found.map(|of| {
            let value = of["key"].as_str().unwrap_or_default().to_owned();
            (value, of["doc_count"].as_u64().unwrap_or(0))
        });
        Ok(found.collect())
    }
}

/// Returns the query of the index of words for the terms that a pattern means. The terms there are as they are.
pub(super) fn words_query(pattern: &Pattern, all: &Value) -> pattern::Query {
    pattern::query(TERM, pattern, all)
}

/// Answers the questions of the stemmer.
struct Asking<'s> {
    source: &'s ClusterSource,
    limits: Option<&'s Limits>,
    failed: RefCell<Option<Error>>,
}

impl Asking<'_> {
    fn or_empty<T: Default>(&self, answer: Result<T, Error>) -> T {
        answer.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            T::default()
        })
    }
}

impl Lexicon for Asking<'_> {
    fn languages_with(&self, term: &str) -> BTreeMap<String, u32> {
        let at = layout::terms(Field::Body);
        let query = json!({ "term": { at: layout::term(term) } });
        // A document in `en-GB` has that value and `en`: the first of its values is its language.
        let answer = self.source.search(json!({
            "query": filter(&[query]),
            "size": 0,
            "aggs": { "values": { "terms": { "field": layout::first(Field::Lang), "size": MAX_LANGUAGES } } },
        }));
        let answer = self.or_empty(answer);
        let found = buckets(&answer["aggregations"]["values"]).iter();
        let found = found.map(|of| {
            let n = of["doc_count"].as_u64().unwrap_or(0);
            let n = u32::try_from(n).unwrap_or(u32::MAX / 1_000);
            (of["key"].as_str().unwrap_or_default().to_owned(), n)
        });
        found.collect()
    }

    fn languages(&self) -> (BTreeMap<String, u64>, u64) {
        let all = json!({ "match_all": {} });
        let found = self.or_empty(self.source.by_value(Field::Lang, &all));
        (found, self.source.n_documents)
    }

    fn each_term(&self, fields: &[Field], folders: bool, prefix: &str, each: &mut dyn FnMut(&str)) {
        let mut fields = fields.to_vec();
        if folders {
            fields.push(Field::Dir);
        }
        let query = json!({ "prefix": { TERM: { "value": prefix } } });
        let mut last = String::new();
        let asked = self
            .source
            .each_word(&fields, &query, self.limits, &mut |_, term| {
                if term != last {
                    term.clone_into(&mut last);
                    each(term);
                }
                true
            });
        self.or_empty(asked);
    }
}
