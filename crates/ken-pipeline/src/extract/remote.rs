//! Reads files of file systems that may never answer: another thread makes a copy, which is extracted.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ken_core::{Cause, Reader, Setting, SidecarStamp, Stamp};
use ken_walk::{Mounts, within};
use rustix::io::Errno;

use super::Pool;
use super::attached::Attached;
use crate::open::open;

/// A larger file is not copied, since most of a film is never read: only its start is known to answer.
const COPIED_BYTES: u64 = 64 << 20;
const START_BYTES: usize = 64 << 10;
/// After this many files without an answer in a row, a file system is given up for the run.
const MAX_SILENT: u32 = 3;

/// A file that is open, with what is attached to it if that is read already.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) stamp: Stamp,
    pub(super) attached: Option<Attached>,
}

/// The file systems that may not answer.
#[derive(Default)]
pub(super) struct Remote {
    mounts: Mounts,
    /// The number of files in a row that did not answer, by device.
    silent: Mutex<HashMap<u64, u32>>,
}

impl Remote {
    pub(super) fn new() -> Self {
        Self {
            mounts: Mounts::read(),
            silent: Mutex::default(),
        }
    }

    /// Returns whether files of a device are read by another thread.
    pub(super) fn has(&self, device: u64) -> bool {
        self.mounts.have(device)
    }

    fn is_given_up(&self, device: u64) -> bool {
        let silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.get(&device).is_some_and(|n| *n >= MAX_SILENT)
    }

    fn note(&self, device: u64, answered: bool) {
        let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        let n = silent.entry(device).or_default();
        *n = if answered { 0 } else { *n + 1 };
    }
}

impl Pool<'_> {
    /// Opens a file of a file system that may not answer; `found` is its stamp from the walk.
    pub(super) fn open_remote(&self, path: &Path, found: &Stamp) -> io::Result<Option<Opened>> {
        if self.remote.is_given_up(found.device) {
            return Err(Errno::TIMEDOUT.into());
        }
        let (path, sidecar) = (path.to_path_buf(), found.sidecar);
        let folder = self.prepared.options.data.clone();
        let time = self
            .prepared
            .options
            .extract
            .limits
            .file_time_of(found.size);
        let should_stop = || self.progress.is_cancelled();
        let fetched = within(time, &should_stop, move || fetched(&path, &folder, sidecar));
        self.remote
            .note(found.device, fetched.is_some() || should_stop());
        fetched.unwrap_or_else(|| Err(Errno::TIMEDOUT.into()))
    }

    /// Returns the cause of a failure to open or read a file of a file system that may not answer.
    pub(super) fn silence(&self, found: &Stamp, error: &io::Error) -> Option<Cause> {
        let is_late = error.raw_os_error() == Some(Errno::TIMEDOUT.raw_os_error());
        (is_late && self.remote.has(found.device)).then(|| Cause::TimedOut {
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

/// Opens a file, reads what is attached to it, and copies it into the data folder, where the copy has no name.
fn fetched(
    path: &Path,
    data: &PathBuf,
    sidecar: Option<SidecarStamp>,
) -> io::Result<Option<Opened>> {
    let Some((file, stamp)) = open(path)? else {
        return Ok(None);
    };
    let attached = Some(Attached::read(&file, path, sidecar));
    let file = match stamp.size <= COPIED_BYTES {
        true => {
            let mut copy = tempfile::tempfile_in(data)?;
            io::copy(&mut file.take(stamp.size), &mut copy)?;
            copy
        }
        false => {
            rustix::io::pread(&file, &mut vec![0; START_BYTES], 0)?;
            file
        }
    };
    Ok(Some(Opened {
        file,
        stamp,
        attached,
    }))
}
