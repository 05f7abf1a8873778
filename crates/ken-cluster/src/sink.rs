//! Writing: the [`Sink`] of a cluster.
//!
//! There is no transaction over several documents, so the order of writes takes its place:
//!
//! 1. new words, before the documents that have them,
//! 2. the parts of a file, acknowledged one by one,
//! 3. the deletions of what the file had before, the file's own document first,
//! 4. the file's own document, which says that the file is finished.
//!
//! After a crash at any point a file without its own document is read again. Versions order what is written: that of a
//! document is twice the moment at which it was added and one, that of a deletion twice its own moment, both behind the term
//! of the lease. So a write that arrives twice changes nothing, one that arrives late is refused, and a document that was
//! added before a deletion does not come back after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use foldhash::HashSet;
use ken_core::{Cause, Failure, Field, FileKey};
use ken_engine::{Error, MessageId, Meta, Record, Scope, Sequence, Sink};
use serde_json::{Value, json};

use crate::bulk::{self, Deed, Item, Outcome};
use crate::client::Client;
use crate::encode::{self, Encoded};
use crate::http::Method;
use crate::kept::{self, Kept};
use crate::layout::Names;
use crate::root::{Lease, commit_of};

/// The bytes of documents that wait to be sent together.
const BATCH_BYTES: usize = 6 << 20;
/// The most documents that wait.
const BATCH_DOCUMENTS: usize = 2_000;
/// The bits of a version that hold a moment.
const MOMENTS: u32 = 40;
/// The words that a writer remembers; more are sent again.
const MAX_WORDS: usize = 4_000_000;
/// The files whose documents are looked for at once.
const FILES_AT_ONCE: usize = 500;
/// The documents of a page of an answer.
const PAGE: usize = 2_000;

/// The one writer of an index in a cluster.
pub(crate) struct ClusterSink {
    client: Arc<Client>,
    names: Names,
    lease: Mutex<Option<Lease>>,
    term: u64,
    meta: Meta,
    /// The commits of this lease.
    n_commits: AtomicU64,
    sequence: AtomicU64,
    waiting: Mutex<Waiting>,
    /// Parts that were taken and not acknowledged yet, by file.
    under_way: Mutex<HashMap<FileKey, usize>>,
    acknowledged: Condvar,
    /// Hashes of words that the cluster has.
    words: Mutex<HashSet<u64>>,
    /// Held for writing while a commit is made.
    gate: RwLock<()>,
    has_written: AtomicBool,
    /// The error after which nothing can be written.
    dead: OnceLock<String>,
}

/// What was added and is not sent yet, and what was deleted since the last commit.
#[derive(Default)]
struct Waiting {
    batch: Batch,
    deletions: HashMap<FileKey, Vec<Deletion>>,
    /// Documents that were sent since the last commit, which no search finds yet.
    sent: HashMap<FileKey, Vec<Sent>>,
}

#[derive(Clone, Copy)]
struct Deletion {
    scope: Scope,
    moment: u64,
    is_done: bool,
}

/// A document that is in the cluster.
struct Sent {
    id: String,
    is_own: bool,
    message: Option<MessageId>,
    version: u64,
}

#[derive(Default)]
struct Batch {
    words: Vec<Item>,
    /// Hashes of these words.
    hashes: HashSet<u64>,
    parts: Vec<Added>,
    own: Vec<Added>,
    bytes: usize,
}

struct Added {
    key: FileKey,
    message: Option<MessageId>,
    version: u64,
    item: Item,
}

impl Deletion {
    fn takes(&self, is_own: bool, message: Option<MessageId>) -> bool {
        match self.scope {
            Scope::File => true,
            Scope::Own => is_own,
            Scope::Message(of) => message == Some(of),
        }
    }
}

impl ClusterSink {
    /// Opens the index for writing.
    pub(crate) fn open(
        client: &Arc<Client>,
        names: &Names,
        holder: &str,
        ttl: Duration,
    ) -> Result<Self, Error> {
        let lease = Lease::take(client, names, holder, ttl)?;
        let root = lease.root();
        Ok(Self {
            client: Arc::clone(client),
            names: names.clone(),
            lease: Mutex::new(Some(lease)),
            term: root.term,
            meta: root.meta,
            n_commits: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
            waiting: Mutex::default(),
            under_way: Mutex::default(),
            acknowledged: Condvar::new(),
            words: Mutex::default(),
            gate: RwLock::new(()),
            has_written: AtomicBool::new(false),
            dead: OnceLock::new(),
        })
    }

    fn next_commit(&self) -> u64 {
        commit_of(self.term, self.n_commits.load(Ordering::Relaxed) + 1)
    }

    fn version_of(&self, moment: u64, is_deletion: bool) -> u64 {
        self.term << MOMENTS | (2 * moment + u64::from(!is_deletion))
    }

    fn check(&self) -> Result<(), Error> {
        if let Some(cause) = self.dead.get() {
            return Err(self.client.error(cause.clone()));
        }
        let lease = lock(&self.lease);
        match &*lease {
            Some(lease) => lease.check().map_err(|error| self.fail(error)),
            None => Ok(()),
        }
    }

    /// Ends the sink after an error: documents may be missing that a commit must not miss.
    fn fail(&self, error: Error) -> Error {
        let _ = self.dead.set(error.to_string());
        // Threads that wait for an acknowledgement look again.
        self.acknowledged.notify_all();
        error
    }

    fn item(&self, encoded: &Encoded, source: String, version: u64) -> Item {
        Item {
            index: self.names.documents.clone(),
            id: encoded.id.clone(),
            routing: Some(encoded.file.clone()),
            deed: Deed::Index { version, source },
        }
    }

    /// Adds items for those words that the cluster may lack to a batch.
    fn add_words(&self, words: &HashSet<(Field, String)>, batch: &mut Batch) {
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
    fn flush(&self, mut batch: Batch) -> Result<(), Error> {
        let sent = self.flush_in_order(&mut batch);
        // Nobody waits for parts that will not come.
        self.settle(&batch.parts);
        sent.map_err(|error| self.fail(error))
    }

    fn flush_in_order(&self, batch: &mut Batch) -> Result<(), Error> {
        self.check()?;
        for (item, outcome) in batch
            .words
            .iter()
            .zip(bulk::write(&self.client, &batch.words)?)
        {
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
        self.check()?;
        let items: Vec<Item> = added.iter().map(|of| of.item.clone()).collect();
        let outcomes = bulk::write(&self.client, &items)?;
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
        for (item, outcome) in again.iter().zip(bulk::write(&self.client, &again)?) {
            if let Outcome::Refused(reason) = outcome {
                return Err(self
                    .client
                    .error(format!("the document {}: {reason}", item.id)));
            }
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

    /// Executes the deletions of these files that were not executed yet.
    fn delete_former(&self, files: &HashSet<FileKey>) -> Result<(), Error> {
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
            self.check()?;
            for outcome in bulk::write(&self.client, &items)? {
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

    fn take_batch(&self, waiting: &mut MutexGuard<'_, Waiting>) -> Batch {
        std::mem::take(&mut waiting.batch)
    }
}

impl Sink for ClusterSink {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn now(&self) -> Sequence {
        Sequence(self.sequence.load(Ordering::Relaxed))
    }

    fn add_at(&self, moment: Sequence, record: Record) -> Result<(), Error> {
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        self.has_written.store(true, Ordering::Relaxed);
        let key = record.key;
        let mut encoded = encode::encode(record, self.next_commit(), &self.meta.hasher)?;
        let version = self.version_of(moment.0, false);
        let source = std::mem::take(&mut encoded.source);
        let added = Added {
            key,
            message: encoded.message,
            version,
            item: self.item(&encoded, source, version),
        };
        let mut waiting = lock(&self.waiting);
        waiting.batch.bytes += added.item.bytes();
        self.add_words(&encoded.words, &mut waiting.batch);
        match encoded.is_own {
            true => waiting.batch.own.push(added),
            false => {
                *lock(&self.under_way).entry(key).or_default() += 1;
                waiting.batch.parts.push(added);
            }
        }
        let n = waiting.batch.own.len() + waiting.batch.parts.len();
        if waiting.batch.bytes < BATCH_BYTES && n < BATCH_DOCUMENTS {
            return Ok(());
        }
        let batch = self.take_batch(&mut waiting);
        drop(waiting);
        self.flush(batch)
    }

    fn delete(&self, key: FileKey, scope: Scope) {
        self.has_written.store(true, Ordering::Relaxed);
        let moment = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        let mut waiting = lock(&self.waiting);
        waiting.deletions.entry(key).or_default().push(Deletion {
            scope,
            moment,
            is_done: false,
        });
    }

    fn commit_with(&self, prepare: &mut dyn FnMut() -> Result<Meta, Error>) -> Result<(), Error> {
        let _gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let batch = self.take_batch(&mut lock(&self.waiting));
        self.flush(batch)?;
        let files: HashSet<FileKey> = lock(&self.waiting).deletions.keys().copied().collect();
        self.delete_former(&files)
            .map_err(|error| self.fail(error))?;
        let meta = prepare()?;
        self.check()?;
        let path = format!("/{},{}/_refresh", self.names.words, self.names.documents);
        let refreshed = self.client.ask(Method::Post, &path, &Value::Null);
        let refreshed =
            refreshed.and_then(|answer| crate::search::check_shards(&self.client, &answer));
        refreshed.map_err(|error| self.fail(error))?;
        let commit = self.next_commit();
        if let Some(lease) = &*lock(&self.lease) {
            let mut change = |root: &mut crate::root::Root| {
                root.meta = meta.clone();
                root.commit = commit;
            };
            lease
                .change(&mut change)
                .map_err(|error| self.fail(error))?;
        }
        self.n_commits.fetch_add(1, Ordering::Relaxed);
        self.has_written.store(false, Ordering::Relaxed);
        let mut waiting = lock(&self.waiting);
        waiting.deletions.clear();
        waiting.sent.clear();
        Ok(())
    }

    fn set_synced(&self, _: bool) {}

    fn set_bulk(&self, _: bool) {}

    fn close(self: Box<Self>) -> Result<(), Error> {
        let is_clean = !self.has_written.load(Ordering::Relaxed);
        match lock(&self.lease).take() {
            Some(lease) => lease.end(is_clean),
            None => Ok(()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
