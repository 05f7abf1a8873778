//! The documents that ken ranks, where a request finds too many to look at all of them.
//!
//! The best by a score of OpenSearch that is close to ken's are fetched and ranked by ken. The lengths of texts bound their
//! number: a text costs its words, and what is very long keeps the rank that OpenSearch gave it.

use std::collections::{HashMap, HashSet};

use ken_engine::{Boosts, DocAddress, Error, Hit, Request};
use serde_json::{Value, json};

use super::local::Local;
use super::texts::{n_words_field, n_words_of};
use super::{ClusterSource, id, lock, text};
use crate::search::hits;

/// If a request finds no more documents, and no more words, ken looks at all of them.
pub(super) const SMALL: u64 = 500;
/// The most documents that ken ranks.
const WINDOW: usize = 200;
/// The most words of their texts: some 4 MB.
pub(super) const WINDOW_WORDS: u64 = 600_000;
/// The most words of the text of one of them.
const LONG: u32 = 50_000;

/// Returns what `ken search --explain` says of it.
pub(super) fn window_exception() -> String {
    format!(
        "ken ranks the best {WINDOW} by the cluster's own score, up to {WINDOW_WORDS} words of text; those behind, and texts of more than {LONG} words, keep the rank of that score"
    )
}

/// The hits of a page that are known so far.
#[derive(Default)]
pub(super) struct Page {
    /// The hits from the first one on.
    pub(super) hits: Vec<Hit>,
    /// The documents that have their place, or stand for others.
    pub(super) seen: HashSet<String>,
    /// The groups of documents, by their identifiers.
    pub(super) groups: HashMap<String, String>,
}

/// A document that OpenSearch found.
struct Best {
    id: String,
    n_words: u32,
    group: Option<String>,
}

impl ClusterSource {
    /// Ranks the best documents of a query with a score. `field` is that of their groups, and `index` indexes documents here.
    pub(super) fn window(
        &self,
        request: &Request<'_>,
        (query, field): (&Value, Option<&str>),
        index: &dyn Fn(&[String]) -> Result<Local, Error>,
    ) -> Result<Page, Error> {
        let best = self.best(query, field)?;
        let short = best.iter().filter(|of| of.n_words <= LONG);
        let ids: Vec<String> = short.map(|of| of.id.clone()).collect();
        let here = index(&ids)?;
        let found = here.source().find(&Request {
            plan: here.plan(),
            only: None,
            without: &[],
            offset: 0,
            limit: ids.len(),
            counted: false,
            ..*request
        })?;
        let at: Vec<DocAddress> = found.hits.iter().map(|hit| hit.address).collect();
        let shown: HashSet<String> = here.ids(&at)?.into_iter().collect();
        let of_shown = best.iter().filter(|of| shown.contains(&of.id));
        let mut groups: HashSet<String> = of_shown.filter_map(|of| of.group.clone()).collect();
        let mut ranked = self.hits_here(&here, found.hits)?;
        for (rank, long) in best.iter().enumerate() {
            let is_new = |group: &String| groups.insert(group.clone());
            if long.n_words > LONG && long.group.as_ref().is_none_or(is_new) {
                let rank = rank.min(ranked.len());
                let neighbour = ranked.get(rank.saturating_sub(1));
                ranked.insert(
                    rank,
                    Hit {
                        address: self.address(&long.id),
                        score: neighbour.and_then(|hit| hit.score).or(Some(0.0)),
                        boosts: Boosts::default(),
                        more: 0,
                    },
                );
            }
        }
        let with_group = best
            .iter()
            .filter_map(|of| Some((of.id.clone(), of.group.clone()?)));
        Ok(Page {
            hits: ranked,
            groups: with_group.collect(),
            seen: best.iter().map(|of| of.id.clone()).collect(),
        })
    }

    /// Returns the documents that ken ranks, the best by the score of a query first.
    fn best(&self, query: &Value, field: Option<&str>) -> Result<Vec<Best>, Error> {
        let words = n_words_field();
        let fields: Vec<&str> = ["id", &words].into_iter().chain(field).collect();
        let answer = self.search(json!({
            "query": query,
            "size": WINDOW,
            "sort": [{ "_score": "desc" }, { "loc": "asc" }],
            "stored_fields": "_none_",
            "docvalue_fields": fields,
            "track_total_hits": false,
        }))?;
        let mut best = Vec::new();
        let mut n_words = 0;
        for hit in hits(&answer) {
            let one = Best {
                id: id(hit).to_owned(),
                n_words: n_words_of(hit),
                group: field
                    .map(|field| text(hit, field).to_owned())
                    .filter(|group| !group.is_empty()),
            };
            lock(&self.remembered).note_length(&one.id, one.n_words);
            if one.n_words <= LONG {
                n_words += u64::from(one.n_words);
            }
            if n_words > WINDOW_WORDS {
                break;
            }
            best.push(one);
        }
        Ok(best)
    }
}
