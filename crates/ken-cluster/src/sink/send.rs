//! Sends what waits, in the order in which it must arrive.

use std::sync::PoisonError;

use foldhash::HashSet;
use ken_core::{Cause, Failure, Field, FileKey};
use ken_engine::Error;
use serde_json::{Value, json};

use super::waiting::{Added, Batch, Sent};
use super::{ClusterSink, lock};
use crate::bulk::{Deed, Item, Outcome};
use crate::encode;
use crate::kept::{self, Kept};

/// The words that a writer remembers; more are sent again.
const MAX_WORDS: usize = 4_000_000;

impl ClusterSink {
    /// Adds items for those words that the cluster may lack to a batch.
    pub(super) fn add_words(&self, words: &HashSet<(Field, String)>, batch: &mut Batch) {
        let known = lock(&self.words);
        let mut words: Vec<_> = words.iter().collect();
        words.sort_unstable();
        for (field, term) in words {
            let id = format!("{}:{term}", field.name());
            let hash = kept::hash(id.as_bytes());
            if known.contains(&hash) || !batch.hashes.insert(hash) {
                continue;
            }
            let second = kept::hash(format!("{id}:").as_bytes());
            let item = Item {
                index: self.names.words.clone(),
                id: format!("{}{}", kept::number_text(hash), kept::number_text(second)),
                routing: None,
                deed: Deed::Create {
                    source: json!({ "field": field.name(), "term": term }).to_string(),
                },
            };
            batch.bytes += item.bytes();
            batch.words.push(item);
        }
    }

    /// Sends what waits.
    pub(super) fn flush(&self, mut batch: Batch) -> Result<(), Error> {
        let sent = self.flush_in_order(&mut batch);
        // Nobody waits for parts that will not come.
        self.settle(&batch.parts);
        sent.map_err(|error| self.fail(error))
    }

    fn flush_in_order(&self, batch: &mut Batch) -> Result<(), Error> {
        for (item, outcome) in batch.words.iter().zip(self.write(&batch.words)?) {
            if let Outcome::Refused(reason) = outcome {
                return Err(self.client.error(format!("the word {}: {reason}", item.id)));
            }
        }
        self.note_words(std::mem::take(&mut batch.hashes));
        let deleted = self.take_deleted(&mut batch.parts);
        self.settle(&deleted);
        self.send(&mut batch.parts)?;
        self.settle(&std::mem::take(&mut batch.parts));
        let files: HashSet<FileKey> = batch.own.iter().map(|added| added.key).collect();
        self.wait_for_parts(&files)?;
        self.delete_former(&files)?;
        self.take_deleted(&mut batch.own);
        self.send(&mut batch.own)
    }

    fn note_words(&self, hashes: HashSet<u64>) {
        let mut known = lock(&self.words);
        if known.len() >= MAX_WORDS {
            known.clear();
        }
        known.extend(hashes);
    }

    /// Writes documents. One that the cluster cannot take is written as a failure.
    fn send(&self, added: &mut [Added]) -> Result<(), Error> {
        let items: Vec<Item> = added.iter().map(|of| of.item.clone()).collect();
        let outcomes = self.write(&items)?;
        let refused = added
            .iter_mut()
            .zip(outcomes)
            .filter_map(|(added, outcome)| {
                let Outcome::Refused(reason) = outcome else {
                    return None;
                };
                Some((added, reason))
            });
        let mut again = Vec::new();
        for (added, reason) in refused {
            self.reduce(&mut added.item, &reason)?;
            again.push(added.item.clone());
        }
        for (item, outcome) in again.iter().zip(self.write(&again)?) {
            if let Outcome::Refused(reason) = outcome {
                return Err(self
                    .client
                    .error(format!("the document {}: {reason}", item.id)));
            }
        }
        if let Some(lease) = &*lock(&self.lease) {
            lease.note_written(added.len());
        }
        let mut waiting = lock(&self.waiting);
        for added in added.iter() {
            waiting.sent.entry(added.key).or_default().push(Sent {
                id: added.item.id.clone(),
                is_own: added.item.id == kept::key(added.key),
                message: added.message,
                version: added.version,
            });
        }
        Ok(())
    }

    /// Takes out those documents that were deleted after they were added.
    fn take_deleted(&self, added: &mut Vec<Added>) -> Vec<Added> {
        let waiting = lock(&self.waiting);
        let is_deleted = |of: &Added| {
            let is_own = of.item.id == kept::key(of.key);
            let deletions = waiting
                .deletions
                .get(&of.key)
                .map_or(&[][..], Vec::as_slice);
            deletions.iter().any(|deletion| {
                self.version_of(deletion.moment, true) > of.version
                    && deletion.takes(is_own, of.message)
            })
        };
        let (deleted, left) = std::mem::take(added).into_iter().partition(is_deleted);
        *added = left;
        deleted
    }

    /// Replaces a document that the cluster refuses by a failure.
    fn reduce(&self, item: &mut Item, reason: &str) -> Result<(), Error> {
        let Deed::Index { source, .. } = &mut item.deed else {
            return Ok(());
        };
        let value: Value = serde_json::from_str(source).unwrap_or_default();
        let kept = value.get("doc").and_then(Value::as_str).unwrap_or_default();
        let kept: Option<Kept> = serde_json::from_str(kept).ok();
        let record = kept.and_then(|kept| kept.into_record(String::new()));
        let Some(mut record) = record else {
            return Err(self
                .client
                .error(format!("the document {}: {reason}", item.id)));
        };
        let keeps = [Field::Filename, Field::Modified, Field::Date, Field::Size];
        record
            .document
            .fields
            .retain(|(field, _)| keeps.contains(field));
        record.document.failure = Some(Failure::new(Cause::BuiltIn {
            what: format!("the cluster refused it ({reason})"),
        }));
        *source = encode::encode(record, self.next_commit(), &self.meta.hasher)?.source;
        Ok(())
    }

    fn settle(&self, parts: &[Added]) {
        let mut under_way = lock(&self.under_way);
        for part in parts {
            if let Some(n) = under_way.get_mut(&part.key) {
                *n -= 1;
                if *n == 0 {
                    under_way.remove(&part.key);
                }
            }
        }
        self.acknowledged.notify_all();
    }

    /// Waits until other threads have got the acknowledgements of parts of these files.
    fn wait_for_parts(&self, files: &HashSet<FileKey>) -> Result<(), Error> {
        let mut under_way = lock(&self.under_way);
        while files.iter().any(|key| under_way.contains_key(key)) {
            if let Some(cause) = self.dead.get() {
                return Err(self.client.error(cause.clone()));
            }
            let waited = self.acknowledged.wait(under_way);
            under_way = waited.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}
