//! The walk: every regular file below the roots that the rules let through, with its stamp.
//!
//! Threads take folders, and parts of large ones, from a shared stack ([`crate::queue`]); for each folder one `open`, one
//! `getdents` or few, and one `fstatat` for each file, relative to the open folder. What is no
//! regular file is told by its entry and never opened.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ken_core::Stamp;
use serde::Serialize;

use crate::folder::{Folder, Walker, Work};
use crate::listings::Recorder;
use crate::queue::Queue;
use crate::rules::Rules;
use ken_core::Root;

use crate::roots::availability;
use crate::{Availability, ScanError};

/// File systems of the kernel that hold no documents; left out when walked from above.
const PSEUDO: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];
/// How many errors are kept; further ones are counted.
const MAX_ERRORS: usize = 1000;

/// How to walk, whatever the root.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// Number of threads; with 0 or 1 the caller's thread walks alone.
    pub threads: usize,
    /// Absolute paths that are left out with all below them.
    pub excluded: Vec<PathBuf>,
    /// Git's global ignore file, whose patterns hold below each root.
    pub global_ignore: Option<PathBuf>,
    /// A time in nanoseconds since 1970-01-01 UTC: files of folders that did not change since are not
    /// looked at. A folder changes when an entry comes or goes, not when a file's content does.
    pub lazy_since: Option<i64>,
    /// In which order the files of a folder are visited.
    pub order: EntryOrder,
    /// Whether folders with a file `.noupdate` are left as they are.
    pub heeds_noupdate: bool,
}

/// In which order the entries of a folder are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryOrder {
    /// In the order of inodes, which is about that of the disk.
    #[default]
    Inode,
    /// In the order of names.
    Path,
    /// Those first that were changed last.
    Mtime,
}

/// What a running walk shows, and how it is stopped.
#[derive(Debug, Default)]
pub struct Progress {
    /// Files found so far.
    pub files: AtomicU64,
    /// The sum of their sizes.
    pub bytes: AtomicU64,
    /// Set to stop the walk before its next file.
    pub cancelled: AtomicBool,
}

/// Hears of a file.
pub type OnFile<'a> = dyn Fn(&Path, Stamp) + Sync + 'a;
/// Hears of what is left out.
pub type OnSkip<'a> = dyn Fn(&Path, Skip) + Sync + 'a;

/// Who hears of what the walk finds; called from all its threads.
#[derive(Clone, Copy)]
pub struct Visitor<'a> {
    /// Called with each file.
    pub file: &'a OnFile<'a>,
    /// Called with what is left out, if anybody wants to know.
    pub skipped: Option<&'a OnSkip<'a>>,
    /// Takes note of what each folder holds.
    pub recorder: Option<&'a Recorder>,
}

/// Why a file, or a folder and all below it, is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "skip", rename_all = "snake_case")]
pub enum Skip {
    /// Its name starts with a dot.
    Hidden,
    /// A pattern of an ignore file matches.
    Ignored {
        /// The ignore file, as text for people.
        file: String,
        /// The pattern as it stands there.
        pattern: String,
    },
    /// The folder holds a file `.noindex`.
    Marked,
    /// The folder holds a file `.noupdate`, and stays in the index as it is.
    Held,
    /// It is neither file, folder nor link.
    Special,
    /// It is a symbolic link, and links are not followed or it leads nowhere.
    Link,
    /// The link leads to a folder that it lies in.
    Loop,
    /// It lies on another file system than the root.
    FileSystem,
    /// It is excluded by the caller, or a file system of the kernel.
    Excluded,
    /// It is a root of its own.
    Root,
}

/// How a walk went.
#[derive(Debug, Default)]
pub struct ScanSummary {
    /// Number of files found.
    pub files: u64,
    /// The sum of their sizes.
    pub bytes: u64,
    /// Number of errors.
    pub n_errors: usize,
    /// The first thousand errors.
    pub errors: Vec<ScanError>,
    /// Folders and files that could not be looked at, so that what lies there is unknown.
    pub incomplete: HashSet<PathBuf>,
    /// Roots that could not be walked.
    pub unavailable: Vec<(PathBuf, Availability)>,
    /// Folders whose own files were not looked at, because the folder did not change.
    pub unlooked: HashSet<PathBuf>,
    /// Those of them that were not even listed: they are not expected to hold folders.
    pub unlisted: HashSet<PathBuf>,
    /// Folders that are left as they are with all below them: they hold a file `.noupdate`.
    pub held: HashSet<PathBuf>,
    /// Number of folders whose files were looked at.
    pub n_looked: u64,
    /// Whether the walk was stopped before its end.
    pub cancelled: bool,
}

/// What of a folder is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    All,
    /// Not at its files, which did not change.
    Folders,
    /// As `Folders`, and there are none.
    Unlisted,
    Nothing,
}

/// What the threads of a walk share.
pub(crate) struct Shared<'a> {
    pub(crate) roots: &'a [Root],
    pub(crate) progress: &'a Progress,
    pub(crate) visitor: Visitor<'a>,
    pub(crate) stops: Stops,
    /// The only paths that are of interest, if not all are.
    targets: Option<&'a Targets>,
    pub(crate) lazy_since: Option<i64>,
    pub(crate) heeds_noupdate: bool,
    pub(crate) order: EntryOrder,
    threads: usize,
    /// How many folders are divided among threads.
    pub(crate) n_divided: AtomicUsize,
    summary: Mutex<ScanSummary>,
}

/// Paths at which the walk of a root ends, and why.
pub(crate) struct Stops {
    reasons: HashMap<PathBuf, Skip>,
    /// The folders that hold one, so that entries of others need no look.
    parents: HashSet<PathBuf>,
}

/// Walks the roots and calls the visitor with each regular file.
///
/// A root inside another is walked once, with its own options. What cannot be read is counted,
/// and the walk goes on.
pub fn scan(
    roots: &[Root],
    options: &ScanOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
) -> ScanSummary {
    walk(None, roots, options, progress, visitor)
}

/// Walks only the roots that cover the targets, and there only folders that lead to them; and with `below`, all
/// that lies below a target.
pub(crate) fn scan_towards(
    targets: &[PathBuf],
    below: bool,
    roots: &[Root],
    options: &ScanOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
) -> ScanSummary {
    let targets = Targets::new(targets, below, roots);
    walk(Some(&targets), roots, options, progress, visitor)
}

/// Some paths, and what leads to them.
struct Targets {
    roots: HashSet<PathBuf>,
    /// The targets and all folders above them.
    on_the_way: HashSet<PathBuf>,
    named: HashSet<PathBuf>,
    /// Whether all that lies below a target is of interest too.
    below: bool,
}

impl Targets {
    fn new(targets: &[PathBuf], below: bool, roots: &[Root]) -> Self {
        let named: HashSet<PathBuf> = targets.iter().cloned().collect();
        let covering = targets.iter().flat_map(|path| crate::covering(roots, path));
        let is_below = |root: &&Root| root.path.ancestors().any(|path| named.contains(path));
        let covered = roots.iter().filter(|root| below && is_below(root));
        let ways = targets.iter().flat_map(|path| path.ancestors());
        Self {
            roots: covering
                .chain(covered)
                .map(|root| root.path.clone())
                .collect(),
            on_the_way: ways.map(Path::to_path_buf).collect(),
            named,
            below,
        }
    }
}

fn walk(
    targets: Option<&Targets>,
    roots: &[Root],
    options: &ScanOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
) -> ScanSummary {
    let shared = Shared {
        roots,
        progress,
        visitor,
        targets,
        lazy_since: options.lazy_since,
        heeds_noupdate: options.heeds_noupdate,
        order: options.order,
        threads: options.threads,
        n_divided: AtomicUsize::new(0),
        stops: Stops::new(roots, options),
        summary: Mutex::default(),
    };
    let folders = shared.start(options.global_ignore.as_deref());
    let queue = Queue::new(folders.into_iter().map(Work::Folder).collect());
    std::thread::scope(|scope| {
        for _ in 1..options.threads {
            scope.spawn(|| Walker::new(&shared).run(&queue));
        }
        Walker::new(&shared).run(&queue);
    });
    drop(queue);
    shared.finish()
}

impl Shared<'_> {
    /// Returns the folders that the walk starts from; roots that are files are visited at once.
    fn start(&self, global: Option<&Path>) -> Vec<Folder> {
        let mut folders = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            if !self.is_walked(root) {
                continue;
            }
            match availability(root) {
                Availability::Available if root.path.is_dir() => {
                    folders.push(self.root_folder(number, global));
                }
                Availability::Available => Walker::new(self).root_file(root),
                state => self.summary().unavailable.push((root.path.clone(), state)),
            }
        }
        folders
    }

    fn root_folder(&self, number: usize, global: Option<&Path>) -> Folder {
        let root = &self.roots[number];
        let rules = if root.no_ignore {
            Arc::new(Rules::none())
        } else {
            let mut errors = Vec::new();
            let rules = Rules::above(&root.path, global, &mut errors);
            self.report(errors);
            rules
        };
        Folder::root(number, root.path.clone(), rules)
    }

    /// Returns whether an entry is a target or leads to one; every one does if there are none.
    pub(crate) fn is_on_the_way(&self, entry: &Path) -> bool {
        self.targets
            .is_none_or(|targets| targets.on_the_way.contains(entry))
    }

    /// Returns whether a file is a target; every one is if there are none.
    pub(crate) fn is_target(&self, file: &Path) -> bool {
        self.targets
            .is_none_or(|targets| targets.named.contains(file))
    }

    /// Returns whether all that lies below a path is of interest.
    pub(crate) fn is_whole(&self, path: &Path) -> bool {
        self.targets.is_none_or(|targets| {
            let mut above = path.ancestors();
            targets.below && above.any(|path| targets.named.contains(path))
        })
    }

    /// Returns whether several threads may look at the entries of one folder: in no order that people see.
    pub(crate) fn is_divisible(&self) -> bool {
        self.threads > 1 && self.order == EntryOrder::Inode
    }

    /// Takes note of errors; what could not be looked at is incomplete.
    pub(crate) fn report(&self, errors: Vec<ScanError>) {
        if errors.is_empty() {
            return;
        }
        let mut summary = self.summary();
        for error in errors {
            if !matches!(error, ScanError::Rules { .. }) {
                summary.incomplete.insert(error.path().to_path_buf());
            }
            summary.n_errors += 1;
            if summary.errors.len() < MAX_ERRORS {
                summary.errors.push(error);
            }
        }
    }

    /// Takes note of how the files of a folder were looked at.
    pub(crate) fn note(&self, folder: &Path, look: Look) {
        let mut summary = self.summary();
        match look {
            Look::All => summary.n_looked += 1,
            Look::Folders => _ = summary.unlooked.insert(folder.to_path_buf()),
            Look::Unlisted => _ = summary.unlisted.insert(folder.to_path_buf()),
            Look::Nothing => _ = summary.held.insert(folder.to_path_buf()),
        }
    }

    fn summary(&self) -> MutexGuard<'_, ScanSummary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_walked(&self, root: &Root) -> bool {
        let targets = self.targets;
        targets.is_none_or(|targets| targets.roots.contains(&root.path))
    }

    fn finish(self) -> ScanSummary {
        // One that went away meanwhile looks as if all files below it were deleted.
        let mut now = Vec::new();
        for root in self.roots.iter().filter(|root| self.is_walked(root)) {
            match availability(root) {
                Availability::Available => {}
                state => now.push((root.path.clone(), state)),
            }
        }
        let mut summary = self.summary.into_inner();
        let known = summary
            .as_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut());
        now.retain(|(path, _)| known.unavailable.iter().all(|(of, _)| of != path));
        known.unavailable.extend(now);
        ScanSummary {
            files: self.progress.files.load(Ordering::Relaxed),
            bytes: self.progress.bytes.load(Ordering::Relaxed),
            cancelled: self.progress.cancelled.load(Ordering::Relaxed),
            ..summary.unwrap_or_else(PoisonError::into_inner)
        }
    }
}

impl Stops {
    fn new(roots: &[Root], options: &ScanOptions) -> Self {
        let pseudo = PSEUDO.iter().map(PathBuf::from);
        // Roots have no symbolic links; a path that has some would never be met.
        let resolved = options.excluded.iter().flat_map(fs_err::canonicalize);
        let excluded = pseudo
            .chain(options.excluded.iter().cloned())
            .chain(resolved);
        let roots = roots.iter().map(|root| (root.path.clone(), Skip::Root));
        let reasons: HashMap<_, _> = excluded
            .map(|path| (path, Skip::Excluded))
            .chain(roots)
            .collect();
        let parents = reasons.keys().filter_map(|path| path.parent());
        Self {
            parents: parents.map(Path::to_path_buf).collect(),
            reasons,
        }
    }

    /// Returns whether any stop lies directly in this folder.
    pub(crate) fn are_in(&self, folder: &Path) -> bool {
        self.parents.contains(folder)
    }

    /// Returns why the walk ends here, if it does.
    pub(crate) fn reason(&self, path: &Path) -> Option<&Skip> {
        self.reasons.get(path)
    }
}
