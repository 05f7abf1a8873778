//! State that the threads of a walk share: its limits, its options, its results.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ken_core::Root;

use crate::gate::OnFolders;
use crate::listing::EntryOrder;
use crate::options::{Progress, Visitor, WalkOptions, WalkSummary};
use crate::roots::availabilities;
use crate::rules::RuleError;
use crate::stops::Stops;
use crate::{Availability, Mounts, WalkError};

/// Maximum number of errors that are kept; further ones are counted.
const MAX_ERRORS: usize = 1000;

/// How a folder is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    All,
    /// Like `All`, but the folder did not change, so it lost nothing and its folders are not new.
    Again,
    /// Without its files, which did not change.
    Folders,
    /// Like `Folders`, but there are none.
    Unlisted,
    Nothing,
}

impl Look {
    /// Returns whether the files of the folder are examined.
    pub(crate) fn is_at_files(self) -> bool {
        matches!(self, Self::All | Self::Again)
    }
}

/// State that the threads of a walk share.
pub(crate) struct Shared<'a> {
    pub(crate) roots: &'a [Root],
    pub(crate) progress: &'a Progress,
    pub(crate) visitor: Visitor<'a>,
    /// Who is told of the folders; the walk then looks at nothing else.
    pub(crate) folders: Option<&'a dyn OnFolders>,
    pub(crate) stops: Arc<Stops>,
    pub(crate) mounts: Mounts,
    /// The only paths of interest, if not all are.
    targets: Option<&'a Targets>,
    pub(crate) lazy_since: Option<i64>,
    pub(crate) looked_again: &'a HashSet<PathBuf>,
    pub(crate) respects_noupdate: bool,
    pub(crate) order: EntryOrder,
    threads: usize,
    /// Number of folders that are divided among threads.
    pub(crate) n_divided: AtomicUsize,
    summary: Mutex<WalkSummary>,
}

/// Some paths, and the folders that lead to them.
pub(crate) struct Targets {
    roots: HashSet<PathBuf>,
    /// The targets and all folders above them.
    on_the_way: HashSet<PathBuf>,
    named: HashSet<PathBuf>,
    /// Whether everything below a target is of interest too.
    below: bool,
}

impl Targets {
    pub(crate) fn new(targets: &[PathBuf], below: bool, roots: &[Root]) -> Self {
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

impl<'a> Shared<'a> {
    pub(crate) fn new(
        targets: Option<&'a Targets>,
        roots: &'a [Root],
        options: &'a WalkOptions,
        progress: &'a Progress,
        visitor: Visitor<'a>,
    ) -> Self {
        Self {
            roots,
            progress,
            visitor,
            targets,
            lazy_since: options.lazy_since,
            looked_again: &options.looked_again,
            respects_noupdate: options.respects_noupdate,
            order: options.order,
            threads: options.threads,
            n_divided: AtomicUsize::new(0),
            folders: None,
            stops: Arc::new(Stops::new(roots, options)),
            mounts: Mounts::read(),
            summary: Mutex::default(),
        }
    }

    /// Returns whether an entry is a target or leads to one; true for all entries without targets.
    pub(crate) fn is_on_the_way(&self, entry: &Path) -> bool {
        self.targets
            .is_none_or(|targets| targets.on_the_way.contains(entry))
    }

    /// Returns whether a file is a target; true for all files without targets.
    pub(crate) fn is_target(&self, file: &Path) -> bool {
        self.targets
            .is_none_or(|targets| targets.named.contains(file))
    }

    /// Returns whether everything below a path is of interest.
    pub(crate) fn is_whole(&self, path: &Path) -> bool {
        self.targets.is_none_or(|targets| {
            let mut above = path.ancestors();
            targets.below && above.any(|path| targets.named.contains(path))
        })
    }

    /// Returns whether several threads may examine the entries of one folder, which is so
    /// if their order is not visible.
    pub(crate) fn is_divisible(&self) -> bool {
        self.threads > 1 && self.order == EntryOrder::Inode
    }

    /// Records ignore files that could not be used as a whole.
    pub(crate) fn report_rules(&self, errors: Vec<RuleError>) {
        self.report(errors.into_iter().map(WalkError::from).collect());
    }

    /// Records errors; inaccessible paths are incomplete.
    pub(crate) fn report(&self, errors: Vec<WalkError>) {
        if errors.is_empty() {
            return;
        }
        let mut summary = self.summary();
        for error in errors {
            if !matches!(error, WalkError::Rules { .. }) {
                summary.incomplete.insert(error.path().to_path_buf());
            }
            summary.n_errors += 1;
            if summary.errors.len() < MAX_ERRORS {
                summary.errors.push(error);
            }
        }
    }

    /// Records how the files of a folder were examined.
    pub(crate) fn note(&self, folder: &Path, look: Look) {
        let mut summary = self.summary();
        match look {
            Look::All => summary.n_looked += 1,
            Look::Again | Look::Folders => _ = summary.unlooked.insert(folder.to_path_buf()),
            Look::Unlisted => _ = summary.unlisted.insert(folder.to_path_buf()),
            Look::Nothing => _ = summary.held.insert(folder.to_path_buf()),
        }
    }

    pub(crate) fn summary(&self) -> MutexGuard<'_, WalkSummary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_walked(&self, root: &Root) -> bool {
        let targets = self.targets;
        targets.is_none_or(|targets| targets.roots.contains(&root.path))
    }

    pub(crate) fn finish(self) -> WalkSummary {
        // If a root went away meanwhile, all files below it would seem to be deleted.
        let is_here_so_far = |root: &&Root| {
            let summary = self.summary();
            summary.unavailable.iter().all(|(of, _)| *of != root.path)
        };
        let walked = self.roots.iter().filter(|root| self.is_walked(root));
        let walked: Vec<&Root> = walked.filter(is_here_so_far).collect();
        let states = availabilities(&walked, &Mounts::read());
        let away = walked.iter().zip(states);
        let away = away.filter(|(_, state)| *state != Availability::Available);
        let away: Vec<_> = away
            .map(|(root, state)| (root.path.clone(), state))
            .collect();
        let mut summary = self.summary.into_inner();
        let known = summary
            .as_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut());
        known.unavailable.extend(away);
        WalkSummary {
            files: self.progress.files.load(Ordering::Relaxed),
            bytes: self.progress.bytes.load(Ordering::Relaxed),
            cancelled: self.progress.cancelled.load(Ordering::Relaxed),
            ..summary.unwrap_or_else(PoisonError::into_inner)
        }
    }
}
