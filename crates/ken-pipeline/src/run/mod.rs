//! One run: from the roots to a commit.

mod commit;
pub(crate) mod replace;
mod retag;
#[cfg(test)]
pub(crate) mod tests;
mod threads;

pub use replace::start_anew;

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ken_core::{Change, FileKey, FileRow, KeyHasher, Root, Token};
use ken_extract::helper::Helpers;
use ken_index::{Meta, Snapshot, WriterOptions};
use ken_walk::{Catalogue, Comparison, Listings, Recorder, ScanOptions};
use serde::Serialize;

use crate::background;
use crate::extract::counts::{Counts, Made};
use crate::lock::RunLock;
use crate::ngrams::missing::Lost;
use crate::ngrams::{self, GramOptions, Grams};
use crate::options::afford;
use crate::progress::Stage;
use crate::stale::{self, Now, Staleness};
use crate::tags::{self, Log};
use crate::write::LazyWriter;
use crate::{Durability, Error, Ngrams, Options, Progress, RootChange};

/// A folder that changed so long before a run began may have changed after it.
const CLOCK_MARGIN_NS: i64 = 2_000_000_000;

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Files that were added.
    pub added: u64,
    /// Files that were read again.
    pub changed: u64,
    /// Files that the walk found unchanged and that were read again all the same: their extractor or
    /// the fields of their folder changed, or they had failed. They count as changed too.
    pub stale: u64,
    /// Files that moved and were not read again.
    pub moved: u64,
    /// Files that are gone.
    pub gone: u64,
    /// Files that are as they were.
    pub unchanged: u64,
    /// Files that were not seen or read and are kept, because their root or folder could not be read, or went away.
    pub kept: u64,
    /// Documents that were written.
    pub documents: u64,
    /// Documents, among those written, whose content is missing or not complete.
    pub failed: u64,
    /// Files and folders that could not be looked at.
    pub errors: u64,
    /// Bytes of the files that were read.
    pub bytes: u64,
    /// Wall-clock time of the run.
    pub seconds: f64,
    /// Files of which the text was recognised in pictures.
    pub recognised: u64,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Whether anything was committed.
    pub committed: bool,
    /// The first errors of the walk, for people.
    #[serde(skip)]
    pub messages: Vec<String>,
}

impl Summary {
    /// Returns how two parts of a run went together.
    fn and(self, later: Self) -> Self {
        let done = self.added + self.changed + self.moved;
        Self {
            added: self.added + later.added,
            changed: self.changed + later.changed,
            stale: self.stale + later.stale,
            moved: self.moved + later.moved,
            gone: self.gone + later.gone,
            unchanged: later.unchanged.saturating_sub(done),
            seconds: self.seconds + later.seconds,
            recognised: self.recognised + later.recognised,
            committed: self.committed || later.committed,
            // The others are of all that the progress counted, or of the last walk.
            ..later
        }
    }
}

/// Brings the index in `options.data` up to date with its roots, after changing them.
///
/// Each change of a file is told to `notify` when the walk finds it. Nothing is written if
/// nothing changed, nor on a dry run. While indexing is paused ([`background::pause`]), a run commits what it
/// did, lets the index go, and waits; with `full` it then reads all again.
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
        return run(options, changes, None, progress, notify);
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

/// One run that ends early when indexing is paused, and takes no more of the machine than it may.
fn run_kept(
    options: &Options,
    changes: &[RootChange],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    /// Lets the threads beside a run end, also by a panic: it would wait for them for ever.
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
        let beside = [keeper].into_iter().chain(cores);
        let _ending = Ending {
            ended,
            threads: beside.map(|beside| beside.thread().clone()).collect(),
        };
        run(options, changes, None, progress, notify)
    })
}

/// Brings what the index in `options.data` knows of some files up to date: those that are there,
/// and those that are not any more. A file that was renamed is not read again if both its paths are
/// among them. Nothing else is looked at; paths below no root are passed over. What changes of roots
/// mean for their files is left to [`update`].
///
/// # Errors
/// Fails as [`update`] does.
pub fn update_files(
    options: &Options,
    changes: &[RootChange],
    files: &[PathBuf],
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    let options = Options {
        full: false,
        lazy: false,
        retry_failed: false,
        ocr: None,
        ..options.clone()
    };
    run(&options, changes, Some(files), progress, notify)
}

fn run(
    options: &Options,
    changes: &[RootChange],
    only: Option<&[PathBuf]>,
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Summary, Error> {
    let started = Instant::now();
    let wait = || {
        progress.waiting.store(true, Ordering::Relaxed);
        !progress.is_cancelled()
    };
    let lock = match options.dry_run {
        true => None,
        false => RunLock::take(&options.data, &wait)?,
    };
    if lock.is_none() && !options.dry_run {
        return Ok(Summary {
            interrupted: true,
            ..Summary::default()
        });
    }
    progress.waiting.store(false, Ordering::Relaxed);
    let loading = progress.span(Stage::Load, None);
    let index = options.data.join("index");
    if lock.is_some() {
        replace::recover(&index)?;
    }
    let snapshot = match Snapshot::open(&index) {
        Ok(snapshot) => Some(snapshot),
        Err(ken_index::Error::Missing(_)) => None,
        Err(ken_index::Error::Version { .. })
            if options.full && only.is_none() && !options.dry_run =>
        {
            let roots = replace::roots_of_other_format(&index)?;
            // A mistake in what is to be changed leaves the index as it is.
            change_roots(&mut roots.clone(), changes)?;
            replace::replace(&index, roots)?;
            Some(Snapshot::open(&index)?)
        }
        Err(error) => return Err(error.into()),
    };
    let known = snapshot.as_ref().map(Snapshot::meta);
    let options = &fitted(options, known)?;
    let now = Now {
        folders: &options.folders,
        helpers: options.extract.helpers.as_deref(),
        limits: &options.extract.limits,
        knows_passwords: true,
    };
    let stale = Staleness::new(snapshot.as_ref(), &now, options.retry_failed)?;
    let known_tags = known.map_or((0, 0), |meta| (meta.tags, meta.tags_hash));
    let log = Log::read(&options.data, known_tags)?;
    let few;
    let options = match only {
        Some(files) => {
            let n_jobs = files.len() + log.n_pending().div_ceil(retag::AT_ONCE);
            few = Options {
                threads: options.threads.min(n_jobs).max(1),
                ..options.clone()
            };
            &few
        }
        None => options,
    };
    let tagged = match &snapshot {
        Some(snapshot) if log.is_another => tags::tagged(snapshot)?,
        _ => HashSet::new(),
    };
    let lost = match known {
        Some(meta) if options.ngrams != Ngrams::None => Lost::of(&index, meta)?,
        _ => None,
    };
    let mut roots = known.map(|meta| meta.roots.clone()).unwrap_or_default();
    change_roots(&mut roots, changes)?;
    note_mounts(&mut roots);

    let run = Run {
        options,
        only,
        progress,
        notify,
        roots_changed: known.is_none_or(|meta| meta.roots != roots),
        never_ended: known.is_none_or(|meta| !meta.all_seen),
        grams: OnceLock::new(),
        lost,
        writer: LazyWriter::new(
            index,
            WriterOptions {
                memory_bytes: options.shares().segments,
                threads: options.segment_builders(),
            },
            options.durability == Durability::Full,
        )
        .patient(),
        snapshot,
        stale,
        roots,
        tags: log,
        tagged,
        began: nanoseconds(SystemTime::now()),
        counts: Counts::default(),
        n_stale: AtomicU64::new(0),
        unkept: OnceLock::new(),
    };
    drop(loading);
    let mut summary = run.all()?;
    if !summary.interrupted && !options.dry_run && only.is_none() {
        crate::ocr::recognise(options, progress, &mut summary)?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// Gives the headers that are to be fields those that they have in the index, and the limits what the memory
/// allows.
fn fitted(options: &Options, known: Option<&Meta>) -> Result<Options, Error> {
    let mut options = options.clone();
    let limits = &mut options.extract.limits;
    afford(limits, options.memory_bytes);
    limits.headers = stale::custom_fields(limits, known).map_err(Error::Headers)?;
    Ok(options)
}

/// Adds and forgets roots. A root is known by its path; adding it again sets its options.
fn change_roots(roots: &mut Vec<Root>, changes: &[RootChange]) -> Result<(), Error> {
    for change in changes {
        match change {
            RootChange::Add(root) => {
                roots.retain(|known| known.path != root.path);
                roots.push(root.clone());
            }
            RootChange::Forget(path) => {
                let before = roots.len();
                roots.retain(|known| known.path != *path);
                if roots.len() == before {
                    return Err(Error::NotARoot(path.clone()));
                }
            }
        }
    }
    roots.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Remembers which roots are mount points, as long as something is mounted there.
fn note_mounts(roots: &mut [Root]) {
    for root in roots {
        root.mounted |= ken_walk::is_mount_point(&root.path);
    }
}

struct Run<'o> {
    options: &'o Options,
    /// The files that are looked at; absent for all.
    only: Option<&'o [PathBuf]>,
    progress: &'o Progress,
    notify: &'o (dyn Fn(&Change) + Sync),
    snapshot: Option<Snapshot>,
    stale: Staleness,
    roots: Vec<Root>,
    tags: Log,
    /// Files of messages that have tags, which the log may not give any more: only the files tell.
    tagged: HashSet<FileKey>,
    /// When the run began, in nanoseconds since 1970-01-01 UTC.
    began: i64,
    roots_changed: bool,
    /// No run with these roots came to its end.
    never_ended: bool,
    /// Set when files are read. Before the writer, whose lock goes with it: until then nobody else writes such files.
    grams: OnceLock<Grams>,
    writer: LazyWriter,
    /// What is lost of the grams of earlier runs.
    lost: Option<Lost>,
    counts: Counts,
    /// Files that did not change and are read all the same.
    n_stale: AtomicU64,
    /// Why what folders hold could not be written.
    unkept: OnceLock<io::Error>,
}

impl Run<'_> {
    fn all(self) -> Result<Summary, Error> {
        let loading = self.progress.span(Stage::Load, None);
        let catalogue = Catalogue::new(self.known()?);
        drop(loading);
        let walked = if self.options.dry_run {
            let hasher = self
                .snapshot
                .as_ref()
                .map(|snapshot| snapshot.meta().hasher);
            // Without an index every file is new, whatever its key.
            let hasher = hasher.unwrap_or(KeyHasher::new(0, 0));
            self.walk(&catalogue, hasher, &|change| {
                self.announce(&change);
                self.counts.add(Made::by(&change));
            })
        } else {
            self.walk_and_extract(&catalogue)?
        };
        // What is merged at the end has a table of all files of its own.
        drop(catalogue);
        let mut summary = self.summary(&walked);
        if !self.options.dry_run {
            let scan = &walked.scan;
            let saw_all = scan.unavailable.is_empty() && scan.incomplete.is_empty();
            summary.committed = self.finish(&summary, saw_all)?;
        }
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
    }

    fn summary(&self, walked: &ken_walk::Summary) -> Summary {
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
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
        let unkept = self.unkept.get().map(|error| {
            format!("what folders hold cannot be kept, so every search lists them: {error}")
        });
        let errors = walked.scan.errors.iter().map(ToString::to_string);
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
            messages: unavailable
                .chain(kept)
                .chain(unkept)
                .chain(errors)
                .collect(),
            ..Summary::default()
        }
    }
}
