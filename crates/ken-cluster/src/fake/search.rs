//! Answers of the fake to searches: hits in their order, and aggregations.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::Documents;
use super::query::{Entry, Query, key, values};

/// A document that was found, with its score.
type Found<'d> = (Entry<'d>, f64);

/// Answers a search over documents.
pub(super) fn answer(documents: &Documents, body: &Value) -> Value {
    let query = Query::read(&body["query"]);
    let entries = documents.iter().filter_map(|(id, stored)| {
        let source = stored.source.as_ref()?;
        Some((id.as_str(), source))
    });
    let mut found: Vec<Found<'_>> = entries
        .filter(|entry| query.matches(*entry))
        .map(|entry| (entry, query.score(entry)))
        .collect();
    let total = found.len();
    let aggregations = aggregate(&found, body.get("aggs"));
    let order = Order::read(&body["sort"]);
    found.sort_by(|one, other| order.compare(&order.keys(one), &order.keys(other)));
    if let Some(after) = body.get("search_after").and_then(Value::as_array) {
        found.retain(|of| order.compare(&order.keys(of), after) == Ordering::Greater);
    }
    if let Some(field) = body["collapse"]["field"].as_str() {
        let mut seen = HashSet::new();
        found.retain(|((_, source), _)| {
            values(source, field)
                .first()
                .is_none_or(|value| seen.insert(key(value)))
        });
    }
    let size = body["size"].as_u64().unwrap_or(10) as usize;
    let from = body["from"].as_u64().unwrap_or(0) as usize;
    let page = found.iter().skip(from).take(size);
    let hits: Vec<Value> = page.map(|of| hit(of, documents, body, &order)).collect();
    json!({
        "_shards": { "total": 1, "failed": 0 },
        "timed_out": false,
        "hits": { "total": { "value": total }, "hits": hits },
        "aggregations": aggregations,
    })
}

fn hit(of: &Found<'_>, documents: &Documents, body: &Value, order: &Order) -> Value {
    let ((id, source), score) = of;
    let mut hit = json!({
        "_id": id,
        "_score": score,
        "_version": documents[*id].version,
        "sort": order.keys(of),
        "fields": {},
    });
    let columns = body["docvalue_fields"].as_array();
    for field in columns.into_iter().flatten().filter_map(Value::as_str) {
        let of_field = values(source, field);
        if !of_field.is_empty() {
            hit["fields"][field] = json!(of_field);
        }
    }
    if body["stored_fields"] == "_none_" {
        hit["_id"] = Value::Null;
        return hit;
    }
    match body.get("_source") {
        Some(Value::Bool(false)) => {}
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            let kept: Map<String, Value> = names
                .filter_map(|name| Some((name.to_owned(), source.get(name)?.clone())))
                .collect();
            hit["_source"] = Value::Object(kept);
        }
        _ => hit["_source"] = (*source).clone(),
    }
    hit
}

/// The fields by which hits are sorted, each with whether it goes upwards.
struct Order(Vec<(String, bool)>);

impl Order {
    fn read(sort: &Value) -> Self {
        let by = sort.as_array().into_iter().flatten().map(|by| {
            let (field, how) = by.as_object().unwrap().iter().next().unwrap();
            let how = how.get("order").unwrap_or(how);
            (field.clone(), how == "asc")
        });
        Self(by.collect())
    }

    fn keys(&self, ((_, source), score): &Found<'_>) -> Vec<Value> {
        let of = |(field, is_upwards): &(String, bool)| match field.as_str() {
            "_score" => json!(score),
            field => {
                let all = values(source, field).iter();
                let best = match is_upwards {
                    true => all.min_by(|one, other| compare(one, other)),
                    false => all.max_by(|one, other| compare(one, other)),
                };
                best.cloned().unwrap_or(Value::Null)
            }
        };
        self.0.iter().map(of).collect()
    }

    /// Documents without a value come last.
    fn compare(&self, one: &[Value], other: &[Value]) -> Ordering {
        let each = self.0.iter().zip(one.iter().zip(other));
        let orders =
            each.map(
                |((_, is_upwards), (one, other))| match (one.is_null(), other.is_null()) {
                    (false, false) if *is_upwards => compare(one, other),
                    (false, false) => compare(other, one),
                    (one, other) => one.cmp(&other),
                },
            );
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => key(one).cmp(&key(other)),
    }
}

fn aggregate(found: &[Found<'_>], aggs: Option<&Value>) -> Value {
    let mut answers = Map::new();
    for (name, agg) in aggs.and_then(Value::as_object).into_iter().flatten() {
        let below = agg.get("aggs");
        let kind = agg
            .as_object()
            .unwrap()
            .keys()
            .find(|kind| *kind != "aggs")
            .unwrap();
        let answer = one(kind, &agg[kind], found, below);
        answers.insert(name.clone(), answer);
    }
    Value::Object(answers)
}

/// Returns a bucket with the aggregations of what is in it.
fn bucket(found: &[Found<'_>], below: Option<&Value>) -> Value {
    let mut bucket = aggregate(found, below);
    bucket["doc_count"] = json!(found.len());
    bucket
}

fn one(kind: &str, of: &Value, found: &[Found<'_>], below: Option<&Value>) -> Value {
    let field = of["field"].as_str().unwrap_or_default();
    let numbers = || {
        let all = found
            .iter()
            .flat_map(|((_, source), _)| values(source, field));
        all.filter_map(Value::as_f64)
    };
    let with = |query: &Value| {
        let query = Query::read(query);
        let kept = found.iter().filter(|(entry, _)| query.matches(*entry));
        kept.copied().collect::<Vec<_>>()
    };
    match kind {
        "filter" => bucket(&with(of), below),
        "filters" => {
            let filters = of["filters"].as_array().unwrap().iter();
            let buckets: Vec<Value> = filters.map(|query| bucket(&with(query), below)).collect();
            json!({ "buckets": buckets })
        }
        "missing" => {
            let without = found
                .iter()
                .filter(|((_, source), _)| values(source, field).is_empty());
            json!({ "doc_count": without.count() })
        }
        "cardinality" => json!({ "value": by_value(found, field).len() }),
        "min" => json!({ "value": numbers().reduce(f64::min) }),
        "max" => json!({ "value": numbers().reduce(f64::max) }),
        "sum" if of.get("script").is_some() => {
            json!({ "value": found.iter().map(|(_, score)| score).sum::<f64>() })
        }
        "sum" => json!({ "value": numbers().sum::<f64>() }),
        "range" => {
            let ranges = of["ranges"].as_array().unwrap().iter();
            let buckets = ranges.map(|range| {
                let is_in = |value: &Value| {
                    let n = value.as_f64().unwrap_or(f64::NAN);
                    range["from"].as_f64().is_none_or(|from| n >= from)
                        && range["to"].as_f64().is_none_or(|to| n < to)
                };
                let n = found
                    .iter()
                    .filter(|((_, source), _)| values(source, field).iter().any(is_in));
                json!({ "from": range["from"], "doc_count": n.count() })
            });
            json!({ "buckets": buckets.collect::<Vec<_>>() })
        }
        "terms" => {
            let mut groups = by_value(found, field);
            if let Some(wanted) = of["include"].as_array() {
                groups.retain(|value, _| wanted.iter().any(|of| of == value));
            }
            let mut groups: Vec<_> = groups.into_values().collect();
            groups.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
            groups.truncate(of["size"].as_u64().unwrap_or(10) as usize);
            let buckets = groups.iter().map(|(value, of)| {
                let mut bucket = bucket(of, below);
                bucket["key"] = value.clone();
                bucket
            });
            json!({ "buckets": buckets.collect::<Vec<_>>() })
        }
        "composite" => composite(of, found, below),
        kind => panic!("the fake knows no aggregation {kind}"),
    }
}

fn composite(of: &Value, found: &[Found<'_>], below: Option<&Value>) -> Value {
    let field = of["sources"][0]["value"]["terms"]["field"]
        .as_str()
        .unwrap();
    let after = of["after"]["value"].as_str().unwrap_or_default();
    let size = of["size"].as_u64().unwrap() as usize;
    let groups = by_value(found, field).into_iter();
    let page = groups.filter(|(value, _)| after.is_empty() || value.as_str() > after);
    let buckets: Vec<Value> = page
        .take(size)
        .map(|(value, (_, of))| {
            let mut bucket = bucket(&of, below);
            bucket["key"] = json!({ "value": value });
            bucket
        })
        .collect();
    let mut answer = json!({ "buckets": buckets });
    if let Some(last) = buckets.last() {
        answer["after_key"] = last["key"].clone();
    }
    answer
}

/// Returns the documents that have each value of a field.
fn by_value<'d>(found: &[Found<'d>], field: &str) -> BTreeMap<String, (Value, Vec<Found<'d>>)> {
    let mut groups: BTreeMap<String, (Value, Vec<Found<'d>>)> = BTreeMap::new();
    for of in found {
        let mut seen = HashSet::new();
        for value in values(of.0.1, field) {
            if seen.insert(key(value)) {
                let (_, group) = groups
                    .entry(key(value))
                    .or_insert((value.clone(), Vec::new()));
                group.push(*of);
            }
        }
    }
    groups
}
