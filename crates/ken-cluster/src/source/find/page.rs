//! A page in the order of the cluster.

use std::collections::{HashMap, HashSet};

use ken_core::{Field, Order, Pattern, Plan, SortKey, Word};
use ken_engine::{Boosts, Collapse, DocAddress, Error, Hit, Request};
use ken_index::Counts;
use serde_json::{Value, json};

use super::{MAX_VALUES, reached};
use crate::layout;
use crate::source::counts::Global;
use crate::source::query::scored;
use crate::source::texts::{self, n_words_field};
use crate::source::window::Page;
use crate::source::{ClusterSource, PAGE, buckets, by_location, counts, id, lock, text};

/// Other documents that are asked for with a page, as some hits may belong together.
const SPARE: usize = 50;

impl ClusterSource {
    /// Appends hits in the order of the cluster.
    pub(super) fn append(
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
        let size = end.saturating_add(page.seen.len() + SPARE).min(PAGE);
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
    pub(super) fn add_sizes(
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
}

/// Returns the field in which documents that belong together have the same value.
pub(super) fn group_field(collapse: Collapse) -> &'static str {
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
pub(super) fn ranked(
    query: &Value,
    plan: &Plan,
    counts: &Global,
    ranking: &ken_core::Ranking,
) -> Value {
    let all = counts.n_documents() as f64;
    let worth = |word: &Word, field: Field, pattern: &Pattern| {
        let n = counts.documents_with(field, pattern) as f64;
        let most = counts::fields_of(word).map(|of| counts.documents_with(of, pattern));
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
