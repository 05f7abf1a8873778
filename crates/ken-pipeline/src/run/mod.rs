//! One run, in three stages: [prepare](Prepared), walk and extract, commit.

mod commit;
mod retag;
mod session;
#[cfg(test)]
pub(crate) mod tests;
mod threads;
mod walk;

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

<<<<<<< HEAD
use ken_core::{Change, KeyHasher};
use ken_walk::Catalogue;
=======
use ken_core::{Change, FileKey, FileRow, KeyHasher, Root, Token};
use ken_extract::helper::Helpers;
use ken_index::{Meta, Snapshot, WriterOptions};
use ken_walk::{Catalogue, Comparison, Listings, Recorder, ScanOptions};
use serde::Serialize;
>>>>>>> main

use crate::background;
use crate::extract::counts::{Counts, Made};
use crate::ngrams::NgramWriter;
use crate::prepare::{Prepared, Scope};
use crate::progress::Stage;
use crate::write::LazyWriter;
use crate::{Durability, Error, Options, Progress, RootChange, Summary, ocr};
pub(crate) use session::Session;

/// Hears of each change of a file when the walk finds it.
pub(crate) type Notify<'n> = dyn Fn(&Change) + Sync + 'n;

/// Brings the index in `options.data` up to date with its roots, after changing them.
///
/// Calls `notify` with each change of a file when the walk finds it. Writes nothing if nothing changed, nor
/// on a dry run. While indexing is paused ([`background::pause`]), a run commits what it did, lets the index
/// go, and waits; with `full` it then reads all again.
///
/// # Errors
/// Fails if a root cannot be used or the index cannot be read or written; the index then is as it
/// was at its last commit.
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
    let mut whole = Summary::default();
    let mut changes = changes;
    while background::wait_for_resume(&options.data, progress) {
        let part = run_kept(options, changes, progress, notify)?;
        let was_paused = part.interrupted && !progress.is_stopped();
        if part.committed {
            changes = &[];
        }
        whole = whole.and(part);
        if !was_paused {
            return Ok(whole);
        }
    }
    whole.interrupted = true;
    Ok(whole)
}

/// Runs until the end or a pause, and takes no more of the machine than it may.
fn run_kept(
    options: &Options,
    changes: &[RootChange],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    /// Ends the threads that accompany a run, also after a panic: the run would wait for them for ever.
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

    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let ended = &ended;
        let keeper =
            scope.spawn(|| background::keep(&options.data, options.background, progress, ended));
        let trace = progress.trace.as_ref();
        let cores = trace.map(|trace| scope.spawn(|| trace.cores(ended)));
        let others = [keeper].into_iter().chain(cores);
        let _ending = Ending {
            ended,
            threads: others.map(|other| other.thread().clone()).collect(),
        };
        run(options, changes, Scope::All, progress, notify)
    })
}

/// Brings what the index in `options.data` knows of some paths up to date: those that are there, and those that
/// are not any more.
///
/// A folder stands for all that lies at and below it, now or in the index. A file or folder that was renamed is
/// not read again if both its paths are named. Paths below no root are passed over. [`update`] finds what changed
/// roots mean for other files.
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

/// Returns the options of a run over some paths: each path is looked at, and nothing else.
pub(crate) fn of_paths(options: &Options) -> Options {
    Options {
        full: false,
        lazy: false,
        retry_failed: false,
        ocr: None,
        ..options.clone()
    }
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
    let mut summary = run_in(&mut session, options, changes, scope, progress, notify)?;
    if summary.committed {
        let _span = progress.span(Stage::Merge, None);
        session.close_writer()?;
    }
    if !summary.interrupted && !options.dry_run && scope.is_all() {
        ocr::recognise(options, progress, &mut summary)?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// Runs in a session that may have served other runs and may serve more. After an error the session is of no
/// more use: its writer may hold what no commit must have.
pub(crate) fn run_in(
    session: &mut Session,
    options: &Options,
    changes: &[RootChange],
    scope: Scope<'_>,
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<Summary, Error> {
    let started = Instant::now();
    let loading = progress.span(Stage::Load, None);
    let prepared = Prepared::load(options, changes, scope)?;
    drop(loading);
    let is_synced = options.durability == Durability::Full;
    let run = Run {
        writer: LazyWriter::new(session.slot(&prepared.options), is_synced, true),
        prepared: &prepared,
        progress,
        notify,
        ngrams: OnceLock::new(),
        counts: Counts::default(),
        n_stale: AtomicU64::new(0),
        listings_error: OnceLock::new(),
    };
    let walked = run.execute()?;
    let mut summary = run.summary(&walked);
    if !options.dry_run {
        let scan = &walked.scan;
        let saw_all = scan.unavailable.is_empty() && scan.incomplete.is_empty();
        summary.committed = run.commit(&summary, saw_all)?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// A run after its preparation: what its threads share, and what they found.
struct Run<'r> {
    prepared: &'r Prepared<'r>,
    writer: LazyWriter<'r>,
    progress: &'r Progress,
    notify: &'r Notify<'r>,
    /// Made when files are read, under the lock of the index: nobody else writes n-gram segments then.
    ngrams: OnceLock<NgramWriter>,
    counts: Counts,
    /// Files that did not change and are read again.
    n_stale: AtomicU64,
    /// Why the listings of folders could not be written.
    listings_error: OnceLock<io::Error>,
}

impl Run<'_> {
    /// Walks, and extracts what changed; on a dry run it only counts.
    fn execute(&self) -> Result<ken_walk::Summary, Error> {
        let loading = self.progress.span(Stage::Load, None);
        // Dropped before the commit, whose merges have a table of all files of their own.
        let catalogue = Catalogue::new(self.prepared.known_files()?);
        drop(loading);
        if !self.prepared.options.dry_run {
            return self.walk_and_extract(&catalogue);
        }
<<<<<<< HEAD
        // Without an index every file is new, whatever its key.
        let hasher = self.prepared.hasher().unwrap_or(KeyHasher::new(0, 0));
        Ok(self.walk(&catalogue, hasher, &|change| {
            self.announce(&change);
            self.counts.add(Made::by(&change));
        }))
=======
        Ok(summary)
    }

    /// Returns what the index knows of the files that are looked at.
    fn known(&self) -> Result<Vec<FileRow>, Error> {
        let Some(snapshot) = &self.snapshot else {
            return Ok(Vec::new());
        };
        let Some(only) = self.only else {
            return Ok(snapshot.rows()?);
        };
        let mut rows = Vec::with_capacity(only.len());
        for path in only {
            let key = snapshot.meta().hasher.key(path);
            match snapshot.row(key)? {
                Some((_, row)) => rows.push(row),
                // Parts of a file that was not indexed to its end.
                None if !snapshot.addresses(key)?.is_empty() => rows.push(FileRow {
                    key,
                    token: Token::UNFINISHED,
                    identity: 0,
                }),
                None => {}
            }
        }
        Ok(rows)
    }

    /// Returns whether a file that the index knows is read again although it did not change.
    fn is_stale(&self, path: &Path, row: &FileRow) -> bool {
        let lost = self.lost.as_ref();
        self.stale.reason(path, row).is_some()
            || self.tagged.contains(&row.key)
            || lost.is_some_and(|lost| lost.may_hold(self.snapshot.as_ref(), row))
    }

    fn walk(
        &self,
        catalogue: &Catalogue,
        hasher: KeyHasher,
        emit: &(dyn Fn(Change) + Sync),
    ) -> ken_walk::Summary {
        let path_of = |keys: &[FileKey]| match &self.snapshot {
            Some(snapshot) => snapshot
                .paths(keys)
                .unwrap_or_else(|_| vec![None; keys.len()]),
            None => vec![None; keys.len()],
        };
        let scan = self.scan_options(catalogue);
        let recorder = self.recorder(hasher, &scan);
        let comparison = Comparison {
            hasher,
            catalogue,
            full: self.options.full,
            is_stale: &|path, row| {
                let is_stale = self.is_stale(path, row);
                self.n_stale
                    .fetch_add(u64::from(is_stale), Ordering::Relaxed);
                is_stale
            },
            path_of: &path_of,
            emit,
            recorder: recorder.as_ref(),
        };
        let progress = &self.progress.walk;
        let walked = match self.only {
            Some(files) => ken_walk::changes_of(files, &self.roots, &scan, progress, &comparison),
            None => ken_walk::changes(&self.roots, &scan, progress, &comparison),
        };
        if let Some(recorder) = recorder
            // Of a folder that cannot be read nothing is kept; that is no reason to keep nothing of others.
            && let Err(error) = recorder.finish(walked.scan.unavailable.is_empty() && !walked.scan.cancelled)
        {
            // Whoever wants to know lists them.
            let _ = self.unkept.set(error);
        }
        walked
    }

    fn scan_options(&self, catalogue: &Catalogue) -> ScanOptions {
        ScanOptions {
            threads: self.options.walk_threads(),
            excluded: vec![self.options.data.clone()],
            global_ignore: self.options.global_ignore.clone(),
            lazy_since: self.lazy_since(catalogue),
            // What is named is meant.
            // An index that never saw all knows nothing of such a folder that could stay.
            heeds_noupdate: !self.options.full && self.only.is_none() && !self.never_ended,
            order: self.options.order,
        }
    }

    /// Returns who takes note of what folders hold, for searches that look for new files; nobody if this walk does
    /// not list them all.
    fn recorder(&self, hasher: KeyHasher, scan: &ScanOptions) -> Option<Recorder> {
        let options = self.options;
        let lists_all = self.only.is_none() && scan.lazy_since.is_none();
        if !lists_all || options.dry_run || options.ngrams == Ngrams::None {
            return None;
        }
        let index = options.data.join("index");
        let known = Listings::open(&index, hasher, ken_index::map);
        let since = self.began - CLOCK_MARGIN_NS;
        Some(Recorder::new(&index, known, hasher, since))
    }

    /// Returns since when folders must have changed to be looked at; nothing if all are to be.
    fn lazy_since(&self, catalogue: &Catalogue) -> Option<i64> {
        let options = self.options;
        let is_asked = options.lazy && !options.full && !options.retry_failed;
        // Files to be tried again may lie anywhere.
        let is_asked = is_asked
            && self.tagged.is_empty()
            && self.lost.is_none()
            && !catalogue.has_unfinished();
        if !is_asked || self.only.is_some() || self.roots_changed || self.is_read_otherwise() {
            return None;
        }
        let began = self.snapshot.as_ref()?.meta().began?;
        // The clock of the file system may be another one; and who set the clock back since knows
        // nothing of what changed.
        (began < self.began).then_some(began - CLOCK_MARGIN_NS)
    }

    fn grams(&self, hasher: KeyHasher) -> &Grams {
        self.grams.get_or_init(|| {
            let index = self.options.data.join("index");
            let meta = self.snapshot.as_ref().map(Snapshot::meta);
            Grams::new(GramOptions {
                folder: ngrams::folder(&index),
                named: meta
                    .and_then(|meta| meta.gram_files.clone())
                    .unwrap_or_default(),
                of: self.options.ngrams,
                memory_bytes: self.options.shares().grams,
                threads: self.options.threads,
                seed: hasher.seed(),
                max_file_bytes: self.options.extract.limits.max_file_bytes,
            })
        })
    }

    /// Tells of a change that the walk found.
    fn announce(&self, change: &Change) {
        if let Change::Added { stamp, .. }
        | Change::Changed { stamp, .. }
        | Change::Moved { stamp, .. } = change
        {
            let progress = self.progress;
            progress.files_to_do.fetch_add(1, Ordering::Relaxed);
            progress
                .bytes_to_do
                .fetch_add(stamp.size, Ordering::Relaxed);
        }
        (self.notify)(change);
    }

    /// Returns which programs files of this run wait for.
    fn noticed(&self) -> BTreeSet<String> {
        let helpers = self.options.extract.helpers.as_deref();
        helpers.map(Helpers::noticed).unwrap_or_default()
>>>>>>> main
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
            errors: walked.scan.n_errors as u64,
            bytes: get(&self.progress.bytes_done),
            interrupted: self.progress.is_cancelled(),
            messages: self.messages(walked),
            ..Summary::default()
        }
    }

    /// Returns what people should know about the run.
    fn messages(&self, walked: &ken_walk::Summary) -> Vec<String> {
        let unavailable = walked.scan.unavailable.iter().map(|(path, availability)| {
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
        let errors = walked.scan.errors.iter().map(ToString::to_string);
        unavailable
            .chain(kept)
            .chain(unlisted)
            .chain(errors)
            .collect()
    }
}
