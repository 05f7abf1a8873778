//! Answers of a request: which documents, in which order, how many.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ken_core::{Field, Order, Pattern, Plan, SortKey, Value as FieldValue, Word};
use ken_engine::{Boosts, Collapse, DocAddress, Error, FacetBy, Hit, Limits, Request, Response};
use serde_json::{Value, json};

use super::counts::Global;
use super::local::Local;
use super::query::{Translated, Translator, scored};
use super::{ClusterSource, buckets, by_location, filter, id, ids_query, lock, text};
use crate::layout;
use crate::search::hits;
use ken_index::Counts;

/// The documents that ken ranks. If a request finds no more, the answer is that of the embedded engine in all respects.
const WINDOW: usize = 500;
/// The most documents that ken looks at, one by one, for what OpenSearch cannot decide.
const MAX_CHECKED: u64 = 10_000;
/// The bytes of text that are fetched for one request.
const MAX_TEXT_BYTES: usize = 128 << 20;
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
    /// The number of documents that the query finds.
    n_found: u64,
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

impl ClusterSource {
    pub(super) fn answer(&self, request: &Request<'_>) -> Result<Response, Error> {
        if reached(request.limits) {
            return Ok(nothing_yet());
        }
        if let Some(here) = self.known(request) {
            return self.page_here(request, &here);
        }
        let asked = self.asked(request)?;
        if reached(request.limits) {
            return Ok(nothing_yet());
        }
        let found = match asked.is_exact && asked.n_found > WINDOW as u64 {
            true => self.in_the_cluster(request, &asked),
            false => self.on_this_machine(request, &asked),
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
        let n_found = self.count(&query_json)?;
        Ok(Asked {
            plan,
            local,
            relations: translator.into_relations(),
            query: query_json,
            is_exact: query.is_exact,
            n_found,
        })
    }

    /// Returns the query that finds exactly what a request finds.
    pub(super) fn query_of(&self, request: &Request<'_>) -> Result<Value, Error> {
        let asked = self.asked(request)?;
        match asked.is_exact {
            true => Ok(asked.query),
            false => Ok(ids_query(
                &self.checked(&asked.plan, request.limits.map(|of| &**of))?,
            )),
        }
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
            n_found: self.count(&query.json)?,
            relations: translator.into_relations(),
            query: query.json,
            is_exact: query.is_exact,
        };
        let here = self.fetched_for(&asked)?;
        let request = Request {
            order: Order {
                key: SortKey::Path,
                reverse: false,
            },
            ..Request::new(&asked.local)
        };
        let found = here.source().find(&request)?;
        let at: Vec<DocAddress> = found.hits.iter().map(|hit| hit.address).collect();
        here.ids(&at)
    }

    /// Fetches all that a query finds.
    fn fetched_for(&self, asked: &Asked) -> Result<Local, Error> {
        if asked.n_found > MAX_CHECKED {
            return Err(Error::Query(format!(
                "{} documents may match, and ken would have to look at each; add a word that narrows it",
                asked.n_found
            )));
        }
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

    fn hits_here(&self, here: &Local, mut hits: Vec<Hit>) -> Result<Vec<Hit>, Error> {
        let at: Vec<DocAddress> = hits.iter().map(|hit| hit.address).collect();
        for (hit, id) in hits.iter_mut().zip(here.ids(&at)?) {
            hit.address = self.address(&id);
        }
        Ok(hits)
    }

    fn in_the_cluster(&self, request: &Request<'_>, asked: &Asked) -> Result<Response, Error> {
        let total = asked.n_found as usize;
        let end = request.offset.saturating_add(request.limit).min(total);
        let field = request.collapse.map(group_field);
        let groups = match field {
            None => total,
            Some(field) => self.n_groups(&asked.query, field, total)?,
        };
        let mut found = Response {
            total,
            groups,
            hits: Vec::new(),
            complete: true,
        };
        if request.limit == 0 {
            return Ok(found);
        }
        let mut seen = HashSet::new();
        let by_relevance = request.order == Order::default();
        let mut query = asked.query.clone();
        if by_relevance {
            let counts = self.counts(&asked.plan)?;
            query = ranked(&asked.query, &asked.plan, &counts, &self.reading.ranking);
            let ids = self.best(&query)?;
            let here = self.local(&ids, asked)?;
            let best = here.source().find(&Request {
                plan: &asked.local,
                only: None,
                without: &[],
                offset: 0,
                limit: ids.len(),
                counted: false,
                ..*request
            })?;
            found.hits = self.hits_here(&here, best.hits)?;
            seen.extend(ids);
        }
        if found.hits.len() < end {
            self.append(
                &mut found.hits,
                end,
                (&query, request.order),
                field,
                &mut seen,
                request,
            )?;
        }
        found.hits.truncate(end);
        found.hits.drain(..request.offset.min(found.hits.len()));
        if let Some(field) = field {
            self.add_sizes(&mut found.hits, &asked.query, field)?;
        }
        Ok(found)
    }

    /// Returns the identifiers of the documents that ken ranks.
    fn best(&self, query: &Value) -> Result<Vec<String>, Error> {
        let mut ids = Vec::new();
        let mut bytes = 0;
        while ids.len() < WINDOW && bytes < MAX_TEXT_BYTES {
            let size = super::TEXTS_PAGE.min(WINDOW - ids.len());
            let answer = self.search(json!({
                "query": query,
                "from": ids.len(),
                "size": size,
                "sort": [{ "_score": "desc" }, { "loc": "asc" }],
                "_source": ["doc", "body"],
                "track_total_hits": false,
            }))?;
            let page = hits(&answer);
            for hit in page {
                let fetched = Arc::new(super::fetched(hit));
                bytes += fetched.body.len();
                self.remember(id(hit), &fetched);
                ids.push(id(hit).to_owned());
            }
            if page.len() < size {
                break;
            }
        }
        Ok(ids)
    }

    /// Appends hits in the order of the cluster.
    fn append(
        &self,
        hits: &mut Vec<Hit>,
        end: usize,
        (query, order): (&Value, Order),
        field: Option<&str>,
        seen: &mut HashSet<String>,
        request: &Request<'_>,
    ) -> Result<(), Error> {
        let mut groups = HashSet::new();
        if let Some(field) = field {
            let known: Vec<DocAddress> = hits.iter().map(|hit| hit.address).collect();
            for group in self.groups_of(&known, field)? {
                groups.extend(group);
            }
        }
        let fields: Vec<&str> = field.into_iter().collect();
        let is_scored = matches!(order.key, SortKey::Relevance);
        self.each_hit(query, &sort(order), &fields, &mut |hit| {
            let group = field
                .map(|field| text(hit, field))
                .filter(|group| !group.is_empty());
            let is_new = group.is_none_or(|group| groups.insert(group.to_owned()));
            if is_new && !seen.contains(id(hit)) {
                hits.push(Hit {
                    address: self.address(id(hit)),
                    score: is_scored.then(|| hit["sort"][0].as_f64().unwrap_or(0.0) as f32),
                    boosts: Boosts::default(),
                    more: 0,
                });
            }
            hits.len() < end && !reached(request.limits)
        })
    }

    /// Returns the group of each of some documents; none for a document in no group.
    fn groups_of(&self, at: &[DocAddress], field: &str) -> Result<Vec<Option<String>>, Error> {
        let ids = self.ids(at)?;
        let mut groups: HashMap<String, String> = HashMap::new();
        for some in ids.chunks(super::IDS_AT_ONCE) {
            self.each_hit(&ids_query(some), &by_location(), &[field], &mut |hit| {
                let group = text(hit, field);
                if !group.is_empty() {
                    groups.insert(id(hit).to_owned(), group.to_owned());
                }
                true
            })?;
        }
        Ok(ids.iter().map(|id| groups.get(id).cloned()).collect())
    }

    /// Sets how many other hits each hit stands for.
    fn add_sizes(&self, page: &mut [Hit], query: &Value, field: &str) -> Result<(), Error> {
        let at: Vec<DocAddress> = page.iter().map(|hit| hit.address).collect();
        let groups = self.groups_of(&at, field)?;
        let of_group =
            |group: &String| filter(&[query.clone(), json!({ "term": { field: group } })]);
        let known = groups.iter().flatten();
        let queries = known
            .map(|group| (group.clone(), of_group(group)))
            .collect();
        let sizes: HashMap<String, u64> = self.counts_of(queries)?.into_iter().collect();
        for (hit, group) in page.iter_mut().zip(groups) {
            let size = group.and_then(|group| sizes.get(&group).copied());
            hit.more = size.unwrap_or(1).saturating_sub(1) as usize;
        }
        Ok(())
    }

    /// Returns the number of groups, which is approximate if there are many.
    fn n_groups(&self, query: &Value, field: &str, total: usize) -> Result<usize, Error> {
        let answer = self.search(json!({
            "query": query,
            "size": 0,
            "aggs": {
                "groups": { "cardinality": { "field": field, "precision_threshold": 40_000 } },
                "alone": { "missing": { "field": field } },
            },
        }))?;
        let groups = answer["aggregations"]["groups"]["value"]
            .as_u64()
            .unwrap_or(0);
        let alone = answer["aggregations"]["alone"]["doc_count"]
            .as_u64()
            .unwrap_or(0);
        Ok(((groups + alone) as usize).min(total))
    }

    pub(super) fn counted(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(FieldValue, u64)>>, Error> {
        if reached(request.limits) {
            return Ok(vec![Vec::new(); by.len()]);
        }
        let asked = self.asked(request)?;
        if !asked.is_exact || asked.n_found <= WINDOW as u64 {
            let here = self.fetched_for(&asked)?;
            let request = Request {
                plan: &asked.local,
                only: None,
                without: &[],
                ..*request
            };
            return here.source().facets(&request, by);
        }
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
                asked.n_found
            ));
        } else if asked.n_found > WINDOW as u64 {
            exceptions.push(format!(
                "ken ranks the best {WINDOW} by the cluster's own score; those behind follow in the order of that score"
            ));
            exceptions.push(format!(
                "groups are counted about if there are more than 40,000, and facets if there are more than {MAX_VALUES} values or several shards"
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
