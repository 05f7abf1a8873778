//! Forgets commits that came to nothing long ago.
//!
//! The root document names each commit that a lost lease had under way, and everybody leaves out what was written for it. A
//! later run writes the files again, and deletes what is left, so after a while a name stands for nothing. A write may still
//! arrive late, but by minutes and not by hundreds of leases: the last names always stay.

use std::collections::HashSet;

use ken_engine::Error;
use serde_json::{Value, json};

use super::ClusterSink;
use crate::http::Method;
use crate::root::Root;
use crate::search::check_shards;

/// The names at which old ones are looked at.
const MAX_ABORTED: usize = 1_000;
/// The names that stay whatever they stand for.
const ALWAYS_KEPT: usize = 500;
/// The names of one question.
const AT_ONCE: usize = 500;

impl ClusterSink {
    /// Forgets old commits of which nothing is there.
    pub(super) fn forget_aborted(&self, root: &Root) -> Result<(), Error> {
        if root.aborted.len() <= MAX_ABORTED {
            return Ok(());
        }
        let (old, _) = root.aborted.split_at(root.aborted.len() - ALWAYS_KEPT);
        // What was written and never committed is not visible yet.
        let path = format!("/{}/_refresh", self.names.documents);
        let refreshed = self.client.ask(Method::Post, &path, &Value::Null)?;
        check_shards(&self.client, &refreshed)?;
        let mut gone: HashSet<u64> = old.iter().copied().collect();
        for some in old.chunks(AT_ONCE) {
            for there in self.made_in(some)? {
                gone.remove(&there);
            }
        }
        self.with_lease(|lease| {
            lease.change(&mut |root| root.aborted.retain(|commit| !gone.contains(commit)))
        })
    }

    /// Returns those of some commits for which there are documents.
    fn made_in(&self, commits: &[u64]) -> Result<Vec<u64>, Error> {
        let search = json!({
            "size": 0,
            "query": { "terms": { "made": commits } },
            "aggs": { "made": { "terms": { "field": "made", "size": commits.len() } } },
        });
        let path = format!("/{}/_search", self.names.documents);
        let answer = self.client.ask(Method::Post, &path, &search)?;
        check_shards(&self.client, &answer)?;
        let buckets = answer["aggregations"]["made"]["buckets"].as_array();
        let buckets = buckets.map_or(&[][..], Vec::as_slice).iter();
        Ok(buckets.filter_map(|of| of["key"].as_u64()).collect())
    }
}
