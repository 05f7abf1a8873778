//! What a walk is told, and what it tells.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

use ken_core::Stamp;
use serde::Serialize;

use crate::listing::EntryOrder;
use crate::listings::Recorder;
use crate::{Availability, ScanError};

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
    /// It is the `tmp` of a Maildir: what lies there is not delivered yet.
    Undelivered,
    /// It does not lie where a Maildir keeps its messages, and the root takes nothing else.
    NoMessage,
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
