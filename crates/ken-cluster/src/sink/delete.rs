//! Deletes what files had before.

use std::collections::HashMap;

use foldhash::HashSet;
use ken_core::FileKey;
use ken_engine::{Error, MessageId};
use serde_json::{Value, json};

use super::waiting::{Deletion, Sent};
use super::{ClusterSink, lock};
use crate::bulk::{Deed, Item, Outcome};
use crate::http::Method;
use crate::kept;

/// The files whose documents are looked for at once.
const FILES_AT_ONCE: usize = 500;
/// The documents of a page of an answer.
const PAGE: usize = 2_000;

impl ClusterSink {
    /// Executes the deletions of these files that were not executed yet.
    pub(super) fn delete_former(&self, files: &HashSet<FileKey>) -> Result<(), Error> {
        let mut due: Vec<(FileKey, Vec<Deletion>)> = Vec::new();
        let mut files: Vec<&FileKey> = files.iter().collect();
        files.sort_unstable();
        for key in files {
            if let Some(all) = lock(&self.waiting).deletions.get_mut(key)
                && all.iter().any(|deletion| !deletion.is_done)
            {
                all.iter_mut().for_each(|deletion| deletion.is_done = true);
                due.push((*key, all.clone()));
            }
        }
        due.chunks(FILES_AT_ONCE)
            .try_for_each(|due| self.delete_these(due))
    }

    fn delete_these(&self, due: &[(FileKey, Vec<Deletion>)]) -> Result<(), Error> {
        let mut of_files = self.visible(due.iter().map(|(key, _)| *key))?;
        for (key, _) in due {
            let sent = lock(&self.waiting).sent.remove(key).unwrap_or_default();
            of_files.entry(*key).or_default().extend(sent);
        }
        let (mut own, mut parts) = (Vec::new(), Vec::new());
        for (key, deletions) in due {
            let version = |of: &Sent| {
                let all = deletions
                    .iter()
                    .filter(|of_key| of_key.takes(of.is_own, of.message));
                let versions = all.map(|deletion| self.version_of(deletion.moment, true));
                versions.filter(|version| *version > of.version).max()
            };
            // Whether it is there or not: a writer that comes late must find the version.
            let itself = Sent {
                id: kept::key(*key),
                is_own: true,
                message: None,
                version: 0,
            };
            own.extend(version(&itself).map(|version| self.deletion(*key, itself.id, version)));
            let mut kept = Vec::new();
            for of in of_files.remove(key).unwrap_or_default() {
                match version(&of) {
                    Some(_) if of.is_own => {}
                    Some(version) => parts.push(self.deletion(*key, of.id, version)),
                    None => kept.push(of),
                }
            }
            lock(&self.waiting)
                .sent
                .entry(*key)
                .or_default()
                .extend(kept);
        }
        // A file without its own document counts as not finished, whatever parts it still has.
        for items in [own, parts] {
            for outcome in self.write(&items)? {
                if let Outcome::Refused(reason) = outcome {
                    return Err(self.client.error(format!("a deletion: {reason}")));
                }
            }
        }
        Ok(())
    }

    fn deletion(&self, key: FileKey, id: String, version: u64) -> Item {
        Item {
            index: self.names.documents.clone(),
            id,
            routing: Some(kept::key(key)),
            deed: Deed::Delete { version },
        }
    }

    /// Returns the documents of some files that searches find.
    fn visible(
        &self,
        files: impl Iterator<Item = FileKey>,
    ) -> Result<HashMap<FileKey, Vec<Sent>>, Error> {
        let keys: Vec<String> = files.map(kept::key).collect();
        let mut found: HashMap<FileKey, Vec<Sent>> = HashMap::new();
        let mut after = Value::Null;
        loop {
            let mut search = json!({
                "query": { "bool": { "filter": [{ "terms": { "file": keys } }] } },
                "size": PAGE,
                "stored_fields": "_none_",
                "version": true,
                "docvalue_fields": ["id", "file", "own", "group"],
                "sort": [{ "loc": "asc" }, { "group": "asc" }],
                "track_total_hits": false,
            });
            if !after.is_null() {
                search["search_after"] = after;
            }
            let path = format!("/{}/_search", self.names.documents);
            let answer = self.client.ask(Method::Post, &path, &search)?;
            crate::search::check_shards(&self.client, &answer)?;
            let hits = crate::search::hits(&answer);
            for hit in hits {
                let Some(key) = kept::number(crate::search::text(hit, "file")).map(FileKey) else {
                    continue;
                };
                let message = crate::search::text(hit, "group").split_once('-');
                let message = message.and_then(|(_, number)| kept::number(number));
                found.entry(key).or_default().push(Sent {
                    id: crate::search::id(hit).to_owned(),
                    is_own: hit["fields"]["own"][0].as_bool().unwrap_or(false),
                    message: message.map(MessageId::from_number),
                    version: hit["_version"].as_u64().unwrap_or_default(),
                });
            }
            match hits.last() {
                Some(last) if hits.len() == PAGE => after = last["sort"].clone(),
                _ => return Ok(found),
            }
        }
    }
}
