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

mod aborted;
mod delete;
mod send;
mod shared;
mod waiting;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use foldhash::HashSet;
use ken_core::FileKey;
use ken_engine::{Error, Meta, Record, Scope, Sequence, Shares, Sink};
use serde_json::Value;

use self::waiting::{Added, Batch, Deletion, Waiting};
use crate::bulk::{self, Deed, Item, Outcome};
use crate::client::Client;
use crate::encode::{self, Encoded};
use crate::http::Method;
use crate::layout::{self, Names};
use crate::lease::{Lease, Taker};
use crate::root::{Root, Seen, commit_of};
use crate::shares::{self, RunShares};

/// The bytes of documents that wait to be sent together.
const BATCH_BYTES: usize = 6 << 20;
/// The most documents that wait.
const BATCH_DOCUMENTS: usize = 2_000;
/// The bits of a version that hold a moment: 8 × 10⁹ documents and deletions of one lease. The other 29 hold the lease (versions
/// of OpenSearch have a sign), and each share of a run has one of its own.
const MOMENTS: u32 = 34;

/// The writer of an index in a cluster, or of a share of the work of another one.
pub(crate) struct ClusterSink {
    client: Arc<Client>,
    names: Names,
    lease: Mutex<Option<Lease>>,
    term: u64,
    /// What it shares with others, if it is the writer of the run.
    shares: RunShares,
    /// Its share, if it is not.
    share: Option<Share>,
    /// The names of the index that this one takes the place of with its first commit.
    instead_of: Option<Names>,
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

/// A share of a run.
#[derive(Clone, Copy)]
struct Share {
    /// The term of the run.
    run: u64,
    number: u64,
}

impl ClusterSink {
    /// Opens the index for writing.
    pub(crate) fn open(taker: &Taker<'_>) -> Result<Self, Error> {
        let lease = Lease::take(taker)?;
        if let Some((run, n_shares)) = lease.dead {
            // One more may be described that it did not come to offer. They take some space, and do no harm.
            let numbers: Vec<u64> = (1..=n_shares + 1).collect();
            let check = || lease.check();
            let _ = shares::forget(taker.client, taker.names, run, &numbers, &check);
        }
        Ok(Self::new(taker, lease, None))
    }

    /// Opens an empty index beside the one that is there, whose place it takes when it is committed. `make` makes the index
    /// of documents with an alias.
    pub(crate) fn open_beside(
        taker: &Taker<'_>,
        make: impl FnOnce(&Names) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut sink = Self::open(taker)?;
        let new = format!("{}-{}", taker.names.documents, sink.term);
        // Whoever takes the run after this machine deletes it.
        sink.with_lease(|lease| lease.change(&mut |root| root.growing = Some(new.clone())))?;
        sink.names.documents = new;
        sink.instead_of = Some(taker.names.clone());
        make(&sink.names)?;
        Ok(sink)
    }

    /// Deletes the indices that a machine left, or put another one in the place of.
    pub(crate) fn clean(&self) -> Result<(), Error> {
        let root = self.with_lease(|lease| Ok(lease.root()))?;
        self.forget_aborted(&root)?;
        let old: Vec<String> = root.growing.into_iter().chain(root.former).collect();
        if old.is_empty() {
            return Ok(());
        }
        for alias in &old {
            layout::delete(&self.client, alias)?;
        }
        self.with_lease(|lease| {
            lease.change(&mut |root| (root.growing, root.former) = (None, None))
        })
    }

    /// Fails if the index has another schema than this ken writes.
    pub(crate) fn check_schema(&self) -> Result<(), Error> {
        let checked = self.with_lease(|lease| lease.root().schema.check(&self.client));
        if checked.is_err() {
            self.end(None)?;
        }
        checked
    }

    /// Claims a share of the run that was seen; none if another machine was faster.
    pub(crate) fn claim(
        taker: &Taker<'_>,
        seen: &Seen,
        number: u64,
    ) -> Result<Option<Self>, Error> {
        let claimed = Lease::claim(taker, seen, number)?;
        Ok(claimed.map(|(lease, run)| Self::new(taker, lease, Some(Share { run, number }))))
    }

    fn new(taker: &Taker<'_>, lease: Lease, share: Option<Share>) -> Self {
        Self {
            client: Arc::clone(taker.client),
            names: lease.root().names(taker.names),
            term: lease.term(),
            meta: lease.root().meta,
            lease: Mutex::new(Some(lease)),
            shares: RunShares::new(taker.ttl),
            share,
            instead_of: None,
            n_commits: AtomicU64::new(0),
            sequence: AtomicU64::new(0),
            waiting: Mutex::default(),
            under_way: Mutex::default(),
            acknowledged: Condvar::new(),
            words: Mutex::default(),
            gate: RwLock::new(()),
            has_written: AtomicBool::new(false),
            dead: OnceLock::new(),
        }
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

    /// Writes items for as long as this machine has its lease; returns the outcome of each.
    fn write(&self, items: &[Item]) -> Result<Vec<Outcome>, Error> {
        bulk::write(&self.client, items, &|| self.check())
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
        // A commit forgets all deletions when it ends, as it has executed them.
        let _gate = self.gate.read().unwrap_or_else(PoisonError::into_inner);
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
        // A share commits documents only; the run that it is a part of commits the meta.
        let meta = match self.share {
            Some(_) => None,
            None => Some(prepare()?),
        };
        self.check()?;
        let path = format!("/{},{}/_refresh", self.names.words, self.names.documents);
        let refreshed = self.client.ask(Method::Post, &path, &Value::Null);
        let refreshed =
            refreshed.and_then(|answer| crate::search::check_shards(&self.client, &answer));
        refreshed.map_err(|error| self.fail(error))?;
        let is_first = self.n_commits.load(Ordering::Relaxed) == 0;
        if let Some(lease) = &*lock(&self.lease) {
            let mut change = |root: &mut Root| {
                if let Some(meta) = &meta {
                    root.meta = meta.clone();
                }
                if let Some(names) = self.instead_of.as_ref().filter(|_| is_first) {
                    root.exchange(names, &self.names.documents);
                }
                root.commit(self.term);
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

    fn shares(&self) -> Option<&dyn Shares> {
        self.share.is_none().then_some(self)
    }

    fn finish(self: Box<Self>, outcome: &str) -> Result<(), Error> {
        self.end(Some(outcome))
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        self.end(None)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
