//! Answers of a request: which documents, in which order, how many.

mod facets;
mod page;

use std::collections::HashMap;
use std::sync::Arc;

use ken_core::{Order, Plan, SortKey};
use ken_engine::{Collapse, DocAddress, Error, Hit, Limits, Request, Response};
use serde_json::{Value, json};

use self::page::{group_field, ranked};
use super::local::Local;
use super::query::{Translated, Translator};
use super::texts::{self, n_words_field};
use super::window::{Page, SMALL, WINDOW_WORDS, window_exception};
use super::{ClusterSource, filter, ids_query, lock};

/// The most documents that ken looks at, one by one, for what OpenSearch cannot decide.
const MAX_CHECKED: u64 = 10_000;
/// The most words that the texts of these documents have: some 2 GB.
const MAX_CHECKED_WORDS: u64 = 300_000_000;
/// The most hits whose texts are fetched before anybody asks for them.
const MAX_PREFETCHED: usize = 20;
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
        if asked.plan.has_derived() {
            exceptions.push("the languages of all documents with a word decide its forms, not those of a sample: more documents may match".to_owned());
            exceptions.push("ken estimates how many documents have one of a word's forms: scores may differ by a few per cent".to_owned());
        }
        let shown = json!({ "query": asked.query, "exceptions": exceptions });
        serde_json::to_string_pretty(&shown).map_err(|error| self.client.error(error.to_string()))
    }
}
