//! One run, in three stages: [prepare](Prepared), walk and extract, commit.

mod commit;
mod help;
mod pass;
mod retag;
mod session;
mod shares;
#[cfg(test)]
pub(crate) mod tests;
mod threads;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

use ken_core::{Change, KeyHasher};
use ken_index::layout::index_folder;
use ken_walk::Catalogue;

use crate::background;
use crate::extract::counts::{Counts, Made};
use crate::guest::Guest;
use crate::ngrams::NgramWriter;
use crate::prepare::{Prepared, Scope};
use crate::progress::Stage;
use crate::share::Shared;
use crate::write::LazyWriter;
use crate::{Error, Options, Progress, RootChange, Summary, ocr, roots};
pub(crate) use pass::run_in;
use pass::{Pass, run_pass, second_pass};
pub(crate) use session::Session;

/// Called for each change of a file when the walk finds it.
pub(crate) type Notify<'n> = dyn Fn(&Change) + Sync + 'n;

/// Brings the index in `options.data` up to date with its roots, after applying `changes` to them.
///
/// Calls `notify` with each change of a file when the walk finds it. Writes nothing if nothing
/// changed, nor on a dry run. While indexing is paused ([`background::pause`]), a run commits its
/// work, closes the index, and waits; with `full` it then reads everything again.
///
/// # Errors
/// Fails if a root cannot be used or the index cannot be read or written; the index then has the
/// state of its last commit.
pub fn update(
    options: &Options,
    changes: &[RootChange],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    if options.dry_run {
        return run_in(
            &mut Session::dry(),
            options,
            changes,
            Scope::All,
            progress,
            notify,
        );
    }
    let mut changes = changes;
    through_pauses(&options.data, progress, &mut || {
        let part = accompanied(options, true, progress, || {
            run_or_help(options, changes, progress, notify)
        })?;
        if part.committed {
            changes = &[];
        }
        Ok(part)
    })
}

/// Runs, and again after each pause that interrupts it. No run begins during a pause.
pub(crate) fn through_pauses(
    data: &Path,
    progress: &Progress,
    run: &mut dyn FnMut() -> Result<Summary, Error>,
) -> Result<Summary, Error> {
    let mut whole = Summary::default();
    while background::wait_for_resume(data, progress) {
        let part = run()?;
        let was_paused = part.interrupted && !progress.is_stopped();
        whole = whole.and(part);
        if !was_paused {
            return Ok(whole);
        }
    }
    whole.interrupted = true;
    Ok(whole)
}

/// Runs together with threads that limit its share of the machine, interrupt it when a pause begins (if it respects
/// pauses), and trace it.
pub(crate) fn accompanied<T>(
    options: &Options,
    respects_pause: bool,
    progress: &Progress,
    run: impl FnOnce() -> T,
) -> T {
    /// Ends the threads that accompany a run, even after a panic: the run would wait for them for ever.
    struct Ending<'e> {
        ended: &'e AtomicBool,
        threads: Vec<Thread>,
    }

    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.ended.store(true, Ordering::Relaxed);
            self.threads.iter().for_each(Thread::unpark);
        }
    }

    let (background, trace) = (options.background, progress.trace.as_ref());
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let ended = &ended;
        let keep = || background::keep(&options.data, background, respects_pause, progress, ended);
        let keeper = (background || respects_pause).then(|| scope.spawn(keep));
        let cores = trace.map(|trace| scope.spawn(|| trace.cores(ended)));
        let others = keeper.into_iter().chain(cores);
        let _ending = Ending {
            ended,
            threads: others.map(|other| other.thread().clone()).collect(),
        };
        run()
    })
}

/// Brings the index in `options.data` up to date for some paths, whether they exist or not.
///
/// A folder stands for everything at and below it, now or in the index; a file of rules or a marker, such as
/// `.gitignore`, stands for its folder. A renamed file or folder is not read again if both its paths are given. Paths
/// outside all roots are skipped. Only [`update`] determines the effect of changed roots on other files.
///
/// # Errors
/// Fails as [`update`] does.
pub fn update_files(
    options: &Options,
    changes: &[RootChange],
    paths: &[PathBuf],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    run(
        &of_paths(options),
        changes,
        Scope::Paths(paths),
        progress,
        notify,
    )
}

/// Reads files again as [`update_files`] does, though they did not change.
///
/// # Errors
/// Fails as [`update`] does.
pub fn update_again(
    options: &Options,
    changes: &[RootChange],
    paths: &[PathBuf],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    let options = Options {
        full: true,
        ..of_paths(options)
    };
    run(&options, changes, Scope::Paths(paths), progress, notify)
}

/// Returns the options of a run over some paths, which looks at each path and nothing else.
pub(crate) fn of_paths(options: &Options) -> Options {
    Options {
        full: false,
        lazy: false,
        retry_failed: false,
        ocr: None,
        ..options.clone()
    }
}

/// Runs over all files; helps the run of another machine first, if there is one.
fn run_or_help(
    options: &Options,
    changes: &[RootChange],
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<Summary, Error> {
    let mut recognised = 0;
    loop {
        if let Some((helped, pictures_read)) = help::help(options, progress, &mut recognised)?
            && (helped.interrupted || is_plain(options, changes))
        {
            let helped = Summary {
                recognised,
                ..helped
            };
            return after_help(options, helped, pictures_read, progress);
        }
        match run(options, changes, Scope::All, progress, notify) {
            Err(Error::Index(ken_engine::Error::Busy(_))) if options.engine.is_some() => {}
            outcome => {
                return outcome.map(|summary| Summary {
                    recognised: summary.recognised + recognised,
                    ..summary
                });
            }
        }
    }
}

/// Ends the run of a machine that helped another one: with the pictures, if that is wanted and not done.
fn after_help(
    options: &Options,
    helped: Summary,
    pictures_read: bool,
    progress: &Progress,
) -> Result<Summary, Error> {
    // What it was asked for beside the help is not done yet.
    let mut summary = Summary {
        committed: helped.committed && !helped.interrupted,
        ..helped
    };
    if summary.interrupted || pictures_read {
        return Ok(summary);
    }
    let started = Instant::now();
    // No other process of this machine may run meanwhile.
    match Session::open(options, progress)? {
        Some(_session) => recognise(options, progress, &mut summary)?,
        None => summary.interrupted = true,
    }
    summary.seconds += started.elapsed().as_secs_f64();
    Ok(summary)
}

/// Recognises text in pictures, together with other machines.
fn recognise(options: &Options, progress: &Progress, summary: &mut Summary) -> Result<(), Error> {
    let mut help = |summary: &mut Summary| help::with_pictures(options, progress, summary);
    ocr::recognise(options, progress, summary, &mut help)
}

/// Returns whether the run of another machine did what this one was asked for.
fn is_plain(options: &Options, changes: &[RootChange]) -> bool {
    let are_roots = || {
        let meta = options.meta().ok()?;
        let mut roots = meta.roots.clone();
        roots::change(&mut roots, changes, options).ok()?;
        Some(roots == meta.roots)
    };
    !options.full && !options.retry_failed && are_roots() == Some(true)
}

/// Runs in a session of its own.
fn run(
    options: &Options,
    changes: &[RootChange],
    scope: Scope<'_>,
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<Summary, Error> {
    let started = Instant::now();
    let session = match options.dry_run {
        true => Some(Session::dry()),
        false => Session::open(options, progress)?,
    };
    let Some(mut session) = session else {
        return Ok(Summary {
            interrupted: true,
            ..Summary::default()
        });
    };
    let pass = Pass {
        changes,
        scope,
        after: None,
    };
    let (mut summary, first) = run_pass(&mut session, options, pass, progress, notify)?;
    if summary.has_left && !summary.interrupted {
        // A new lease: a machine that left a file may have it from one that had begun to write it.
        session.close_writer()?;
        summary = second_pass(&mut session, options, summary, &first, progress, notify)?;
    }
    if summary.committed || options.engine.is_some() {
        let _span = progress.span(Stage::Merge, None);
        session.close_writer()?;
    }
    if !options.dry_run && scope.is_all() && options.engine.is_none() {
        ken_index::verify_presence(&index_folder(&options.data))?;
    }
    if !summary.interrupted && !options.dry_run && scope.is_all() {
        recognise(options, progress, &mut summary)?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// A run after its preparation: the state that its threads share, and their results.
struct Run<'r> {
    prepared: &'r Prepared<'r>,
    writer: LazyWriter<'r>,
    progress: &'r Progress,
    notify: &'r Notify<'r>,
    /// Created when files are read, under the lock of the index, when no other process writes
    /// n-gram segments.
    ngrams: OnceLock<NgramWriter>,
    counts: Counts,
    /// Number of unchanged files that are read again.
    n_stale: AtomicU64,
    /// Why the listings of folders could not be written.
    listings_error: OnceLock<io::Error>,
    /// The changes of a share of another run, in place of a walk.
    given: Option<Vec<Change>>,
    /// What this machine leaves, if the share is of another one.
    guest: Option<Guest>,
    may_share: bool,
    shared: Shared,
    started: Instant,
    /// Whether all files have been looked at when it comes to its end.
    is_of_all: bool,
}

impl<'r> Run<'r> {
    /// Returns a run that walks its scope.
    fn new(
        writer: LazyWriter<'r>,
        prepared: &'r Prepared<'r>,
        progress: &'r Progress,
        notify: &'r Notify<'r>,
    ) -> Self {
        Self {
            writer,
            prepared,
            progress,
            notify,
            ngrams: OnceLock::new(),
            counts: Counts::default(),
            n_stale: AtomicU64::new(0),
            listings_error: OnceLock::new(),
            given: None,
            guest: None,
            may_share: prepared.options.shares,
            shared: Shared::default(),
            started: Instant::now(),
            is_of_all: prepared.scope.is_all(),
        }
    }
}

impl Run<'_> {
    /// Walks, and extracts what changed; a dry run only counts.
    fn execute(&self) -> Result<ken_walk::Summary, Error> {
        let loading = self.progress.span(Stage::Load, None);
        // Dropped before the commit, whose merges have their own table of all files.
        let catalogue = Catalogue::new(self.prepared.known_files()?);
        drop(loading);
        if !self.prepared.options.dry_run {
            return self.walk_and_extract(&catalogue);
        }
        // Without an index every file is new, whatever its key.
        let hasher = self.prepared.hasher().unwrap_or(KeyHasher::new(0, 0));
        Ok(self.walk(&catalogue, hasher, &|change| {
            self.announce(&change);
            self.counts.add(Made::by(&change));
        }))
    }

    fn summary(&self, walked: &ken_walk::Summary) -> Summary {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Summary {
            added: self.counts.of(Made::Added),
            changed: self.counts.of(Made::Changed),
            stale: self.n_stale.load(Ordering::Relaxed),
            moved: self.counts.of(Made::Moved),
            gone: self.counts.of(Made::Gone),
            unchanged: walked.unchanged,
            kept: walked.kept + self.counts.kept(),
            documents: get(&self.progress.documents),
            failed: get(&self.progress.failures),
            errors: walked.walk.n_errors as u64,
            bytes: get(&self.progress.bytes_done),
            interrupted: self.progress.is_cancelled(),
            messages: self.messages(walked),
            has_left: self.shared.has_left(),
            ..Summary::default()
        }
    }

    /// Returns messages about the run for the user.
    fn messages(&self, walked: &ken_walk::Summary) -> Vec<String> {
        let unavailable = walked.walk.unavailable.iter().map(|(path, availability)| {
            let state = format!("{availability:?}").to_lowercase();
            format!(
                "root \"{}\" is {state}; what the index knows of it is kept",
                path.display()
            )
        });
        let kept = Some(self.counts.kept()).filter(|n| *n > 0).map(|n| {
            format!(
                "{n} files went away with the root above them; what the index knows of them is kept"
            )
        });
        let unlisted = self.listings_error.get().map(|error| {
            format!("what folders hold cannot be kept, so every search lists them: {error}")
        });
        let errors = walked.walk.errors.iter().map(ToString::to_string);
        unavailable
            .chain(kept)
            .chain(unlisted)
            .chain(errors)
            .collect()
    }
}
