//! `ken serve`: watch → update, and answers on a socket.

mod answers;
mod audit;
mod barriers;
#[cfg(feature = "desktop")]
mod bus;
mod client;
mod directory;
mod faces;
mod figures;
mod freshness;
mod hooks;
mod listening;
mod lock;
mod news;
mod notices;
mod people;
mod pool;
mod port;
mod runs;
mod systemd;
mod undone;
mod vouch;
mod written;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ken_api::message::{Fresh, IndexWish, IsFresh, WebAddress};
use ken_api::{Client, Question, Reply};
use ken_core::access::ACCESS;
use ken_core::{BytesPath, Root};
use ken_index::layout::{commit_file, index_folder};
use ken_pipeline::updater::{Batching, PathChange, Ticket, Updater, UpdaterOptions};
use ken_pipeline::{Options, Progress, RootChange, background, is_another_under_way};
use ken_walk::{Mounts, WalkOptions};
use ken_watch::{Coverage, Events, Lost, Schedule, Sweeps, Watcher, free_watches};

use super::interrupt::end_with_signals;
use super::run_options::{default_options, has_roots};
use super::walk_options;
use crate::cli::{Global, ServeArgs};
use crate::config::Settings;
use crate::failure::{Failure, Kind};
use crate::output;
use audit::Audit;
use barriers::Barriers;
pub(super) use client::{bring_in, bring_in_tags, client, follow, hand_over, make_fresh};
use faces::Faces;
use hooks::Hooks;
use lock::{Lock, Served};
use news::{News, Reporter};
use notices::Notices;
use people::People;
use undone::Undone;

/// How often everything is compared although all folders are watched.
const REST: Duration = Duration::from_secs(6 * 60 * 60);
/// The pauses before everything is compared again because events were missed or a batch failed.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The longest time that a client may wait for a fresh index.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

pub(crate) fn run(global: &Global, args: &ServeArgs) -> Result<ExitCode, Failure> {
    run_with(global, args, |_| Ok(()))
}

/// Keeps the index fresh; calls `started` with a client, on a thread of its own, when requests are answered. The server
/// ends if that fails.
pub(super) fn run_with(
    global: &Global,
    args: &ServeArgs,
    started: impl FnOnce(&Client) -> Result<(), Failure> + Send + 'static,
) -> Result<ExitCode, Failure> {
    let mut options = Options {
        // It may take hours, and changes would wait.
        ocr: None,
        // The file may come later.
        global_ignore: ignore::gitignore::gitconfig_excludes_path(),
        ..default_options(global)?
    };
    if !has_roots(&options, false)? {
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
    let settings = Settings::load(global)?;
    check_access(&settings, &options)?;
    // Without a password nobody else may reach the documents, so the server does not start.
    settings.web.password()?;
    let is_background = !args.fast && !std::io::stderr().is_terminal();
    options.background = is_background;
    let budget = args.max_watches.unwrap_or_else(|| free_watches() / 2);
    let walk_options = WalkOptions {
        global_ignore: options.global_ignore.clone(),
        ..walk_options(global)?
    };
    let mut watcher = Watcher::new(walk_options, budget)?;
    let notices = Notices::new(!std::io::stderr().is_terminal());
    let news = Arc::new(News::new(watcher.waker(), notices));
    let of_signals = Arc::clone(&news);
    end_with_signals(move || of_signals.stop())?;
    if options.engine.is_none() {
        watcher.watch_replaced(&commit_file(&index_folder(&options.data)))?;
    }
    // Before this process gives way to others: threads that answer do not.
    let faces = Faces::start(global, &options.data, &settings, &news);
    if let Err(failure) = &faces {
        let message = failure.message();
        output::warn(&format!("other commands cannot ask this server: {message}"));
    }
    if is_background {
        background::yield_to_others();
    }
    let socket = faces
        .as_ref()
        .ok()
        .map(|faces| faces.socket().to_path_buf());
    lock.tell(&Served {
        socket: socket.clone().map(BytesPath),
    })?;
    let (updater, updater_ended) = start_updater(&options, &settings, &news);
    systemd::tell("comparing everything");
    let mut server = Server {
        global: global.clone(),
        updater,
        updater_ended,
        settings,
        options,
        watcher,
        news,
        schedule: Schedule::new(background::is_on_battery),
        held_since: None,
        undone: Undone::default(),
        barriers: Barriers::default(),
        is_complete: false,
        compared_by: None,
        last_comparison: None,
        n_overflows: 0,
        run: Weak::new(),
        is_limited: args.max_watches.is_some(),
        sweeps: Sweeps::new(Duration::from_secs(args.sweep_seconds)),
        swept_by: None,
        has_found_before: false,
        due: Instant::now(),
        compared: None,
        is_suspect: false,
        pause: FIRST_PAUSE,
        coverage: None,
        faces: faces.ok(),
        lock,
    };
    if let Some(socket) = socket {
        let of_thread = Arc::clone(&server.news);
        std::thread::spawn(move || {
            if let Err(failure) = started(&Client::new(&socket)) {
                failure.report();
                of_thread.stop();
            }
        });
    }
    let served = server.serve();
    systemd::end();
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Looks at whether the server can keep what `[access]` promises.
fn check_access(settings: &Settings, options: &Options) -> Result<(), Failure> {
    if !settings.access.enforce {
        return Ok(());
    }
    People::new(&settings.access)?;
    settings.access.shared_socket()?;
    if let Some(file) = settings.access.audit() {
        Audit::open(&file)?;
    }
    let snapshot = options.source()?;
    let n_readable = snapshot.files().values(ACCESS)?.len();
    if n_readable == 0 {
        output::warn(
            "the index does not say who may read its files, so that other people find nothing until all files have \
             been compared",
        );
    }
    Ok(())
}

/// Starts an updater; the flag tells when its thread has ended.
fn start_updater(
    options: &Options,
    settings: &Settings,
    news: &Arc<News>,
) -> (Updater, Arc<AtomicBool>) {
    let hooks = Hooks::start(&options.data, settings);
    let options = UpdaterOptions {
        // The schedule waits until nothing changes.
        batching: Batching::AT_ONCE,
        names_added: hooks.are_any(),
        makes_whole: true,
        respects_pause: true,
        ..UpdaterOptions::new(options.clone())
    };
    let has_ended = Arc::<AtomicBool>::default();
    let reporter = Reporter {
        news: Arc::clone(news),
        has_ended: Arc::clone(&has_ended),
    };
    let updater = Updater::start(options, move |outcome| {
        reporter.news.report(outcome);
        hooks.take(outcome.added.clone());
    });
    (updater, has_ended)
}

/// Resolves the paths of roots that a client adds, or says why one cannot be added.
fn resolved(roots: Vec<Root>) -> Result<Vec<Root>, String> {
    let resolved = roots.into_iter().map(|root| {
        let path = root.path.display();
        if !root.path.is_absolute() {
            return Err(format!(
                "cannot index \"{path}\": it is not an absolute path"
            ));
        }
        // A call into a file system that does not answer would hold up the server.
        if Mounts::read().are_above(&root.path) && !ken_walk::answers(&root.path, &|| false) {
            return Err(format!(
                "cannot index \"{path}\": its file system does not answer"
            ));
        }
        let found = ken_walk::root_at(&root.path).map_err(|error| {
            let cause = output::system_words(&error);
            format!("cannot index \"{path}\": {cause}")
        })?;
        Ok(Root {
            path: found.path,
            mounted: found.mounted,
            ..root
        })
    });
    resolved.collect()
}

/// A server until its end.
struct Server {
    global: Global,
    /// The settings that the options come from.
    settings: Settings,
    options: Options,
    watcher: Watcher,
    updater: Updater,
    /// Whether the thread of the updater has ended.
    updater_ended: Arc<AtomicBool>,
    news: Arc<News>,
    schedule: Schedule,
    /// Since when changes are held back.
    held_since: Option<Instant>,
    /// Changes that the updater has and the index does not.
    undone: Undone,
    barriers: Barriers,
    /// Whether the index has all changes of watched folders but those that are undone or held back.
    is_complete: bool,
    /// The comparison after which it is complete.
    compared_by: Option<Ticket>,
    /// The last comparison that was submitted.
    last_comparison: Option<Ticket>,
    /// Number of times that events were lost.
    n_overflows: u64,
    /// The last run over all files, as long as it goes on.
    run: Weak<Progress>,
    /// Whether the user limits the number of watches.
    is_limited: bool,
    /// When what is not watched is compared.
    sweeps: Sweeps,
    /// The current comparison of that.
    swept_by: Option<Ticket>,
    /// Whether changes were found between the last sweep and the current one, for instance by a search that waits for
    /// them.
    has_found_before: bool,
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
    faces: Option<Faces>,
    lock: Lock,
}

impl Server {
    /// Keeps the index fresh until the process is to end.
    fn serve(&mut self) -> Result<(), Failure> {
        while !self.news.is_stopped.load(Ordering::Relaxed) {
            if self.updater_ended.load(Ordering::Relaxed) {
                let message = "the index could not be written any more".to_owned();
                return Err(Failure::new(Kind::Index, message)
                    .hint("ken check says whether it is damaged; start ken serve again"));
            }
            if self.due <= Instant::now() {
                self.compare()?;
            }
            if self.sweeps.begin(Instant::now()) {
                self.sweep();
            }
            let dues = [self.schedule.due(), self.barriers.due(), self.sweeps.due()];
            let mut until = dues.into_iter().flatten().fold(self.due, Instant::min);
            if !self.news.questions().is_empty() {
                // The wake-up for it may be over.
                until = Instant::now();
            }
            let events = self.watcher.wait(Some(until))?;
            self.take(events)?;
            let questions = std::mem::take(&mut *self.news.questions());
            if !questions.is_empty() {
                // Everything that happened before a question is an event by now.
                let events = self.watcher.wait(Some(Instant::now()))?;
                self.take(events)?;
            }
            for (question, asked, reply) in questions {
                self.answer(question, asked, reply)?;
            }
            self.settle();
        }
        Ok(())
    }

    fn take(&mut self, mut events: Events) -> Result<(), Failure> {
        let has_failed = self.news.has_failed.swap(false, Ordering::Relaxed);
        self.n_overflows += u64::from(events.lost == Some(Lost::Overflow));
        if events.lost.is_some() || has_failed || events.is_replaced && !self.knows_roots() {
            self.suspect();
        }
        self.note_coverage()?;
        let changed = self.schedule.pass(&mut events, Instant::now());
        if !changed.is_empty() {
            self.submit(changed);
        }
        let held = self.schedule.due();
        self.held_since = held.map(|_| self.held_since.unwrap_or_else(Instant::now));
        Ok(())
    }

    /// Hands changed paths to the updater.
    fn submit(&mut self, changed: BTreeSet<PathBuf>) -> Ticket {
        let touched = changed.iter().cloned().map(PathChange::Touched);
        let ticket = self.updater.submit(touched);
        self.undone.add(ticket, Instant::now(), changed);
        ticket
    }

    /// Notes what the updater has done.
    fn settle(&mut self) {
        self.undone.settle(self.updater.done_up_to());
        if let Some(ticket) = self.compared_by
            && let Some(result) = self.updater.result_of(ticket)
        {
            self.compared_by = None;
            self.is_complete = result.is_ok();
        }
        if let Some(ticket) = self.swept_by
            && self.updater.result_of(ticket).is_some()
        {
            self.swept_by = None;
            let has_found = self.news.has_found.swap(false, Ordering::Relaxed);
            self.sweeps.end(has_found, Instant::now());
            if std::mem::take(&mut self.has_found_before) | has_found {
                let watched = self.watcher.recount();
                if !watched.is_empty() {
                    self.submit(watched);
                }
            }
        }
        self.barriers.settle(&self.updater, Instant::now());
    }

    /// Has what is not watched compared.
    fn sweep(&mut self) {
        self.has_found_before |= self.news.has_found.swap(false, Ordering::Relaxed);
        let unwatched = self.watcher.unwatched().into_iter();
        self.swept_by = Some(self.updater.submit(unwatched.map(PathChange::Touched)));
    }

    fn answer(&mut self, question: Question, asked: Instant, reply: Reply) -> Result<(), Failure> {
        if reply.is_given_up() {
            // Who asked may have done it otherwise.
            return Ok(());
        }
        match question {
            Question::Status => reply.json(&self.freshness()),
            Question::Fresh(fresh) => self.make_fresh(fresh, asked, reply)?,
            Question::Index(wish) => self.index(wish, reply),
            Question::Web => match self.faces.as_mut().map(Faces::address) {
                Some(Ok(address)) => reply.json(&WebAddress { address }),
                Some(Err(error)) => reply.refuse(500, &format!("cannot open a port: {error}")),
                None => reply.refuse(500, "this server has no socket"),
            },
            Question::Vouch(vouch) => reply.json(&self.vouch(&vouch)),
        }
        Ok(())
    }

    /// Has everything brought into the index that was changed before the question.
    fn make_fresh(&mut self, fresh: Fresh, asked: Instant, reply: Reply) -> Result<(), Failure> {
        if background::paused(&self.options.data).is_some() {
            reply.refuse(409, "indexing is paused; ken index --resume continues it");
            return Ok(());
        }
        let mut changed = self.schedule.release(Instant::now());
        changed.extend(fresh.paths.into_iter().map(|BytesPath(path)| path));
        changed.extend(self.watcher.unwatched());
        let mut tickets = Vec::new();
        if !self.is_complete {
            if self.is_suspect || self.compared_by.is_none() {
                self.compare()?;
            }
            tickets.extend(self.compared_by);
        }
        tickets.extend(match fresh.tags || !changed.is_empty() {
            true => Some(self.submit(changed)),
            false => self.undone.last(),
        });
        let Some(last) = tickets.last() else {
            reply.json(&IsFresh { seconds: 0.0 });
            return Ok(());
        };
        self.updater.hurry(*last);
        let wait = Duration::try_from_secs_f64(fresh.seconds).unwrap_or(LONGEST_WAIT);
        let deadline = asked + wait.min(LONGEST_WAIT);
        self.barriers.add(tickets, asked, deadline, reply);
        Ok(())
    }

    /// Has everything compared for a client, who hears of the progress.
    fn index(&mut self, wish: IndexWish, reply: Reply) {
        let add = match resolved(wish.add) {
            Ok(roots) => roots.into_iter().map(RootChange::Add),
            Err(why) => return reply.refuse(400, &why),
        };
        self.renew_settings();
        let forget = wish
            .forget
            .into_iter()
            .map(|BytesPath(path)| RootChange::Forget(path));
        let changes = forget.chain(add).collect();
        let options = Options {
            full: wish.full,
            lazy: wish.lazy,
            retry_failed: wish.retry_failed,
            background: false,
            ..self.options.clone()
        };
        let progress = Arc::default();
        self.run = Arc::downgrade(&progress);
        self.news
            .runs
            .start(&self.options.data, &progress, reply.stream(), || {
                self.updater
                    .submit_all(options, changes, Arc::clone(&progress))
            });
        // Files may be missing while it goes on, and if it is stopped. After it the updater looks whether they are.
        self.submit(BTreeSet::new());
    }

    /// Starts an updater with other options. The one before ends first; what it leaves is compared anew.
    fn restart_updater(&mut self) {
        (self.updater, self.updater_ended) =
            start_updater(&self.options, &self.settings, &self.news);
        self.barriers
            .give_up("the settings changed meanwhile; ask again");
        self.news.runs.give_up();
        self.undone = Undone::default();
        (self.compared_by, self.last_comparison) = (None, None);
        self.swept_by = None;
        self.sweeps.end(false, Instant::now());
        self.suspect();
    }

    /// Reads the settings again, and works by them from now on.
    fn renew_settings(&mut self) {
        let read = Settings::load(&self.global)
            .and_then(|settings| Ok((default_options(&self.global)?, settings)));
        match read {
            Ok((_, settings)) if settings == self.settings => {}
            Ok((options, settings)) => {
                self.options = Options {
                    ocr: None,
                    global_ignore: self.options.global_ignore.clone(),
                    background: self.options.background,
                    ..options
                };
                self.settings = settings;
                self.watcher.exclude(self.options.excluded_paths());
                let renewed = self.faces.as_ref().map(|faces| faces.renew(&self.settings));
                if let Some(Err(failure)) = renewed {
                    self.news.say(&[failure.message().to_owned()]);
                }
                self.restart_updater();
            }
            Err(failure) => self.news.say(&[failure.message().to_owned()]),
        }
    }

    /// Has everything compared after a pause, which becomes longer if that happens often.
    fn suspect(&mut self) {
        (self.is_complete, self.compared_by) = (false, None);
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

    /// Returns whether the last commit has the roots that are watched. If a run of another process may have taken files
    /// out of it, the updater looks for them after this run.
    fn knows_roots(&mut self) -> bool {
        let index = index_folder(&self.options.data);
        // The folder may be a new one. If there is none, the comparison says so.
        let is_there = self.options.engine.is_some()
            || self.watcher.watch_replaced(&commit_file(&index)).is_ok();
        let Ok(meta) = self.options.meta() else {
            return false;
        };
        let waits = |ticket| !self.updater.has_begun(ticket);
        if is_another_under_way(&meta) && !self.undone.last().is_some_and(waits) {
            self.submit(BTreeSet::new());
        }
        is_there && meta.roots == self.watcher.roots()
    }

    /// Watches all folders and has everything compared.
    fn compare(&mut self) -> Result<(), Failure> {
        if !self.lock.is_of(&self.options.data) {
            let message = format!(
                "the data folder \"{}\" was deleted",
                self.options.data.display()
            );
            return Err(Failure::new(Kind::Index, message));
        }
        let meta = self.options.meta()?;
        self.watcher.watch(meta.roots);
        // One that has not begun sees all that is there now.
        let waits = |ticket| !self.updater.has_begun(ticket);
        if !self.last_comparison.is_some_and(waits) {
            let options = self.options.clone();
            let progress = Arc::default();
            self.run = Arc::downgrade(&progress);
            let ticket = self.updater.submit_all(options, Vec::new(), progress);
            self.last_comparison = Some(ticket);
        }
        if !self.is_complete {
            self.compared_by = self.last_comparison;
        }
        self.news.notices.tell_away(self.watcher.away());
        let now = Instant::now();
        (self.compared, self.is_suspect, self.due) = (Some(now), false, now + REST);
        self.note_coverage()
    }
}
