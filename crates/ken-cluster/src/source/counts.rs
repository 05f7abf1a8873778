//! The counts of the whole cluster, by which ken ranks the documents that it fetched.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ken_core::{Field, FieldKind, Pattern, Plan, Span, Word};
use ken_engine::Error;
use ken_index::Counts;
use serde_json::{Map, Value, json};

use super::{ClusterSource, buckets, lock};
use crate::http::Method;
use crate::search::check_shards;
use crate::{layout, pattern};

/// The counts of one question.
const AT_ONCE: usize = 1_000;
/// The most counts that a query narrows. It has a clause for each, and OpenSearch takes 1,024 with what is in them.
const FEW: usize = 100;
/// The counts that are remembered.
const MAX_KNOWN: usize = 10_000;
/// The longest query of which the count is remembered: one of many terms has a megabyte.
const MAX_KNOWN_BYTES: usize = 1_000;

/// The counts that the words of a plan need.
#[derive(Default)]
pub(super) struct Global {
    n_documents: u64,
    lengths: HashMap<Field, (u64, u64)>,
    with: HashMap<(Field, String), u64>,
    below: HashMap<String, u64>,
}

impl Counts for Global {
    fn n_documents(&self) -> u64 {
        self.n_documents
    }

    fn lengths(&self, field: Field) -> (u64, u64) {
        self.lengths.get(&field).copied().unwrap_or_default()
    }

    fn documents_with(&self, field: Field, pattern: &Pattern) -> u64 {
        let known = self.with.get(&(field, pattern.to_string()));
        known.copied().unwrap_or(0)
    }

    fn documents_below(&self, term: &str) -> u64 {
        self.below.get(term).copied().unwrap_or(0)
    }
}

impl ClusterSource {
    /// Asks for the counts that the words of an expanded plan need.
    pub(super) fn counts(&self, plan: &Plan) -> Result<Arc<Global>, Error> {
        let mut words = Vec::new();
        words_of(plan, &mut words);
        let mut queries: BTreeMap<(Field, String), Value> = BTreeMap::new();
        let mut below: BTreeMap<String, Value> = BTreeMap::new();
        for word in &words {
            for form in &word.forms {
                if let Span::Match(Pattern::Term(term) | Pattern::Stem(term)) = &form.span
                    && word.folders
                {
                    let query = json!({ "term": { layout::FOLDER: layout::term(term) } });
                    below.insert(term.clone(), query);
                }
                form.span.patterns(&mut |pattern| {
                    for field in fields_of(word) {
                        let at = layout::terms(field);
                        let found = pattern::query(&at, pattern, &has(field));
                        queries.insert((field, pattern.to_string()), found.json);
                    }
                });
            }
        }
        let lengths = match words.is_empty() {
            true => HashMap::new(),
            false => self.lengths()?.clone(),
        };
        Ok(Arc::new(Global {
            n_documents: self.n_documents,
            lengths,
            with: self.counts_of(queries)?.into_iter().collect(),
            below: self.counts_of(below)?.into_iter().collect(),
        }))
    }

    /// Counts the documents of each of some queries.
    pub(super) fn counts_of<K: Ord>(
        &self,
        queries: BTreeMap<K, Value>,
    ) -> Result<Vec<(K, u64)>, Error> {
        let mut counts = Vec::with_capacity(queries.len());
        let mut unknown = Vec::new();
        for (key, query) in queries {
            let known = lock(&self.counted).get(&query.to_string()).copied();
            match known {
                Some(n) => counts.push((key, n)),
                None => unknown.push((key, query)),
            }
        }
        while !unknown.is_empty() {
            let some = unknown.drain(..unknown.len().min(AT_ONCE));
            let (keys, some): (Vec<K>, Vec<Value>) = some.unzip();
            let mut body = json!({
                "size": 0,
                "aggs": { "counts": { "filters": { "filters": some } } },
            });
            // A node would look at every document: 0.2 s of a million.
            if some.len() <= FEW {
                body["query"] = json!({ "bool": { "should": some } });
            }
            let answer = self.search(body)?;
            let found = buckets(&answer["aggregations"]["counts"]).iter();
            let found = found.map(|bucket| bucket["doc_count"].as_u64().unwrap_or(0));
            let mut counted = lock(&self.counted);
            if counted.len() > MAX_KNOWN {
                counted.clear();
            }
            for ((key, query), n) in keys.into_iter().zip(&some).zip(found) {
                let query = query.to_string();
                if query.len() <= MAX_KNOWN_BYTES {
                    counted.insert(query, n);
                }
                counts.push((key, n));
            }
        }
        counts.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(counts)
    }

    /// Returns the sum of the lengths of each ranked field, and the number of documents that have it.
    fn lengths(&self) -> Result<&HashMap<Field, (u64, u64)>, Error> {
        if let Some(known) = self.lengths.get() {
            return Ok(known);
        }
        let mut aggs = Map::new();
        let fields: Vec<Field> = Field::all()
            .filter(|of| of.info().kind == FieldKind::Text)
            .collect();
        for field in &fields {
            let sum = json!({ "sum": { "field": layout::length(*field) } });
            let with = json!({ "filter": has(*field), "aggs": { "terms": sum } });
            aggs.insert(field.name().to_owned(), with);
        }
        let answer = self.sums(&aggs)?;
        let mut lengths = HashMap::new();
        for field in fields {
            let of = &answer["aggregations"][field.name()];
            let n_terms = of["terms"]["value"].as_f64().unwrap_or(0.0) as u64;
            let n_documents = of["doc_count"].as_u64().unwrap_or(0);
            lengths.insert(field, (n_terms, n_documents));
        }
        Ok(self.lengths.get_or_init(|| lengths))
    }

    /// Asks for sums over all documents, which take 0.4 s of a million. A question without a point in time is the same for every
    /// process, so the nodes remember its answer until the next refresh. An average length of some moments later ranks as well.
    fn sums(&self, aggs: &Map<String, Value>) -> Result<Value, Error> {
        let path = format!("/{}/_search?request_cache=true", self.names.documents);
        let query = self.committed(Value::Null);
        let body = json!({ "size": 0, "query": query, "aggs": aggs });
        match self.client.call(Method::Post, &path, &body)? {
            (200, answer) => {
                check_shards(&self.client, &answer)?;
                Ok(answer)
            }
            // Another index is in its place by now.
            _ => self.search(json!({ "size": 0, "aggs": aggs })),
        }
    }
}

/// Returns the query for documents that have a field.
pub(super) fn has(field: Field) -> Value {
    match field.info().kind {
        // Every value has a border.
        FieldKind::Text => json!({ "term": { layout::terms(field): layout::term("\0") } }),
        _ => json!({ "exists": { "field": layout::terms(field) } }),
    }
}

/// Returns the fields that a word is searched for in.
pub(super) fn fields_of(word: &Word) -> impl Iterator<Item = Field> {
    let text = Field::all().filter(|field| field.info().kind == FieldKind::Text);
    text.filter(|field| word.looks_in(*field))
}

/// Collects the words of a plan.
pub(super) fn words_of<'p>(plan: &'p Plan, words: &mut Vec<&'p Word>) {
    match plan {
        Plan::Word(word) => words.push(word),
        _ => plan
            .parts()
            .into_iter()
            .for_each(|part| words_of(part, words)),
    }
}
