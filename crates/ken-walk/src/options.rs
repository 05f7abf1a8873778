//! The options of a walk, its observers and its results.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

use ken_core::Stamp;
use serde::Serialize;

use crate::listing::EntryOrder;
use crate::listings::Recorder;
use crate::{Availability, WalkError};

/// Options for all roots.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Number of threads; with 0 or 1 the caller's thread walks alone.
    pub threads: usize,
    /// Absolute paths that are left out, with everything below them.
    pub excluded: Vec<PathBuf>,
    /// Git's global ignore file, whose patterns apply below each root.
    pub global_ignore: Option<PathBuf>,
    /// A time in nanoseconds since 1970-01-01 UTC: files in folders that did not change since then
    /// are not examined. A folder changes when an entry is added or removed, not when the content
    /// of a file changes.
    pub lazy_since: Option<i64>,
    /// Folders whose files are examined all the same.
    pub looked_again: HashSet<PathBuf>,
    /// The order in which the files of a folder are visited.
    pub order: EntryOrder,
    /// Whether folders with a file `.noupdate` stay unchanged in the index.
    pub respects_noupdate: bool,
}

/// The progress of a running walk, and how to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of files found so far.
    pub files: AtomicU64,
    /// Total size of these files.
    pub bytes: AtomicU64,
    /// Set to stop the walk before its next file.
    pub cancelled: AtomicBool,
}

/// Receives a file.
pub type OnFile<'a> = dyn Fn(&Path, Stamp) + Sync + 'a;
/// Receives what is left out.
pub type OnSkip<'a> = dyn Fn(&Path, Skip) + Sync + 'a;

/// Receives the results of a walk; called from all its threads.
#[derive(Clone, Copy)]
pub struct Visitor<'a> {
    /// Called with each file.
    pub file: &'a OnFile<'a>,
    /// Called with what is left out, if that is wanted.
    pub skipped: Option<&'a OnSkip<'a>>,
    /// Records what each folder contains.
    pub recorder: Option<&'a Recorder>,
}

/// Why a file, or a folder with everything below it, is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "skip", rename_all = "snake_case")]
pub enum Skip {
    /// Its name starts with a dot.
    Hidden,
    /// A pattern of an ignore file matches.
    Ignored {
        /// The ignore file, as text for people.
        file: String,
        /// The pattern as written in the file.
        pattern: String,
    },
    /// The folder holds a file `.noindex`.
    Marked,
    /// The folder contains a file `.noupdate`, and stays unchanged in the index.
    Held,
    /// It is the `tmp` of a Maildir: what lies there is not delivered yet.
    Undelivered,
    /// It lies beside the `cur` and `new` of a Maildir, and the root takes no such files.
    Loose,
    /// It is neither file, folder nor link.
    Special,
    /// It is a symbolic link, and links are not followed or it leads nowhere.
    Link,
    /// The link leads to a folder that contains it.
    Loop,
    /// It is on another file system than the root.
    FileSystem,
    /// The caller excludes it, or it is a file system of the kernel.
    Excluded,
    /// It is a separate root.
    Root,
}

/// The outcome of a walk.
#[derive(Debug, Default)]
pub struct WalkSummary {
    /// Number of files found.
    pub files: u64,
    /// Total size of these files.
    pub bytes: u64,
    /// Number of errors.
    pub n_errors: usize,
    /// The first thousand errors.
    pub errors: Vec<WalkError>,
    /// Folders and files that were not accessible, so that their content is unknown.
    pub incomplete: HashSet<PathBuf>,
    /// Roots that could not be walked.
    pub unavailable: Vec<(PathBuf, Availability)>,
    /// Folders whose files were not examined, because the folder did not change.
    pub unlooked: HashSet<PathBuf>,
    /// Those of them that were not even listed, because they should not contain folders.
    pub unlisted: HashSet<PathBuf>,
    /// Folders that stay unchanged with everything below them, because they contain a file
    /// `.noupdate`.
    pub held: HashSet<PathBuf>,
    /// Number of folders whose files were examined.
    pub n_looked: u64,
    /// Whether the walk was stopped early.
    pub cancelled: bool,
}
