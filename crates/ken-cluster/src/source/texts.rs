//! Documents with their texts, as the cluster keeps them.
//!
//! Texts are what a question to a cluster costs most. They are fetched in pages by their lengths, and some are remembered.

use std::collections::HashMap;
use std::sync::Arc;

use ken_core::Field;
use ken_engine::{Error, Record};
use serde_json::{Value, json};

use super::{ClusterSource, by_location, id, ids_query, lock};
use crate::kept::Kept;
use crate::layout;
use crate::search::hits;

/// The most documents of a page of an answer with texts.
pub(super) const TEXTS_PAGE: usize = 200;
/// The most words of the texts of a page: some 16 MB.
const WORDS_PAGE: u64 = 2_000_000;
/// The most documents whose lengths are not asked for first.
const FEW: usize = 10;
/// The most words of a text that is fetched before anybody asks for it.
const PREFETCHED_WORDS: u32 = 50_000;
/// The bytes of fetched documents that are remembered for the next question.
const REMEMBERED_BYTES: usize = 32 << 20;
/// The documents of which the length is remembered.
const REMEMBERED_LENGTHS: usize = 100_000;

/// A document as the cluster keeps it.
pub(super) struct Fetched {
    doc: String,
    body: String,
}

impl Fetched {
    pub(super) fn record(&self) -> Option<Record> {
        let kept: Kept = serde_json::from_str(&self.doc).ok()?;
        kept.into_record(self.body.clone())
    }
}

/// Documents that were fetched.
#[derive(Default)]
pub(super) struct Remembered {
    records: HashMap<String, Arc<Fetched>>,
    bytes: usize,
    lengths: HashMap<String, u32>,
}

impl Remembered {
    pub(super) fn n_words(&self, id: &str) -> Option<u32> {
        self.lengths.get(id).copied()
    }

    pub(super) fn note_length(&mut self, id: &str, n_words: u32) {
        if self.lengths.len() >= REMEMBERED_LENGTHS {
            self.lengths.clear();
        }
        self.lengths.insert(id.to_owned(), n_words);
    }

    fn note(&mut self, id: &str, fetched: &Arc<Fetched>) {
        if self.bytes >= REMEMBERED_BYTES {
            self.records.clear();
            self.bytes = 0;
        }
        self.bytes += fetched.doc.len() + fetched.body.len();
        self.records.insert(id.to_owned(), Arc::clone(fetched));
    }
}

/// Returns the field with the number of words of a text.
pub(super) fn n_words_field() -> String {
    layout::length(Field::Body)
}

/// Returns the number of words of the text of a hit.
pub(super) fn n_words_of(hit: &Value) -> u32 {
    let n = hit["fields"][n_words_field()][0].as_u64();
    n.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

pub(super) fn fetched(hit: &Value) -> Fetched {
    let source = &hit["_source"];
    let body = match &source["body"] {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    };
    Fetched {
        doc: source["doc"].as_str().unwrap_or_default().to_owned(),
        body,
    }
}

/// Divides documents, each with the number of its words, into pages.
pub(super) fn pages(documents: &[(String, u32)]) -> Vec<&[(String, u32)]> {
    let mut pages = Vec::new();
    let mut rest = documents;
    while !rest.is_empty() {
        let mut n_words = 0;
        let fit = rest.iter().take(TEXTS_PAGE).take_while(|(_, n)| {
            n_words += u64::from(*n);
            n_words <= WORDS_PAGE
        });
        let (page, next) = rest.split_at(fit.count().max(1));
        pages.push(page);
        rest = next;
    }
    pages
}

impl ClusterSource {
    /// Returns all documents that a query finds, each with the number of words of its text, in the order of their locations.
    pub(super) fn with_lengths(&self, query: &Value) -> Result<Vec<(String, u32)>, Error> {
        let mut found = Vec::new();
        let field = n_words_field();
        self.each_hit(query, &by_location(), &[&field], &mut |hit| {
            found.push((id(hit).to_owned(), n_words_of(hit)));
            true
        })?;
        Ok(found)
    }

    /// Returns documents by their identifiers, in this order.
    pub(super) fn fetch(&self, ids: &[String]) -> Result<Vec<Arc<Fetched>>, Error> {
        let mut known: HashMap<String, Arc<Fetched>> = HashMap::new();
        let mut missing: Vec<(String, u32)> = Vec::new();
        {
            let remembered = lock(&self.remembered);
            for id in ids {
                match remembered.records.get(id) {
                    Some(record) => _ = known.insert(id.clone(), Arc::clone(record)),
                    None => missing.push((id.clone(), remembered.n_words(id).unwrap_or(u32::MAX))),
                }
            }
        }
        let is_unknown = missing.iter().any(|(_, n_words)| *n_words == u32::MAX);
        if missing.len() <= FEW {
            missing.iter_mut().for_each(|(_, n_words)| *n_words = 0);
        } else if is_unknown {
            let ids: Vec<String> = missing.into_iter().map(|(id, _)| id).collect();
            missing = Vec::new();
            for some in ids.chunks(super::IDS_AT_ONCE) {
                missing.extend(self.with_lengths(&ids_query(some))?);
            }
        }
        for page in pages(&missing) {
            self.fetch_page(page, &mut known)?;
        }
        let missing = |id: &String| {
            self.client
                .error(format!("the document {id} was in the answer and is gone"))
        };
        let all = ids
            .iter()
            .map(|id| known.get(id).cloned().ok_or_else(|| missing(id)));
        all.collect()
    }

    /// Fetches documents that somebody will ask for one by one, but for long ones.
    pub(super) fn prefetch(&self, mut ids: Vec<String>) -> Result<(), Error> {
        {
            let remembered = lock(&self.remembered);
            ids.retain(|id| {
                remembered
                    .n_words(id)
                    .is_some_and(|n| n <= PREFETCHED_WORDS)
            });
        }
        self.fetch(&ids).map(drop)
    }

    fn fetch_page(
        &self,
        page: &[(String, u32)],
        known: &mut HashMap<String, Arc<Fetched>>,
    ) -> Result<(), Error> {
        let ids: Vec<&String> = page.iter().map(|(id, _)| id).collect();
        // What is stored is no more than this, and is taken as it is.
        let answer = self.search(json!({
            "query": { "ids": { "values": ids } },
            "size": page.len(),
            "docvalue_fields": ["id", n_words_field()],
            "track_total_hits": false,
        }))?;
        let mut remembered = lock(&self.remembered);
        for hit in hits(&answer) {
            let fetched = Arc::new(fetched(hit));
            remembered.note(id(hit), &fetched);
            remembered.note_length(id(hit), n_words_of(hit));
            known.insert(id(hit).to_owned(), fetched);
        }
        Ok(())
    }

    pub(super) fn records(&self, ids: &[String]) -> Result<Vec<Record>, Error> {
        let all = self.fetch(ids)?.into_iter();
        let all = all.map(|fetched| fetched.record().ok_or_else(|| self.damaged()));
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_small_and_hold_everything() {
        let of = |lengths: &[u32]| {
            let documents: Vec<(String, u32)> =
                lengths.iter().map(|n| (String::new(), *n)).collect();
            let pages = pages(&documents);
            pages.iter().map(|page| page.len()).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [0; 0]);
        assert_eq!(of(&[1; 450]), [200, 200, 50]);
        assert_eq!(
            of(&[1_500_000, 400_000, 200_000, 9_000_000, 1]),
            [2, 1, 1, 1]
        );
    }
}
