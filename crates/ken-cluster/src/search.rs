//! Reading the answers of OpenSearch.

use ken_engine::Error;
use serde_json::Value;

use crate::client::{Client, reason};

/// Fails unless every shard answered in full: a part of an answer would look like the whole.
pub(crate) fn check_shards(client: &Client, answer: &Value) -> Result<(), Error> {
    let shards = &answer["_shards"];
    let failed = shards["failed"].as_u64().unwrap_or(0);
    let is_late = answer["timed_out"].as_bool().unwrap_or(false);
    if failed == 0 && !is_late {
        return Ok(());
    }
    let why = shards["failures"].get(0).map(|failure| &failure["reason"]);
    let why = why.map_or_else(|| "no reason given".to_owned(), reason);
    let total = shards["total"].as_u64().unwrap_or(0);
    Err(client.error(format!("{failed} of {total} shards did not answer: {why}")))
}

/// Returns the hits of an answer.
pub(crate) fn hits(answer: &Value) -> &[Value] {
    let hits = answer["hits"]["hits"].as_array();
    hits.map_or(&[], Vec::as_slice)
}

/// Returns the first value of a field of a hit; empty if it has none.
pub(crate) fn text<'a>(hit: &'a Value, field: &str) -> &'a str {
    hit["fields"][field][0].as_str().unwrap_or_default()
}

/// Returns the identifier of a hit.
pub(crate) fn id(hit: &Value) -> &str {
    let in_column = hit["fields"]["id"][0].as_str();
    in_column.or(hit["_id"].as_str()).unwrap_or_default()
}
