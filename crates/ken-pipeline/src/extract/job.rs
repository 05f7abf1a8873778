//! A file that is being extracted, as its parts share it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ken_core::{Document, FileKey, Stamp};
use ken_engine::FileState;

use super::attached::Attached;
use super::counts::Made;
use crate::mailbox::KnownMailbox;
use crate::ngrams::FileNgrams;
use crate::write::FileFacts;

/// A file whose parts are extracted on several threads.
pub(super) struct FileJob {
    pub(super) path: PathBuf,
    pub(super) key: FileKey,
    pub(super) made: Made,
    pub(super) stamp: Stamp,
    pub(super) state: FileState,
    /// Who may read the file, if the index keeps that.
    pub(super) class: Option<Arc<str>>,
    /// Metadata from outside the file's bytes, until they are added to its own document.
    pub(super) attached: Mutex<Attached>,
    /// Number of unfinished parts, including the file's own extraction.
    pub(super) pending: AtomicUsize,
    /// Whether some part failed for a cause that may pass.
    pub(super) try_again: AtomicBool,
    /// Whether there are documents inside.
    pub(super) has_parts: AtomicBool,
    /// The file's own document, which waits for the parts because it marks the file as finished.
    pub(super) own: Mutex<Option<Document>>,
    /// The file's n-grams, while its own document waits.
    pub(super) ngrams: Mutex<Option<FileNgrams>>,
    /// Messages in the index that may stay, if the file is a mailbox.
    pub(super) mailbox: Option<Mutex<KnownMailbox>>,
}

impl FileJob {
    pub(super) fn facts(&self) -> FileFacts<'_> {
        FileFacts {
            class: self.class.clone(),
            path: &self.path,
            key: self.key,
            mtime_seconds: self.stamp.mtime_seconds(),
            mh: self.stamp.mh,
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
