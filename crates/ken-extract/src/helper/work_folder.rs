//! Folders in which helpers work: one for each helper, within one folder for all helpers of this
//! process.
//!
//! The outer folder is locked while this process lives. The next ken thereby knows which folders
//! were left behind by a process that was killed together with its [guard](super::guard).

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::fault::Fault;
use super::guard::{Guard, PREFIX};
use super::removal::remove;
use crate::{Error, Input};

/// Maximum number of files and folders in a work folder.
const MAX_ENTRIES: usize = 100_000;

/// A younger folder may not be locked yet.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Removes folders that killed processes left behind.
pub(super) fn sweep(parent: &Path) {
    let entries = fs_err::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && age.is_some_and(|age| age > MIN_AGE) && lock(&entry.path()).is_ok() {
            // What cannot be removed now may be removable next time.
            let _ = remove(&entry.path());
        }
    }
}

/// Opens a folder and locks it; the lock dies with this process.
fn lock(folder: &Path) -> io::Result<File> {
    let folder = fs_err::File::open(folder)?.into_parts().0;
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}

/// The folder of all work folders of this process. Dropping it removes the folder with its content.
pub(super) struct WorkFolders {
    folder: tempfile::TempDir,
    _lock: File,
    /// Dropped after the folder is removed.
    guard: Option<Guard>,
}

impl WorkFolders {
    /// Creates the folder; `guard` is the program that watches over it, if any.
    pub(super) fn new(parent: &Path, guard: Option<&Path>) -> io::Result<Self> {
        ken_private::create_folder(parent)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        Ok(Self {
            _lock: lock(folder.path())?,
            guard: guard
                .map(|program| Guard::start(program, folder.path()))
                .transpose()?,
            folder,
        })
    }
}

/// The folder of one helper. Dropping it removes the folder with its content.
pub(super) struct WorkFolder {
    folder: tempfile::TempDir,
    work_folders: Arc<WorkFolders>,
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed now may be removable by the next run.
        let _ = remove(self.folder.path());
    }
}

impl WorkFolder {
    /// Creates a work folder with its subfolders: `in` for the file, `tmp` for the helper's output.
    pub(super) fn new(work_folders: Arc<WorkFolders>) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new()
            .prefix("")
            .tempdir_in(work_folders.folder.path())?;
        let work = Self {
            folder,
            work_folders,
        };
        for name in ["in", "tmp", "conf"] {
            ken_private::create_folder(&work.path().join(name))?;
        }
        Ok(work)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder for the helper's output, of one file or of many.
    pub(super) fn scratch(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// Returns the disk space of everything in the folder. What cannot be counted counts as too much.
    pub(super) fn used_bytes(&self) -> u64 {
        used_bytes(self.path())
    }

    /// Returns the disk space of the file that [`WorkFolder::put`] put there.
    pub(super) fn input_bytes(&self) -> u64 {
        used_bytes(&self.path().join("in"))
    }

    /// Informs the guard that a process group was started here.
    pub(super) fn note_start(&self, group: u32) {
        if let Some(guard) = &self.work_folders.guard {
            guard.started(group);
        }
    }

    /// Informs the guard that a process group has no processes left.
    pub(super) fn note_end(&self, group: u32) {
        if let Some(guard) = &self.work_folders.guard {
            guard.ended(group);
        }
    }

    /// Copies the input into the work folder, so that the helper sees neither its path nor the
    /// files next to it. The copy shares its data with the input where the file system can do so.
    pub(super) fn put(&self, input: &Input<'_>) -> Result<PathBuf, Error> {
        let folder = self.path().join("in");
        for entry in fs_err::read_dir(&folder)? {
            fs_err::remove_file(entry?.path())?;
        }
        let path = folder.join(safe_name(&input.name));
        let mut options = ken_private::options();
        let mut file = options
            .write(true)
            .create_new(true)
            .open(&path)?
            .into_parts()
            .0;
        input.copy_to(&mut file)?;
        Ok(path)
    }
}

/// Returns the disk space of everything in a folder; what cannot be counted counts as too much.
fn used_bytes(folder: &Path) -> u64 {
    let mut folders = vec![folder.to_path_buf()];
    let (mut n_entries, mut bytes) = (0, 0);
    while let Some(folder) = folders.pop() {
        let entries = match fs_err::read_dir(folder) {
            Ok(entries) => entries,
            // The helper removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => return u64::MAX,
        };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            bytes += metadata.blocks() * 512;
            n_entries += 1;
            if n_entries > MAX_ENTRIES {
                return u64::MAX;
            }
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    bytes
}

/// Returns a name that is safe for shell scripts and keeps the extension, which often decides.
fn safe_name(name: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let safe = name.chars().map(|c| if is_safe(c) { c } else { '_' });
    let mut safe: String = safe.collect();
    // The end is kept, since it matters; file systems take 255 bytes.
    let start = safe.ceil_char_boundary(safe.len().saturating_sub(120));
    safe.drain(..start);
    match safe.starts_with(['.', '-']) || safe.is_empty() {
        true => format!("file{safe}"),
        false => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_behind_is_removed_and_what_is_in_use_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = parent.path().join(name);
            fs_err::create_dir_all(path.join("room/in")).unwrap();
            path
        };
        let age = |path: &Path| {
            let folder = fs_err::File::open(path).unwrap();
            let time = std::time::SystemTime::now() - MIN_AGE * 2;
            folder.file().set_modified(time).unwrap();
        };
        let (old, young, other) = (folder("ken-helper-a"), folder("ken-helper-b"), folder("c"));
        let used = Arc::new(WorkFolders::new(parent.path(), None).unwrap());
        let work = WorkFolder::new(Arc::clone(&used)).unwrap();
        for path in [&old, &other, used.folder.path()] {
            age(path);
        }
        sweep(parent.path());
        assert!(!fs_err::exists(old).unwrap());
        for kept in [&young, &other, work.path()] {
            assert!(fs_err::exists(kept).unwrap(), "{}", kept.display());
        }
        let path = used.folder.path().to_path_buf();
        drop((used, work));
        assert!(!fs_err::exists(path).unwrap());
    }

    #[test]
    fn names_are_safe_for_shells() {
        assert_eq!(safe_name("a b$(x).doc"), "a_b__x_.doc");
        assert_eq!(safe_name("größe.ps"), "größe.ps");
        assert_eq!(safe_name(""), "file");
        assert_eq!(safe_name(".hidden"), "file.hidden");
        assert!(safe_name(&"ä".repeat(300)).len() <= 124);
    }
}
