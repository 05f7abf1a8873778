//! Reads files of file systems that may never answer: another process fetches a copy, which is extracted.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ken_core::access::Class;
use ken_core::{Cause, Operation, Reader, Setting, Stamp};
use ken_walk::{Fetched, Mounts, fetch};
use rustix::io::Errno;

use super::Pool;
use super::attached::Attached;
use crate::open::open;

/// After this many files without an answer in a row, a file system is given up for the run.
const MAX_SILENT: u32 = 3;

/// A file that is open, with what is attached to it if that is read already.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) stamp: Stamp,
    /// Who may read what is open, if the index keeps that.
    pub(super) class: Option<Class>,
    pub(super) attached: Option<Attached>,
}

/// The file systems that may not answer.
#[derive(Default)]
pub(super) struct Remote {
    mounts: Mounts,
    /// Whether a device that was mounted since is remote: those of automounts and of exports inside exports are.
    later: Mutex<HashMap<u64, bool>>,
    /// The number of files in a row that did not answer, by device.
    silent: Mutex<HashMap<u64, u32>>,
}

impl Remote {
    pub(super) fn new() -> Self {
        Self {
            mounts: Mounts::read(),
            later: Mutex::default(),
            silent: Mutex::default(),
        }
    }

    /// Returns whether files of a device are fetched by another process.
    pub(super) fn has(&self, device: u64) -> bool {
        self.mounts.have(device)
            || self.mounts.are_any() && !self.mounts.know(device) && self.is_later(device)
    }

    /// Returns whether a file is in a file system whose files are fetched by another process.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.mounts.are_above(path)
    }

    fn is_later(&self, device: u64) -> bool {
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        let look = || Mounts::read().have(device);
        *later.entry(device).or_insert_with(look)
    }

    fn is_given_up(&self, device: u64) -> bool {
        let silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.get(&device).is_some_and(|n| *n >= MAX_SILENT)
    }

    fn note(&self, device: u64, is_silent: bool) {
        let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        let n = silent.entry(device).or_default();
        *n = if is_silent { *n + 1 } else { 0 };
    }
}

impl Pool<'_> {
    /// Opens a file of a file system that may not answer; `found` is its stamp from the walk.
    pub(super) fn open_remote(&self, path: &Path, found: &Stamp) -> io::Result<Option<Opened>> {
        if self.remote.is_given_up(found.device) {
            return Err(Errno::TIMEDOUT.into());
        }
        let options = &self.prepared.options;
        let should_stop = || self.progress.is_cancelled();
        // It has no name, and is not among the files of the index.
        let mut copy = tempfile::tempfile_in(&options.data)?;
        let time = options.extract.limits.file_time;
        let fetched = fetch(path, &mut copy, time, &should_stop);
        let is_silent = fetched.as_ref().is_err_and(is_late) && !should_stop();
        self.remote.note(found.device, is_silent);
        let Some(fetched) = fetched? else {
            return Ok(None);
        };
        // The file answers, so what is attached to it is read in place.
        let Some((file, stamp)) = open(path)? else {
            return Ok(None);
        };
        let mut class = self.class_of(&file, path);
        let attached = self.attached(&file, path, found.sidecar, class.as_ref());
        let (file, stamp) = match fetched {
            Fetched::All(copied) => {
                // The path may mean another file than the one that was fetched.
                if !is_same(&copied, &stamp) {
                    class = class.map(|_| Class::nobody());
                }
                (copy, copied)
            }
            Fetched::Start => (file, stamp),
        };
        Ok(Some(Opened {
            file,
            stamp,
            class,
            attached: Some(attached),
        }))
    }

    /// Returns the cause of a failure to open or read a file.
    pub(super) fn cause(&self, found: &Stamp, error: &io::Error) -> Cause {
        let silence = self.silence(found, error);
        silence.unwrap_or_else(|| Cause::system(Operation::Read, error))
    }

    fn silence(&self, found: &Stamp, error: &io::Error) -> Option<Cause> {
        (is_late(error) && self.remote.has(found.device)).then(|| Cause::TimedOut {
            reader: Reader::FileSystem,
            limit: self
                .prepared
                .options
                .extract
                .limits
                .limit(Setting::FileSeconds),
        })
    }
}

/// Returns whether two stamps are surely those of one file with one content.
fn is_same(one: &Stamp, other: &Stamp) -> bool {
    let numbers = |of: &Stamp| (of.size, of.mtime_ns, of.ctime_ns, of.inode, of.device);
    !one.is_racy() && numbers(one) == numbers(other)
}

fn is_late(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::TIMEDOUT.raw_os_error())
}
