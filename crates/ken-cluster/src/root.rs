//! The one document that describes the index as a whole, and the lease of the one writer.
//!
//! It holds what the payload of a commit holds in the embedded engine, and who may write. It is changed by comparing and
//! exchanging (`if_seq_no`), so of two machines one wins. Each new lease has a greater *term*, and all versions of its
//! writes are greater than those of earlier terms: what a machine sends that lost its lease is refused wherever a newer
//! write was.
//!
//! No clock is shared. A machine that wants a lease watches the document: if it did not change for [`TTL`] on the
//! watcher's own clock, its holder is gone. A holder changes it three times in that time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ken_engine::{Error, Meta};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;
use crate::http::{Method, SMALL};
use crate::layout::Names;

/// The time after which a lease that is not renewed is lost.
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// How often a lease is renewed at once, while each time takes longer than the lease lasts.
const MAX_RENEWALS: u32 = 4;
/// The number of commits of one term.
const COMMITS: u32 = 24;

/// The state of an index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Root {
    pub(crate) meta: Meta,
    /// The last commit; see [`commit_of`].
    pub(crate) commit: u64,
    /// The number of leases so far.
    pub(crate) term: u64,
    /// Who may write, while somebody does.
    #[serde(default)]
    pub(crate) holder: Option<String>,
    /// Commits that a lost lease had under way. Files of them count as not finished.
    #[serde(default)]
    pub(crate) aborted: Vec<u64>,
    /// Changes with each renewal.
    #[serde(default)]
    pub(crate) beat: u64,
    /// The documents that the holder had written at its last renewal, and the seconds that it took.
    #[serde(default)]
    pub(crate) written: (u64, u64),
    /// Whether the last lease ended without anything that its last commit does not have.
    #[serde(default)]
    pub(crate) is_clean: bool,
}

/// Returns the number of a commit: later terms have greater ones.
pub(crate) fn commit_of(term: u64, n: u64) -> u64 {
    term << COMMITS | n
}

impl Root {
    /// Returns whether what was written for a commit is a part of the index.
    pub(crate) fn holds(&self, made: u64) -> bool {
        made <= self.commit && !self.aborted.contains(&made)
    }
}

/// A document with what a change compares.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) root: Root,
    seq_no: u64,
    primary_term: u64,
}

fn path(names: &Names) -> String {
    format!("/{}/_doc/root", names.root)
}

/// Reads the document; none if the index was never made.
pub(crate) fn read(client: &Client, names: &Names) -> Result<Option<Seen>, Error> {
    let (status, value) = client.call_within(SMALL, Method::Get, &path(names), &Value::Null)?;
    match status {
        200 => {}
        404 => return Ok(None),
        status => return Err(client.refused(status, &value)),
    }
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let source = value.get("_source").and_then(|source| source.get("root"));
    let root = source.and_then(Value::as_str).unwrap_or_default();
    let root = serde_json::from_str(root).map_err(|error| Error::Damaged {
        path: client.name(),
        message: format!("its root document: {error}"),
    })?;
    Ok(Some(Seen {
        root,
        seq_no: number("_seq_no"),
        primary_term: number("_primary_term"),
    }))
}

/// Puts a document in place of the one that was seen, or where there was none; none if another machine was faster.
fn exchange(
    client: &Client,
    names: &Names,
    root: &Root,
    seen: Option<&Seen>,
) -> Result<Option<Seen>, Error> {
    let condition = match seen {
        Some(seen) => format!(
            "if_seq_no={}&if_primary_term={}",
            seen.seq_no, seen.primary_term
        ),
        None => "op_type=create".to_owned(),
    };
    let text = serde_json::to_string(root).map_err(|error| client.error(error.to_string()))?;
    let at = format!("{}?{condition}&require_alias=true", path(names));
    let body = json!({ "root": text });
    let (status, value) = client.call_within(SMALL, Method::Put, &at, &body)?;
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    match status {
        200 | 201 => Ok(Some(Seen {
            root: root.clone(),
            seq_no: number("_seq_no"),
            primary_term: number("_primary_term"),
        })),
        // An answer that was lost makes the second call a conflict with the first one.
        409 => Ok(read(client, names)?.filter(|now| is_same(&now.root, root))),
        status => Err(client.refused(status, &value)),
    }
}

fn is_same(one: &Root, other: &Root) -> bool {
    let key = |root: &Root| (root.term, root.holder.clone(), root.beat, root.commit);
    key(one) == key(other)
}

/// The right to write, which a thread renews.
pub(crate) struct Lease {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    client: Arc<Client>,
    names: Names,
    state: Mutex<State>,
    ended: Condvar,
    is_lost: AtomicBool,
    ttl: Duration,
    began: Instant,
    n_written: AtomicU64,
}

struct State {
    seen: Seen,
    /// When the last exchange that succeeded was sent.
    renewed: Instant,
    is_ended: bool,
}

impl Lease {
    /// Takes the lease; makes the document if there is none. Waits for as long as a dead holder's lease lasts.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another machine holds the lease and renews it.
    pub(crate) fn take(
        client: &Arc<Client>,
        names: &Names,
        holder: &str,
        ttl: Duration,
    ) -> Result<Self, Error> {
        let mut watched: Option<(u64, Instant)> = None;
        loop {
            let sent = Instant::now();
            let seen = read(client, names)?;
            if let Some(seen) = &seen
                && seen.root.holder.is_some()
            {
                match watched {
                    Some((seq_no, since)) if seq_no == seen.seq_no => {
                        if since.elapsed() < ttl {
                            std::thread::sleep(ttl / 20);
                            continue;
                        }
                    }
                    Some(_) => return Err(Error::Busy(client.name())),
                    None => {
                        watched = Some((seen.seq_no, Instant::now()));
                        continue;
                    }
                }
            }
            let root = next(seen.as_ref(), holder);
            if let Some(seen) = exchange(client, names, &root, seen.as_ref())? {
                return Ok(Self::start(client, names, seen, sent, ttl));
            }
            watched = None;
        }
    }

    fn start(
        client: &Arc<Client>,
        names: &Names,
        seen: Seen,
        renewed: Instant,
        ttl: Duration,
    ) -> Self {
        let shared = Arc::new(Shared {
            client: Arc::clone(client),
            names: names.clone(),
            state: Mutex::new(State {
                seen,
                renewed,
                is_ended: false,
            }),
            ended: Condvar::new(),
            is_lost: AtomicBool::new(false),
            ttl,
            began: Instant::now(),
            n_written: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || of_thread.renew_until_the_end());
        Self {
            shared,
            thread: Some(thread),
        }
    }

    /// Returns the document as this machine left it.
    pub(crate) fn root(&self) -> Root {
        self.shared.state().seen.root.clone()
    }

    /// Fails if the lease is lost. One that was not renewed in time, as no node could be reached, is renewed first: it is
    /// lost only if another machine has taken it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let shared = &self.shared;
        let mut state = shared.state();
        for _ in 0..MAX_RENEWALS {
            if shared.is_lost.load(Ordering::Relaxed) {
                break;
            }
            if !shared.is_late(&state) {
                return Ok(());
            }
            shared.change(&mut state, &mut |_| {})?;
        }
        Err(shared.lost())
    }

    /// Counts documents that were written, for those who ask how far this machine is.
    pub(crate) fn note_written(&self, n: usize) {
        self.shared.n_written.fetch_add(n as u64, Ordering::Relaxed);
    }

    /// Changes the document.
    pub(crate) fn change(&self, change: &mut dyn FnMut(&mut Root)) -> Result<(), Error> {
        self.check()?;
        self.shared.change(&mut self.shared.state(), change)
    }

    /// Gives the lease back, so that the next writer need not wait.
    pub(crate) fn end(mut self, is_clean: bool) -> Result<(), Error> {
        self.stop();
        let shared = &self.shared;
        let is_lost = shared.is_lost.load(Ordering::Relaxed) || shared.is_late(&shared.state());
        match is_lost {
            false => self.change(&mut |root| {
                root.holder = None;
                root.is_clean = is_clean;
            }),
            // Another machine has it, or may have it.
            true => Ok(()),
        }
    }

    fn stop(&mut self) {
        self.shared.state().is_ended = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether another machine may have taken over.
    fn is_late(&self, state: &State) -> bool {
        state.renewed.elapsed() >= self.ttl
    }

    fn lost(&self) -> Error {
        self.client
            .error("another machine has taken over the writing".to_owned())
    }

    fn change(
        &self,
        state: &mut MutexGuard<'_, State>,
        change: &mut dyn FnMut(&mut Root),
    ) -> Result<(), Error> {
        let sent = Instant::now();
        let mut root = state.seen.root.clone();
        change(&mut root);
        root.written = (
            self.n_written.load(Ordering::Relaxed),
            self.began.elapsed().as_secs(),
        );
        root.beat += 1;
        match exchange(&self.client, &self.names, &root, Some(&state.seen))? {
            Some(seen) => {
                state.seen = seen;
                state.renewed = sent;
                Ok(())
            }
            None => {
                self.is_lost.store(true, Ordering::Relaxed);
                Err(self.lost())
            }
        }
    }

    fn renew_until_the_end(&self) {
        let mut state = self.state();
        while !state.is_ended && !self.is_lost.load(Ordering::Relaxed) {
            let waited = self.ended.wait_timeout(state, self.ttl / 3);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_ended {
                // A node that does not answer is asked again next time; the check notices if that takes too long.
                let _ = self.change(&mut state, &mut |_| {});
            }
        }
    }
}

/// Returns the document with which a lease begins.
fn next(seen: Option<&Seen>, holder: &str) -> Root {
    let mut root = match seen {
        Some(seen) => seen.root.clone(),
        None => Root {
            meta: Meta::new(),
            commit: 0,
            term: 0,
            holder: None,
            aborted: Vec::new(),
            beat: 0,
            written: (0, 0),
            is_clean: true,
        },
    };
    if !std::mem::take(&mut root.is_clean) {
        let under_way = match root.commit >> COMMITS == root.term {
            true => root.commit + 1,
            false => commit_of(root.term, 1),
        };
        root.aborted.retain(|made| *made != under_way);
        root.aborted.push(under_way);
    }
    root.term += 1;
    root.holder = Some(holder.to_owned());
    root.written = (0, 0);
    root.beat += 1;
    root
}
