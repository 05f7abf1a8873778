//! Answers of a request: which documents, in which order, how many.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ken_core::{Field, Order, Pattern, Plan, SortKey, Value as FieldValue, Word};
use ken_engine::{Boosts, Collapse, DocAddress, Error, FacetBy, Hit, Limits, Request, Response};
use serde_json::{Value, json};

use super::counts::Global;
use super::local::Local;
use super::query::{Translated, Translator, scored};
use super::texts::{self, n_words_field};
use super::window::{Page, SMALL, WINDOW_WORDS, window_exception};
use super::{ClusterSource, buckets, by_location, filter, id, ids_query, lock, text};
use crate::layout;
use ken_index::Counts;

/// The most documents that ken looks at, one by one, for what OpenSearch cannot decide.
const MAX_CHECKED: u64 = 10_000;
/// The most words that the texts of these documents have: some 2 GB.
const MAX_CHECKED_WORDS: u64 = 300_000_000;
/// The most hits whose texts are fetched before anybody asks for them.
const MAX_PREFETCHED: usize = 20;
/// Other documents that are asked for with a page, as some hits may belong together.
const SPARE: usize = 50;
/// The most values of a facet.
const MAX_VALUES: usize = 10_000;

/// A request, translated.
struct Asked {
    plan: Plan,
    local: Plan,
    relations: Vec<Value>,
    /// The query with the documents that are asked for or left out.
    query: Value,
    is_exact: bool,
    size: Size,
}

/// How much a query finds.
#[derive(Clone, Copy, Default)]
struct Size {
    n_found: u64,
    /// The words of all their texts.
    n_words: u64,
    /// The number of groups, if that was asked.
    groups: u64,
}

impl Size {
    /// Returns whether ken looks at all that was found. The answer is then that of the embedded engine in all respects.
    fn is_small(self) -> bool {
        self.n_found <= SMALL && self.n_words <= WINDOW_WORDS
    }
}

fn reached(limits: Option<&Arc<Limits>>) -> bool {
    limits.is_some_and(|limits| limits.reached())
}

fn nothing_yet() -> Response {
    Response {
        total: 0,
        groups: 0,
        hits: Vec::new(),
        complete: false,
    }
}

/// Returns whether OpenSearch cannot answer a request alone: ken ranks, and only ken knows near copies.
fn ranks(request: &Request<'_>) -> bool {
    let ranks = request.order == Order::default() && request.limit > 0;
    ranks || request.collapse == Some(Collapse::Similar)
}

impl ClusterSource {
    pub(super) fn answer(&self, request: &Request<'_>) -> Result<Response, Error> {
        if reached(request.limits) {
            return Ok(nothing_yet());
        }
        if let Some(here) = self.known(request) {
            return self.page_here(request, &here);
        }
        let mut asked = self.asked(request)?;
        if reached(request.limits) {
            return Ok(nothing_yet());
        }
        let limits = request.limits.map(|limits| &**limits);
        let found = if asked.size.is_small() && (!asked.is_exact || ranks(request)) {
            self.on_this_machine(request, &asked)
        } else {
            self.make_exact(&mut asked, request.collapse, limits)?;
            self.in_the_cluster(request, &asked)
        };
        let mut found = found?;
        found.complete &= !reached(request.limits);
        Ok(found)
    }

    fn asked(&self, request: &Request<'_>) -> Result<Asked, Error> {
        let limits = request.limits.map(|limits| &**limits);
        let plan = self.with_forms(request.plan, limits)?;
        let translator = Translator::new(self, limits);
        let Translated { query, local } = translator.plan(&plan)?;
        let mut parts = vec![query.json];
        if let Some(only) = request.only {
            parts.push(ids_query(&self.ids(only)?));
        }
        let without = self.ids(request.without)?;
        let query_json = match without.is_empty() {
            true => filter(&parts),
            false => json!({ "bool": { "filter": parts, "must_not": [ids_query(&without)] } }),
        };
        Ok(Asked {
            plan,
            local,
            relations: translator.into_relations(),
            size: self.size_of(&query_json, request.collapse)?,
            query: query_json,
            is_exact: query.is_exact,
        })
    }

    /// Returns how much a query finds. The number of groups is approximate if there are many.
    fn size_of(&self, query: &Value, collapse: Option<Collapse>) -> Result<Size, Error> {
        let mut aggs = json!({ "words": { "sum": { "field": n_words_field() } } });
        if let Some(field) = collapse.map(group_field) {
            aggs["groups"] =
                json!({ "cardinality": { "field": field, "precision_threshold": 40_000 } });
            aggs["alone"] = json!({ "missing": { "field": field } });
        }
        let answer = self.search(json!({
            "query": query,
            "size": 0,
            "track_total_hits": true,
            "aggs": aggs,
        }))?;
        let found = &answer["aggregations"];
        let n = |value: &Value| value.as_f64().unwrap_or(0.0) as u64;
        let n_found = n(&answer["hits"]["total"]["value"]);
        let groups = n(&found["groups"]["value"]) + n(&found["alone"]["doc_count"]);
        Ok(Size {
            n_found,
            n_words: n(&found["words"]["value"]),
            groups: groups.min(n_found),
        })
    }

    /// Puts the documents that match in place of a query that may find more.
    fn make_exact(
        &self,
        asked: &mut Asked,
        collapse: Option<Collapse>,
        limits: Option<&Limits>,
    ) -> Result<(), Error> {
        if !asked.is_exact {
            asked.query = ids_query(&self.verified(asked, limits)?);
            asked.size = self.size_of(&asked.query, collapse)?;
            asked.is_exact = true;
        }
        Ok(())
    }

    /// Returns the query that finds exactly what a request finds.
    pub(super) fn query_of(&self, request: &Request<'_>) -> Result<Value, Error> {
        let mut asked = self.asked(request)?;
        self.make_exact(&mut asked, None, request.limits.map(|of| &**of))?;
        Ok(asked.query)
    }

    /// Returns the identifiers of what a plan finds, which OpenSearch cannot decide alone.
    pub(super) fn checked(
        &self,
        plan: &Plan,
        limits: Option<&Limits>,
    ) -> Result<Vec<String>, Error> {
        let translator = Translator::new(self, limits);
        let Translated { query, local } = translator.plan(plan)?;
        let asked = Asked {
            plan: plan.clone(),
            local,
            size: self.size_of(&query.json, None)?,
            relations: translator.into_relations(),
            query: query.json,
            is_exact: query.is_exact,
        };
        self.verified(&asked, limits)
    }

    /// Reads what a query finds, page by page, and returns the identifiers of what matches, in the order of locations.
    fn verified(&self, asked: &Asked, limits: Option<&Limits>) -> Result<Vec<String>, Error> {
        let Size {
            n_found, n_words, ..
        } = asked.size;
        if n_found > MAX_CHECKED || n_words > MAX_CHECKED_WORDS {
            return Err(Error::Query(format!(
                "{n_found} documents may match, and ken would have to look at each; add a word that narrows it"
            )));
        }
        let all = self.with_lengths(&asked.query)?;
        let mut matching = Vec::new();
        for page in texts::pages(&all) {
            if limits.is_some_and(Limits::reached) {
                break;
            }
            let ids: Vec<String> = page.iter().map(|(id, _)| id.clone()).collect();
            let here = self.local(&ids, asked)?;
            let request = Request {
                order: Order {
                    key: SortKey::Path,
                    reverse: false,
                },
                ..Request::new(&asked.local)
            };
            let found = here.source().find(&request)?;
            let at: Vec<DocAddress> = found.hits.iter().map(|hit| hit.address).collect();
            matching.extend(here.ids(&at)?);
        }
        Ok(matching)
    }

    /// Fetches all that a query finds.
    fn fetched_for(&self, asked: &Asked) -> Result<Local, Error> {
        let ids = self.ids_of(&asked.query)?;
        self.local(&ids, asked)
    }

    fn local(&self, ids: &[String], asked: &Asked) -> Result<Local, Error> {
        let counts = self.counts(&asked.plan)?;
        let mut relations: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, query) in asked.relations.iter().enumerate() {
            for some in ids.chunks(super::IDS_AT_ONCE) {
                for id in self.ids_of(&filter(&[query.clone(), ids_query(some)]))? {
                    relations.entry(id).or_default().push(number);
                }
            }
        }
        let records = self.records(ids)?;
        let documents = ids.iter().zip(records).map(|(id, record)| {
            let relations = relations.remove(id).unwrap_or_default();
            (id.clone(), record, relations)
        });
        Local::new(
            documents.collect(),
            (&self.reading, self.scratch.as_deref()),
            counts,
            (asked.local.clone(), &self.root.meta),
        )
    }

    fn on_this_machine(&self, request: &Request<'_>, asked: &Asked) -> Result<Response, Error> {
        let here = Arc::new(self.fetched_for(asked)?);
        let is_whole = request.only.is_none() && request.without.is_empty();
        if is_whole && !reached(request.limits) {
            *lock(&self.last) = Some((request.plan.clone(), Arc::clone(&here)));
        }
        self.page_here(request, &here)
    }

    /// Returns what the plan of a request finds, if the last request had the same plan and ken looked at all of it.
    fn known(&self, request: &Request<'_>) -> Option<Arc<Local>> {
        let last = lock(&self.last);
        let (plan, here) = last.as_ref()?;
        let is_same = request.only.is_none() && request.without.is_empty() && plan == request.plan;
        is_same.then(|| Arc::clone(here))
    }

    fn page_here(&self, request: &Request<'_>, here: &Local) -> Result<Response, Error> {
        let found = here.source().find(&Request {
            plan: here.plan(),
            only: None,
            without: &[],
            ..*request
        })?;
        Ok(Response {
            hits: self.hits_here(here, found.hits)?,
            ..found
        })
    }

    pub(super) fn hits_here(&self, here: &Local, mut hits: Vec<Hit>) -> Result<Vec<Hit>, Error> {
        let at: Vec<DocAddress> = hits.iter().map(|hit| hit.address).collect();
        for (hit, id) in hits.iter_mut().zip(here.ids(&at)?) {
            hit.address = self.address(&id);
        }
        Ok(hits)
    }

    fn in_the_cluster(&self, request: &Request<'_>, asked: &Asked) -> Result<Response, Error> {
        let total = asked.size.n_found as usize;
        let end = request.offset.saturating_add(request.limit).min(total);
        let field = request.collapse.map(group_field);
        let mut found = Response {
            total,
            groups: field.map_or(total, |_| asked.size.groups as usize),
            hits: Vec::new(),
            complete: true,
        };
        if request.limit == 0 {
            return Ok(found);
        }
        let mut page = Page::default();
        let mut query = asked.query.clone();
        if request.order == Order::default() {
            let counts = self.counts(&asked.plan)?;
            query = ranked(&asked.query, &asked.plan, &counts, &self.reading.ranking);
            page = self.window(request, (&query, field), &|ids| self.local(ids, asked))?;
        }
        if page.hits.len() < end {
            self.append(&mut page, end, (&query, request.order), field, request)?;
        }
        found.hits = page.hits;
        found.hits.truncate(end);
        found.hits.drain(..request.offset.min(found.hits.len()));
        if let Some(field) = field {
            self.add_sizes(&mut found.hits, &page.groups, &asked.query, field)?;
        }
        if found.hits.len() <= MAX_PREFETCHED {
            let at: Vec<DocAddress> = found.hits.iter().map(|hit| hit.address).collect();
            self.prefetch(self.ids(&at)?)?;
        }
        Ok(found)
    }

    /// Appends hits in the order of the cluster.
    fn append(
        &self,
        page: &mut Page,
        end: usize,
        (query, order): (&Value, Order),
        field: Option<&str>,
        request: &Request<'_>,
    ) -> Result<(), Error> {
        let mut groups: HashSet<String> = page.groups.values().cloned().collect();
        let words = n_words_field();
        let fields: Vec<&str> = [words.as_str()].into_iter().chain(field).collect();
        let is_scored = matches!(order.key, SortKey::Relevance);
        let size = end.saturating_add(page.seen.len() + SPARE).min(super::PAGE);
        self.each_hit_in_pages(size, query, &sort(order), &fields, &mut |hit| {
            let id = id(hit);
            if page.seen.contains(id) {
                return true;
            }
            let group = field
                .map(|field| text(hit, field))
                .filter(|group| !group.is_empty());
            if group.is_none_or(|group| groups.insert(group.to_owned())) {
                lock(&self.remembered).note_length(id, texts::n_words_of(hit));
                page.hits.push(Hit {
                    address: self.address(id),
                    score: is_scored.then(|| hit["sort"][0].as_f64().unwrap_or(0.0) as f32),
                    boosts: Boosts::default(),
                    more: 0,
                });
                if let Some(group) = group {
                    page.groups.insert(id.to_owned(), group.to_owned());
                }
            }
            page.hits.len() < end && !reached(request.limits)
        })
    }

    /// Sets how many other hits each hit stands for.
    fn add_sizes(
        &self,
        page: &mut [Hit],
        groups: &HashMap<String, String>,
        query: &Value,
        field: &str,
    ) -> Result<(), Error> {
        let at: Vec<DocAddress> = page.iter().map(|hit| hit.address).collect();
        let of_hits: Vec<Option<&String>> =
            self.ids(&at)?.iter().map(|id| groups.get(id)).collect();
        let mut wanted: Vec<&String> = of_hits.iter().copied().flatten().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut sizes: HashMap<String, u64> = HashMap::new();
        for some in wanted.chunks(MAX_VALUES) {
            let terms = json!({ "field": field, "include": some, "size": some.len() });
            let answer = self.search(json!({
                "query": query,
                "size": 0,
                "aggs": { "sizes": { "terms": terms } },
            }))?;
            for bucket in buckets(&answer["aggregations"]["sizes"]) {
                let group = bucket["key"].as_str().unwrap_or_default();
                sizes.insert(group.to_owned(), bucket["doc_count"].as_u64().unwrap_or(0));
            }
        }
        for (hit, group) in page.iter_mut().zip(of_hits) {
            let size = group.and_then(|group| sizes.get(group).copied());
            hit.more = size.unwrap_or(1).saturating_sub(1) as usize;
        }
        Ok(())
    }

    pub(super) fn counted(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(FieldValue, u64)>>, Error> {
        if reached(request.limits) {
            return Ok(vec![Vec::new(); by.len()]);
        }
        let mut asked = self.asked(request)?;
        if asked.size.is_small() {
            let here = self.fetched_for(&asked)?;
            let request = Request {
                plan: &asked.local,
                only: None,
                without: &[],
                ..*request
            };
            return here.source().facets(&request, by);
        }
        self.make_exact(&mut asked, None, request.limits.map(|of| &**of))?;
        by.iter().map(|by| self.facet(&asked.query, by)).collect()
    }

    fn facet(&self, query: &Value, by: &FacetBy) -> Result<Vec<(FieldValue, u64)>, Error> {
        let facet = match by {
            FacetBy::Ranges(field, ends) => {
                let ranges = ends
                    .iter()
                    .enumerate()
                    .map(|(at, from)| match ends.get(at + 1) {
                        Some(to) => json!({ "from": from, "to": to }),
                        None => json!({ "from": from }),
                    });
                let ranges: Vec<Value> = ranges.collect();
                json!({ "range": { "field": layout::number(*field), "ranges": ranges } })
            }
            FacetBy::Values(field) if field.is_number() => {
                json!({ "terms": { "field": layout::number(*field), "size": MAX_VALUES } })
            }
            FacetBy::Values(field) if !field.has_column() => return Ok(Vec::new()),
            FacetBy::Values(field) => {
                json!({ "terms": { "field": layout::values(*field), "size": MAX_VALUES } })
            }
        };
        let answer =
            self.search(json!({ "query": query, "size": 0, "aggs": { "facet": facet } }))?;
        let found = buckets(&answer["aggregations"]["facet"]).iter();
        let n = |bucket: &Value| bucket["doc_count"].as_u64().unwrap_or(0);
        if let FacetBy::Values(field) = by
            && !field.is_number()
        {
            let values =
                found.map(|bucket| (bucket["key"].as_str().unwrap_or_default(), n(bucket)));
            return Ok(as_written(values.collect()));
        }
        let key = |bucket: &Value| {
            let key = bucket.get("from").unwrap_or(&bucket["key"]);
            key.as_f64().unwrap_or(0.0) as i64
        };
        let mut counts: Vec<(i64, u64)> = found.map(|bucket| (key(bucket), n(bucket))).collect();
        counts.retain(|(_, n)| *n > 0);
        counts.sort_unstable();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        Ok(counts
            .into_iter()
            .map(|(number, n)| (FieldValue::Number(number), n))
            .collect())
    }

    pub(super) fn explained(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        let request = Request::new(plan);
        let id = self.id(hit.address)?;
        let here = match self.known(&request) {
            Some(here) => here,
            None => {
                let only = [hit.address];
                let asked = self.asked(&Request {
                    only: Some(&only),
                    ..request
                })?;
                Arc::new(self.fetched_for(&asked)?)
            }
        };
        let Some(address) = here.address(&id)? else {
            return Err(Error::Query(
                "the document does not match the query".to_owned(),
            ));
        };
        here.source().explain(here.plan(), &Hit { address, ..*hit })
    }

    pub(super) fn query_for_people(&self, plan: &Plan) -> Result<String, Error> {
        let asked = self.asked(&Request::new(plan))?;
        let mut exceptions = Vec::new();
        if !asked.is_exact {
            exceptions.push(format!(
                "the cluster cannot decide all of it: ken looks at {} documents, and at most at {MAX_CHECKED}",
                asked.size.n_found
            ));
        }
        if !asked.size.is_small() {
            exceptions.push(window_exception());
            exceptions.push(format!(
                "groups are counted approximately if there are more than 40,000, and facets if there are more than {MAX_VALUES} values or several shards"
            ));
        }
        let shown = json!({ "query": asked.query, "exceptions": exceptions });
        serde_json::to_string_pretty(&shown).map_err(|error| self.client.error(error.to_string()))
    }
}

/// Returns the field in which documents that belong together have the same value.
fn group_field(collapse: Collapse) -> &'static str {
    match collapse {
        Collapse::Content | Collapse::Similar => "content",
        Collapse::File => "file",
        Collapse::Message => "group",
    }
}

/// Returns an order as OpenSearch has it. Documents without a value come last, and equal ones by their locations.
fn sort(order: Order) -> Value {
    let direction = |is_upwards: bool| if is_upwards { "asc" } else { "desc" };
    let by = |field: String, is_upwards, ties| json!([{ field: { "order": direction(is_upwards), "missing": "_last" } }, { "loc": ties }]);
    match order.key {
        SortKey::Relevance => json!([{ "_score": direction(order.reverse) }, { "loc": "asc" }]),
        SortKey::Path => json!([{ "loc": direction(!order.reverse) }]),
        SortKey::Field(field) if !field.has_column() => by_location(),
        SortKey::Field(field) if field.is_number() => {
            by(layout::number(field), order.reverse, "asc")
        }
        // Generated names are in no column: their order is that of their paths.
        SortKey::Field(Field::Filename) => {
            let ties = direction(!order.reverse);
            by(layout::first(Field::Filename), !order.reverse, ties)
        }
        SortKey::Field(field) => by(layout::first(field), !order.reverse, "asc"),
    }
}

/// Returns the query with a score by which the best documents are nearly those of ken.
fn ranked(query: &Value, plan: &Plan, counts: &Global, ranking: &ken_core::Ranking) -> Value {
    let all = counts.n_documents() as f64;
    let worth = |word: &Word, field: Field, pattern: &Pattern| {
        let n = counts.documents_with(field, pattern) as f64;
        let most = super::counts::fields_of(word).map(|of| counts.documents_with(of, pattern));
        let most = most.max().unwrap_or(0) as f64;
        let (_, with) = counts.lengths(field);
        // What OpenSearch multiplies by, and what ken does.
        let theirs = (1.0 + (with as f64 - n + 0.5).max(0.0) / (n + 0.5))
            .ln()
            .max(0.01);
        let ours = ((all - most + 0.5).max(0.5) / (most + 0.5)).ln();
        let least = 0.05 * (1.0 + (all - most + 0.5).max(0.0) / (most + 0.5)).ln();
        f64::from(ranking.weight(field)) * ours.max(least) / theirs
    };
    let should = scored(plan, &worth);
    match should.is_empty() {
        true => query.clone(),
        false => json!({ "bool": { "filter": [query], "should": should } }),
    }
}

/// Counts values that differ only in case or diacritics as one, written like most of them; see `ken-index`.
fn as_written(mut counts: Vec<(&str, u64)>) -> Vec<(FieldValue, u64)> {
    counts.sort_unstable();
    let same = |(a, _): &(&str, u64), (b, _): &(&str, u64)| {
        ken_index::written(a).1 == ken_index::written(b).1
    };
    let mut values: Vec<(FieldValue, u64)> = counts
        .chunk_by(same)
        .map(|same| {
            let most = same.iter().rev().max_by_key(|(_, count)| count);
            let text = most.map(|(value, _)| ken_index::written(value).0);
            let count = same.iter().map(|(_, count)| count).sum();
            (FieldValue::Text(text.unwrap_or_default()), count)
        })
        .collect();
    values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    values
}
