//! The directory of the system: which number, name and groups a person has.
//!
//! It may be on another machine, and take as long as it likes: the calls of the C library have no limit of time. So each
//! person is asked for on a thread of its own, of which there are few, and who waits for it waits for a while only. What it
//! says holds for some seconds.
//!
//! `getgrouplist` leaves out the groups of a source that fails, and does not say so. So an asker of the directory
//! [may be in more groups](Asker::with_more_groups) than those that it names.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ken_core::access::Asker;
use nix::unistd::{Gid, Uid, User, getgrouplist};

/// How long an answer of the directory holds.
const HOLDS: Duration = Duration::from_secs(10);
/// The most people who are remembered.
const MAX_KNOWN: usize = 4_000;
/// The most people who are asked for at once. A directory that does not answer keeps their threads.
const MAX_ASKED: usize = 16;

/// How somebody is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Number(u32),
    Text(String),
}

/// A person whom the directory knows.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) asker: Asker,
}

type Find = dyn Fn(&Name) -> Option<Known> + Send + Sync;

/// The directory.
#[derive(Clone)]
pub(super) struct Directory(Arc<Shared>);

struct Shared {
    find: Box<Find>,
    state: Mutex<State>,
    has_news: Condvar,
}

#[derive(Default)]
struct State {
    /// What the directory said of people, and when; none of those whom it does not know.
    known: HashMap<Name, (Instant, Option<Known>)>,
    asked: HashSet<Name>,
}

impl Directory {
    /// Returns that of the system, of which there is one: threads that it keeps are counted together.
    pub(super) fn of_system() -> Self {
        static SYSTEM: LazyLock<Directory> = LazyLock::new(|| Directory::new(of_system));
        SYSTEM.clone()
    }

    fn new(find: impl Fn(&Name) -> Option<Known> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Shared {
            find: Box::new(find),
            state: Mutex::default(),
            has_news: Condvar::new(),
        }))
    }

    /// Returns what the directory said of somebody a short while ago.
    pub(super) fn remembered(&self, name: &Name) -> Option<Option<Known>> {
        self.0.lock().remembered(name)
    }

    /// Returns what the directory says of somebody; none if it says nothing until a moment.
    pub(super) fn ask(&self, name: &Name, until: Instant) -> Option<Option<Known>> {
        let mut state = self.0.lock();
        loop {
            if let Some(known) = state.remembered(name) {
                return Some(known);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !state.asked.contains(name) && !self.begin(&mut state, name) {
                return None;
            }
            let waited = self.0.has_news.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Asks for somebody on a thread; returns false if there are too many.
    fn begin(&self, state: &mut State, name: &Name) -> bool {
        if state.asked.len() >= MAX_ASKED {
            return false;
        }
        let (shared, of_thread) = (Arc::clone(&self.0), name.clone());
        let thread = thread::Builder::new().name("directory".to_owned());
        let is_begun = thread.spawn(move || shared.find(of_thread)).is_ok();
        if is_begun {
            state.asked.insert(name.clone());
        }
        is_begun
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, name: Name) {
        let known = (self.find)(&name);
        let mut state = self.lock();
        state.asked.remove(&name);
        if state.known.len() >= MAX_KNOWN {
            state.known.retain(|_, (since, _)| since.elapsed() < HOLDS);
        }
        if state.known.len() >= MAX_KNOWN {
            state.known.clear();
        }
        state.known.insert(name, (Instant::now(), known));
        self.has_news.notify_all();
    }
}

impl State {
    fn remembered(&self, name: &Name) -> Option<Option<Known>> {
        let (since, known) = self.known.get(name)?;
        (since.elapsed() < HOLDS).then(|| known.clone())
    }
}

/// Returns a person with the groups that the system knows at the moment.
fn of_system(name: &Name) -> Option<Known> {
    let user = match name {
        Name::Number(uid) => User::from_uid(Uid::from_raw(*uid)),
        Name::Text(name) => User::from_name(name),
    };
    let user = user.ok().flatten()?;
    let name = std::ffi::CString::new(user.name.as_str()).ok()?;
    let groups = getgrouplist(&name, user.gid).ok()?.into_iter();
    let groups = groups.chain([user.gid]).map(Gid::as_raw);
    let asker = Asker::new(user.uid.as_raw(), groups.collect());
    Some(Known {
        name: user.name,
        asker: asker.with_more_groups(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    fn someone(name: &Name) -> Option<Known> {
        let Name::Number(uid) = name else {
            return None;
        };
        Some(Known {
            name: format!("user{uid}"),
            asker: Asker::new(*uid, vec![]),
        })
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(10)
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn an_answer_holds_for_a_while() {
        let n_asked = Arc::new(AtomicUsize::new(0));
        let of_find = Arc::clone(&n_asked);
        let directory = Directory::new(move |name| {
            of_find.fetch_add(1, Ordering::Relaxed);
            someone(name)
        });
        let (known, unknown) = (Name::Number(7), Name::Text("x".to_owned()));
        assert!(directory.remembered(&known).is_none());
        for _ in 0..3 {
            let answer = directory.ask(&known, later()).unwrap();
            assert_eq!(answer.unwrap().name, "user7");
            assert!(directory.ask(&unknown, later()).unwrap().is_none());
        }
        assert_eq!(n_asked.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_directory_that_does_not_answer_keeps_few_threads_and_nobody_else() {
        let (to, wait) = mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let n_asked = Arc::new(AtomicUsize::new(0));
        let of_find = Arc::clone(&n_asked);
        let directory = Directory::new(move |name| {
            of_find.fetch_add(1, Ordering::Relaxed);
            if *name != Name::Number(0) {
                let _ = wait.lock().unwrap().recv();
            }
            someone(name)
        });
        assert!(directory.ask(&Name::Number(0), later()).is_some());
        for uid in (1..=30).chain(1..=30) {
            assert!(directory.ask(&Name::Number(uid), soon()).is_none());
        }
        assert_eq!(n_asked.load(Ordering::Relaxed), 1 + MAX_ASKED);
        // Who is known is answered all the same.
        assert!(directory.remembered(&Name::Number(0)).is_some());
        // It answers again, and then all are.
        drop(to);
        while directory.ask(&Name::Number(31), later()).is_none() {}
    }
}
