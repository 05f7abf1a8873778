//! The right to write, which a thread renews.
//!
//! No clock is shared. A machine that wants the lease of another one watches it: if it did not change for [`TTL`] on the
//! watcher's own clock, its holder is gone. A holder changes it three times in that time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ken_engine::Error;

use crate::client::Client;
use crate::clock;
use crate::layout::Names;
use crate::root::{self, Held, Root, Seen};

/// The time after which a lease that is not renewed is lost.
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// How often a lease is renewed at once, while each time takes longer than the lease lasts.
const MAX_RENEWALS: u32 = 4;
/// How often a change is tried again because another machine was faster.
const MAX_CONFLICTS: u32 = 200;

/// Watches leases of other machines, by the random numbers of their holders.
#[derive(Default)]
pub(crate) struct Watch(HashMap<u64, (u64, Instant)>);

impl Watch {
    /// Returns whether a lease did not change for a time.
    pub(crate) fn is_over(&mut self, lease: &Held, ttl: Duration) -> bool {
        let now = Instant::now();
        let (beat, since) = self.0.entry(lease.by).or_insert((lease.beat, now));
        if *beat != lease.beat {
            (*beat, *since) = (lease.beat, now);
        }
        lease.holder.is_empty() || since.elapsed() >= ttl
    }
}

/// The right to write.
pub(crate) struct Lease {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The term of the run that it took over from a machine that is gone, and the number of its shares.
    pub(crate) dead: Option<(u64, u64)>,
}

struct Shared {
    client: Arc<Client>,
    names: Names,
    term: u64,
    state: Mutex<State>,
    ended: Condvar,
    is_lost: AtomicBool,
    ttl: Duration,
    began: Instant,
    n_written: AtomicU64,
    /// How far the run is.
    far: Mutex<String>,
}

struct State {
    seen: Seen,
    /// When the last exchange that succeeded was sent, by [`clock`].
    renewed: Duration,
    is_ended: bool,
}

/// Who takes a lease.
pub(crate) struct Taker<'t> {
    pub(crate) client: &'t Arc<Client>,
    pub(crate) names: &'t Names,
    pub(crate) holder: &'t str,
    pub(crate) ttl: Duration,
    /// What this process has seen of the lease of the run.
    pub(crate) watch: &'t Mutex<Watch>,
}

impl Lease {
    /// Takes the lease of the run; makes the document if there is none. Waits for as long as a dead holder's lease lasts.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another machine holds the lease and renews it.
    pub(crate) fn take(taker: &Taker<'_>) -> Result<Self, Error> {
        let mut first: Option<(u64, u64)> = None;
        loop {
            let seen = root::read(taker.client, taker.names)?;
            if let Some(run) = seen.as_ref().and_then(|seen| seen.root.run()) {
                let is_over = lock(taker.watch).is_over(run, taker.ttl);
                let now = (run.term, run.beat);
                if *first.get_or_insert(now) != now {
                    return Err(taker.busy());
                }
                if !is_over {
                    std::thread::sleep(taker.ttl / 20);
                    continue;
                }
            }
            let mut root = seen
                .as_ref()
                .map_or_else(Root::new, |seen| seen.root.clone());
            let dead = root.run().map(|run| (run.term, root.work.n_shares));
            // What it had under way is not a part of the index, nor is what others did for it.
            root.end_run(false);
            if let Some(mut lease) = taker.begin(root, seen.as_ref(), None)? {
                lease.dead = dead;
                return Ok(lease);
            }
        }
    }

    /// Takes the lease on a share that is offered, and returns it with the term of the run; none if another machine was faster.
    pub(crate) fn claim(
        taker: &Taker<'_>,
        seen: &Seen,
        share: u64,
    ) -> Result<Option<(Self, u64)>, Error> {
        let mut root = seen.root.clone();
        let Some(run) = root.run().map(|run| run.term) else {
            return Ok(None);
        };
        root.work.offered.retain(|offered| *offered != share);
        let lease = taker.begin(root, Some(seen), Some(share))?;
        Ok(lease.map(|lease| (lease, run)))
    }

    fn start(taker: &Taker<'_>, seen: Seen, term: u64, renewed: Duration) -> Self {
        let shared = Arc::new(Shared {
            client: Arc::clone(taker.client),
            names: taker.names.clone(),
            term,
            state: Mutex::new(State {
                seen,
                renewed,
                is_ended: false,
            }),
            ended: Condvar::new(),
            is_lost: AtomicBool::new(false),
            ttl: taker.ttl,
            began: Instant::now(),
            n_written: AtomicU64::new(0),
            far: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || of_thread.renew_until_the_end());
        Self {
            shared,
            thread: Some(thread),
            dead: None,
        }
    }

    /// Returns the document as this machine saw it last.
    pub(crate) fn root(&self) -> Root {
        self.shared.state().seen.root.clone()
    }

    /// Returns the term.
    pub(crate) fn term(&self) -> u64 {
        self.shared.term
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

    /// Says how far the run is, for the same.
    pub(crate) fn note_far(&self, far: &str) {
        far.clone_into(
            &mut self
                .shared
                .far
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Changes the document. The change is made again if another machine was faster.
    pub(crate) fn change(&self, change: &mut dyn FnMut(&mut Root)) -> Result<(), Error> {
        self.check()?;
        self.shared.change(&mut self.shared.state(), change)
    }

    /// Gives the lease back with a last change, which ends it, so that the next writer need not wait.
    pub(crate) fn end(mut self, change: &mut dyn FnMut(&mut Root)) -> Result<(), Error> {
        self.stop();
        let shared = &self.shared;
        let is_lost = shared.is_lost.load(Ordering::Relaxed) || shared.is_late(&shared.state());
        match is_lost {
            false => self.change(change),
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

/// Locks what this process has seen.
pub(crate) fn lock(watch: &Mutex<Watch>) -> MutexGuard<'_, Watch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Taker<'_> {
    fn busy(&self) -> Error {
        Error::Busy(self.client.name())
    }

    /// Begins a lease; none if another machine was faster.
    fn begin(
        &self,
        mut root: Root,
        seen: Option<&Seen>,
        share: Option<u64>,
    ) -> Result<Option<Lease>, Error> {
        let by = fastrand::u64(..);
        root.begin(self.holder, by, share);
        let term = root.term;
        let sent = clock::now();
        let seen = match root::exchange(self.client, self.names, &root, seen)? {
            Some(seen) => Some(seen),
            None => root::read(self.client, self.names)?
                .filter(|now| now.root.lease(term).is_some_and(|lease| lease.by == by)),
        };
        Ok(seen.map(|seen| Lease::start(self, seen, term, sent)))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether another machine may have taken over.
    fn is_late(&self, state: &State) -> bool {
        clock::now().saturating_sub(state.renewed) >= self.ttl
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
        for _ in 0..MAX_CONFLICTS {
            let sent = clock::now();
            let mut root = state.seen.root.clone();
            let Some(lease) = root.lease_mut(self.term) else {
                break;
            };
            lease.written = (
                self.n_written.load(Ordering::Relaxed),
                self.began.elapsed().as_secs(),
            );
            let far = self.far.lock();
            lease
                .far
                .clone_from(&far.unwrap_or_else(PoisonError::into_inner));
            lease.beat += 1;
            let beat = lease.beat;
            change(&mut root);
            let is_end = root.lease(self.term).is_none();
            if let Some(seen) = root::exchange(&self.client, &self.names, &root, Some(&state.seen))?
            {
                state.seen = seen;
                state.renewed = sent;
                return Ok(());
            }
            let Some(now) = root::read(&self.client, &self.names)? else {
                break;
            };
            // Only the holder changes the beat: the answer to this change was lost, or it is the last one.
            let is_made = match now.root.lease(self.term) {
                Some(lease) => lease.beat == beat,
                None => is_end,
            };
            state.seen = now;
            if is_made {
                state.renewed = sent;
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(fastrand::u64(..2_000)));
        }
        self.is_lost.store(true, Ordering::Relaxed);
        Err(self.lost())
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
