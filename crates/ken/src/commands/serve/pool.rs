//! Threads that answer requests. They start when they are needed, and end when nothing is asked for a while.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ken_api::Taken;

use super::directory::Name;
use super::people::Guest;

/// How long a thread without a job stays.
const IDLE: Duration = Duration::from_secs(60);

struct Job {
    guest: Guest,
    run: Box<dyn FnOnce() + Send>,
}

/// Threads for jobs.
#[derive(Clone)]
pub(super) struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    has_job: Condvar,
    max_threads: usize,
    max_waiting: usize,
    rest: Arc<Rest>,
}

/// What is done when the last thread of all pools has ended.
pub(super) struct Rest {
    n_threads: AtomicUsize,
    rest: Box<dyn Fn() + Send + Sync>,
}

impl Rest {
    pub(super) fn new(rest: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            n_threads: AtomicUsize::new(0),
            rest: Box::new(rest),
        })
    }

    fn end(&self) {
        if self.n_threads.fetch_sub(1, Ordering::Relaxed) == 1 {
            (self.rest)();
        }
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    waiting: Taken<Name>,
    running: Taken<Name>,
    n_threads: usize,
    n_idle: usize,
}

impl Pool {
    /// Returns a pool of up to `max_threads` threads, none of which runs yet; up to `max_waiting` jobs wait for them.
    pub(super) fn new(max_threads: usize, max_waiting: usize, rest: &Arc<Rest>) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::default(),
            has_job: Condvar::new(),
            max_threads,
            max_waiting,
            rest: Arc::clone(rest),
        }))
    }

    /// Returns whether another job of somebody may wait.
    pub(super) fn has_place(&self, guest: &Guest) -> bool {
        self.0.lock().waiting.has_place(guest, self.0.max_waiting)
    }

    /// Has a thread do a job of somebody.
    ///
    /// # Errors
    /// Fails if too many wait already, or no thread can be started.
    pub(super) fn run(&self, guest: Guest, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.0.lock();
        if !state.waiting.has_place(&guest, self.0.max_waiting) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if state.jobs.len() >= state.n_idle && state.n_threads < self.0.max_threads {
            let shared = Arc::clone(&self.0);
            let started = thread::Builder::new()
                .name("answer".to_owned())
                .spawn(move || shared.work());
            match started {
                Ok(_) => {
                    state.n_threads += 1;
                    self.0.rest.n_threads.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) if state.n_threads == 0 => return Err(error),
                Err(_) => {}
            }
        }
        state.waiting.add(&guest);
        state.jobs.push_back(Job {
            guest,
            run: Box::new(job),
        });
        drop(state);
        self.0.has_job.notify_one();
        Ok(())
    }
}

impl State {
    /// Takes the next job that may run.
    fn next(&mut self, max_threads: usize) -> Option<Job> {
        let may_run = |job: &Job| self.running.has_place(&job.guest, max_threads);
        let at = self.jobs.iter().position(may_run)?;
        let job = self.jobs.remove(at)?;
        self.waiting.remove(&job.guest);
        self.running.add(&job.guest);
        Some(job)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        let mut is_over = false;
        // Jobs may be left, of people whose other jobs run: the threads of those take them.
        loop {
            if let Some(Job { guest, run }) = state.next(self.max_threads) {
                drop(state);
                // A panic was reported; its client hears that there is no answer.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                state = self.lock();
                state.running.remove(&guest);
                is_over = false;
                continue;
            }
            if is_over {
                break;
            }
            state.n_idle += 1;
            let waited = self.has_job.wait_timeout(state, IDLE);
            let (woken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.n_idle -= 1;
            is_over = waited.timed_out();
        }
        state.n_threads -= 1;
        drop(state);
        self.rest.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_run_at_the_same_time_up_to_a_limit() {
        let pool = Pool::new(2, 9, &Rest::new(|| {}));
        let (to_jobs, jobs): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::channel::<()>()).unzip();
        let (to_test, began) = mpsc::channel();
        for (number, wait) in jobs.into_iter().enumerate() {
            let to_test = to_test.clone();
            let job = move || {
                to_test.send(number).unwrap();
                let _ = wait.recv();
            };
            pool.run(None, job).unwrap();
        }
        let mut first = [began.recv().unwrap(), began.recv().unwrap()];
        first.sort_unstable();
        assert_eq!(first, [0, 1]);
        assert!(began.recv_timeout(Duration::from_millis(50)).is_err());
        drop(to_jobs);
        assert_eq!(began.recv().unwrap(), 2);
    }

    #[test]
    fn a_panic_costs_one_job_only() {
        let pool = Pool::new(1, 9, &Rest::new(|| {}));
        pool.run(None, || panic!("on purpose")).unwrap();
        let (to, done) = mpsc::channel();
        pool.run(None, move || to.send(()).unwrap()).unwrap();
        done.recv().unwrap();
    }

    #[test]
    fn too_many_jobs_are_refused() {
        let pool = Pool::new(1, 9, &Rest::new(|| {}));
        let (to, wait) = mpsc::channel::<()>();
        pool.run(None, move || wait.recv().unwrap_or_default())
            .unwrap();
        let refused = (0..=10).find_map(|_| pool.run(None, || {}).err());
        assert_eq!(refused.unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(to);
    }

    #[test]
    fn a_guest_with_many_jobs_waits_and_others_do_not() {
        let pool = Pool::new(4, 40, &Rest::new(|| {}));
        let guest = |uid| Some(Name::Number(uid));
        let (to, wait) = mpsc::channel::<()>();
        let wait = Arc::new(Mutex::new(wait));
        let (began, begun) = mpsc::channel();
        let slow = |uid| {
            let (wait, began) = (Arc::clone(&wait), began.clone());
            pool.run(guest(uid), move || {
                began.send(uid).unwrap();
                let _ = wait.lock().unwrap().recv();
            })
        };
        // One runs, ten wait, and the next is refused.
        slow(1).unwrap();
        assert_eq!(begun.recv().unwrap(), 1);
        (0..10).for_each(|_| slow(1).unwrap());
        assert!(slow(1).is_err());
        assert!(!pool.has_place(&guest(1)));
        slow(2).unwrap();
        assert_eq!(begun.recv().unwrap(), 2);
        assert!(begun.recv_timeout(Duration::from_millis(50)).is_err());
        let (to_test, done) = mpsc::channel();
        for uid in [guest(3), None] {
            let to_test = to_test.clone();
            pool.run(uid.clone(), move || to_test.send(uid).unwrap())
                .unwrap();
        }
        let mut served = [done.recv().unwrap(), done.recv().unwrap()];
        served.sort_by_key(Option::is_some);
        assert_eq!(served, [None, guest(3)]);
        // All of them come in the end.
        drop(to);
        assert!((0..10).all(|_| begun.recv().unwrap() == 1));
    }
}
