//! Facets: how many of the documents of an answer have each value.

use ken_core::Value as FieldValue;
use ken_engine::{Error, FacetBy, Request};
use serde_json::{Value, json};

use super::{MAX_VALUES, reached};
use crate::layout;
use crate::source::{ClusterSource, buckets};

impl ClusterSource {
    pub(in crate::source) fn counted(
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
