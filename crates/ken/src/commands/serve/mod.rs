//! `ken serve`: watch → update.

mod lock;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ken_index::layout::{commit_file, index_folder};
use ken_pipeline::updater::{Batching, Outcome, PathChange, Updater, UpdaterOptions};
use ken_pipeline::{Options, background};
use ken_walk::WalkOptions;
use ken_watch::{Coverage, Events, Schedule, Waker, Watcher, free_watches};

use super::index::{default_options, has_roots};
use super::interrupt::end_with_signals;
use super::walk_options;
use crate::cli::{Global, ServeArgs};
use crate::failure::{Failure, Kind};
use crate::output;
use lock::Lock;
pub(super) use lock::{Served, served};

/// How often everything is compared although all folders are watched.
const REST: Duration = Duration::from_secs(6 * 60 * 60);
/// The pauses before everything is compared again because events were missed or a batch failed.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub(crate) fn run(global: &Global, args: &ServeArgs) -> Result<ExitCode, Failure> {
    let mut options = Options {
        // It may take hours, and changes would wait.
        ocr: None,
        // The file may come later.
        global_ignore: ignore::gitignore::gitconfig_excludes_path(),
        ..default_options(global)?
    };
    if !has_roots(&options.data, false)? {
        return Err(
            Failure::new(Kind::Usage, "the index has no roots yet".to_owned())
                .hint("name a folder: ken index ~/Documents"),
        );
    }
    let Some(lock) = Lock::take(&options.data)? else {
        let message = format!(
            "another ken serve already keeps the index in \"{}\" fresh",
            options.data.display()
        );
        return Err(Failure::new(Kind::Usage, message).hint("ken status says what it watches"));
    };
    background::give_back_large_blocks();
    if !args.fast && !std::io::stderr().is_terminal() {
        background::yield_to_others();
        options.background = true;
    }
    let budget = args.max_watches.unwrap_or_else(|| free_watches() / 2);
    let walk_options = WalkOptions {
        global_ignore: options.global_ignore.clone(),
        ..walk_options(global)
    };
    let mut watcher = Watcher::new(walk_options, budget)?;
    let news = Arc::new(News::new(watcher.waker()));
    let of_signals = Arc::clone(&news);
    end_with_signals(move || of_signals.stop())?;
    watcher.watch_replaced(&commit_file(&index_folder(&options.data)))?;
    let updater = UpdaterOptions {
        // The schedule waits until nothing changes.
        batching: Batching::AT_ONCE,
        respects_pause: true,
        ..UpdaterOptions::new(options.clone())
    };
    let of_updater = Arc::clone(&news);
    let updater = Updater::start(updater, move |outcome| of_updater.report(outcome));
    let mut server = Server {
        options,
        watcher,
        updater,
        news,
        schedule: Schedule::new(background::is_on_battery),
        sweep: Duration::from_secs(args.sweep_seconds),
        due: Instant::now(),
        compared: None,
        is_suspect: false,
        pause: FIRST_PAUSE,
        coverage: None,
        lock,
    };
    server.serve()?;
    Ok(ExitCode::SUCCESS)
}

/// What other threads tell the server.
struct News {
    waker: Waker,
    is_stopped: AtomicBool,
    /// Whether a batch or a comparison failed.
    has_failed: AtomicBool,
    /// Number of comparisons of everything that have not ended.
    n_comparing: AtomicUsize,
    /// What was said last, which is not repeated.
    said: Mutex<Vec<String>>,
}

impl News {
    fn new(waker: Waker) -> Self {
        Self {
            waker,
            is_stopped: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            n_comparing: AtomicUsize::new(0),
            said: Mutex::default(),
        }
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Takes the outcome of a batch, or of a comparison of everything.
    fn report(&self, outcome: &Outcome) {
        if outcome.all {
            self.n_comparing.fetch_sub(1, Ordering::Relaxed);
        }
        match &outcome.summary {
            Ok(summary) if outcome.all => self.say(&summary.messages),
            Ok(_) => {}
            Err(error) => {
                self.say(&[error.to_string()]);
                self.has_failed.store(true, Ordering::Relaxed);
                self.waker.wake();
            }
        }
    }

    fn say(&self, messages: &[String]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if *said != messages {
            messages.iter().for_each(|message| output::warn(message));
            *said = messages.to_vec();
        }
    }
}

/// A server until its end.
struct Server {
    options: Options,
    watcher: Watcher,
    updater: Updater,
    news: Arc<News>,
    schedule: Schedule,
    /// How often everything is compared while some folders are not watched.
    sweep: Duration,
    /// When everything is compared next.
    due: Instant,
    /// When everything was compared last.
    compared: Option<Instant>,
    /// Whether more changed than was told, so that everything is compared soon.
    is_suspect: bool,
    /// The pause before the next comparison of this kind.
    pause: Duration,
    /// What was told last.
    coverage: Option<Coverage>,
    lock: Lock,
}

impl Server {
    /// Keeps the index fresh until the process is to end.
    fn serve(&mut self) -> Result<(), Failure> {
        while !self.news.is_stopped.load(Ordering::Relaxed) {
            if self.due <= Instant::now() {
                self.compare()?;
            }
            let held = self.schedule.due();
            let until = held.map_or(self.due, |held| held.min(self.due));
            let mut events = self.watcher.wait(Some(until))?;
            let has_failed = self.news.has_failed.swap(false, Ordering::Relaxed);
            if events.lost.is_some() || has_failed || events.is_replaced && self.roots_changed() {
                self.suspect();
            }
            self.note_coverage()?;
            self.hand_over(&mut events);
        }
        Ok(())
    }

    /// Hands changed paths to the updater.
    fn hand_over(&mut self, events: &mut Events) {
        let changed = self.schedule.pass(events, Instant::now());
        if !changed.is_empty() {
            self.updater
                .submit(changed.into_iter().map(PathChange::Touched));
        }
    }

    /// Has everything compared after a pause, which becomes longer if that happens often.
    fn suspect(&mut self) {
        if self.is_suspect {
            return;
        }
        let is_rare = |compared: Instant| compared.elapsed() > 2 * LONGEST_PAUSE;
        if self.compared.is_none_or(is_rare) {
            self.pause = FIRST_PAUSE;
        }
        self.is_suspect = true;
        self.due = self.due.min(Instant::now() + self.pause);
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
    }

    /// Returns whether the last commit has other roots than those that are watched.
    fn roots_changed(&mut self) -> bool {
        let index = index_folder(&self.options.data);
        // The folder may be a new one. If there is none, the comparison says so.
        let is_there = self.watcher.watch_replaced(&commit_file(&index)).is_ok();
        let meta = ken_index::read_meta(&index);
        !is_there || meta.map_or(true, |meta| meta.roots != self.watcher.roots())
    }

    /// Watches all folders and has everything compared.
    fn compare(&mut self) -> Result<(), Failure> {
        let meta = ken_index::read_meta(&index_folder(&self.options.data))?;
        self.watcher.watch(meta.roots);
        // One that has not begun sees all that is there now.
        if self.news.n_comparing.load(Ordering::Relaxed) < 2 {
            self.news.n_comparing.fetch_add(1, Ordering::Relaxed);
            self.updater
                .submit_all(self.options.clone(), Vec::new(), Arc::default());
        }
        let now = Instant::now();
        (self.compared, self.is_suspect, self.due) = (Some(now), false, now + REST);
        self.note_coverage()
    }

    /// Tells others what is watched, and the user what is not. The latter is compared more often.
    fn note_coverage(&mut self) -> Result<(), Failure> {
        let coverage = self.watcher.coverage();
        if !coverage.is_complete() {
            let compared = self.compared.unwrap_or_else(Instant::now);
            self.due = self.due.min(compared + self.sweep);
        }
        if self.coverage != Some(coverage) {
            self.lock.tell(coverage.into())?;
            let unwatched = |coverage| Coverage {
                watched: 0,
                ..coverage
            };
            if self.coverage.map(unwatched) != Some(unwatched(coverage)) {
                output::warn(&self.told(coverage));
            }
            self.coverage = Some(coverage);
        }
        Ok(())
    }

    /// Returns what is watched, for people.
    fn told(&self, coverage: Coverage) -> String {
        let mut text = format!("watching {}", counted(coverage.watched, "folder"));
        let swept = [
            (coverage.beyond, "folder", "beyond the limit of watches"),
            (coverage.remote, "folder", "on other machines"),
            (coverage.twofold, "folder", "with two paths"),
            (coverage.roots, "root", "that cannot be watched"),
        ];
        let swept: Vec<String> = swept
            .into_iter()
            .filter(|(n, _, _)| *n > 0)
            .map(|(n, what, which)| format!("{} {which}", counted(n, what)))
            .collect();
        if !swept.is_empty() {
            let (every, swept) = (self.sweep.as_secs(), swept.join(", "));
            text.push_str(&format!("; looking every {every} s at {swept}"));
        }
        if coverage.beyond > 0 {
            text.push_str(" (raise fs.inotify.max_user_watches to watch them)");
        }
        text
    }
}

/// Returns a number of things, for people.
fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
