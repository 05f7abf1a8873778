//! The engine's directory for the writer: files are synced once, when a commit names them.
//!
//! Tantivy syncs each file when it is finished, and rewrites and syncs its list of managed files
//! for each new one: 33 syncs for a first commit with two segments. Before a commit its files have
//! no meaning, so here they are only written, and synced together before `meta.json` is replaced:
//! the file system then writes its journal once for all of them. The list of managed files serves
//! to delete files that no commit names. It is created from the folder when the directory is
//! opened, read then, and never written again.
//!
//! Files of an earlier process may not be on disk, but syncing 50 files that already are costs as
//! many flushes of the disk's cache. A small file therefore records which commit was synced; that
//! file itself is never synced.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err::File;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;

use super::seal::{seal, unseal};
use crate::layout::{COMMIT_FILE, is_term_list};

/// The list of all files that the engine created.
const MANAGED: &str = ".managed.json";
/// The path of its next version.
const MANAGED_NEXT: &str = ".managed.json.next";
/// The path of the next commit if it is not synced.
const UNSYNCED_NEXT: &str = "meta.json.next";
/// Records which commit is on disk with everything that it names.
const SYNCED: &str = ".synced";
/// Size of the buffer of a file that is being written.
const BUFFER_BYTES: usize = 64 << 10;

/// A directory that syncs files when a commit needs them.
#[derive(Clone)]
pub(crate) struct WriteDirectory {
    inner: MmapDirectory,
    root: PathBuf,
    /// Files that are finished but not synced.
    unsynced: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Set when a file could not be synced. The system's state of the file is then unknown, and a
    /// second attempt would be meaningless (Rebello and others, *Can Applications Recover from
    /// fsync Failures?*, ATC 2020).
    failed: Arc<AtomicBool>,
    /// Whether commits are synced when they are made.
    synced: Arc<AtomicBool>,
}

impl fmt::Debug for WriteDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WriteDirectory({})", self.root.display())
    }
}

impl WriteDirectory {
    /// Opens the directory, and lists the engine's files in it.
    pub(crate) fn open(root: &Path) -> Result<Self, tantivy::TantivyError> {
        let directory = Self {
            inner: MmapDirectory::open(root)?,
            root: root.to_path_buf(),
            unsynced: Arc::default(),
            failed: Arc::default(),
            synced: Arc::new(AtomicBool::new(true)),
        };
        let mut files = Vec::new();
        for entry in fs_err::read_dir(root)? {
            let name = entry?.file_name();
            files.extend(
                name.to_str()
                    .filter(|text| is_engines(text) && !is_term_list(&name))
                    .map(str::to_owned),
            );
        }
        // Files of an earlier process may not be synced yet.
        lock(&directory.unsynced).extend(files.iter().map(PathBuf::from));
        // Even if there is none, since an existing one may be incomplete. A list of names always
        // has a JSON form.
        let list = serde_json::to_vec(&files).unwrap_or_default();
        let next = root.join(MANAGED_NEXT);
        ken_private::write(&next, &list)?;
        fs_err::rename(next, root.join(MANAGED))?;
        Ok(directory)
    }

    /// Receives the files of the last commit. They are not synced again if an earlier process made
    /// and synced that commit. A file that was replaced since then is younger than the list.
    pub(crate) fn trust(&self, files: impl Iterator<Item = PathBuf>) {
        let files = files.chain([PathBuf::from(COMMIT_FILE)]);
        let synced = fs_err::read_to_string(self.root.join(SYNCED)).ok();
        let is_synced = synced.is_some() && synced == self.stamp_of_list();
        let changed = |path: &Path| {
            let file = fs_err::metadata(self.root.join(path)).ok()?;
            Some((file.ctime(), file.ctime_nsec()))
        };
        let of_list = changed(Path::new(COMMIT_FILE)).filter(|_| is_synced);
        let mut unsynced = lock(&self.unsynced);
        for path in files {
            if changed(&path).is_some_and(|changed| of_list.is_some_and(|list| changed <= list)) {
                unsynced.remove(&path);
            } else {
                // It may have been created after the folder was listed.
                unsynced.insert(path);
            }
        }
    }

    /// Records that the commit is on disk with everything that it names. If the record is lost, or
    /// refers to an earlier commit, everything is synced again.
    fn note_synced(&self) {
        if let Some(stamp) = self.stamp_of_list() {
            let _ = ken_private::write(&self.root.join(SYNCED), stamp.as_bytes());
        }
    }

    /// Returns a value that is unique to the list of segments: a list never changes, but is
    /// replaced. A copy of the folder has another value.
    fn stamp_of_list(&self) -> Option<String> {
        let list = fs_err::metadata(self.root.join(COMMIT_FILE)).ok()?;
        let times = (list.ctime(), list.ctime_nsec(), list.mtime_nsec());
        Some(format!("{} {} {times:?}\n", list.ino(), list.len()))
    }

    /// Sets whether commits are synced when they are made; if not, a later synced commit also syncs
    /// their files.
    pub(crate) fn set_synced(&self, synced: bool) {
        self.synced.store(synced, Ordering::Relaxed);
    }

    /// Syncs the files of a new segment, if the next commit would have to, so that the commit waits
    /// less. No commit may name the segment before this returns, and none does: the next commit
    /// waits, and others only name merged segments. A failure is reported only to that commit.
    pub(crate) fn sync_early(&self, segment: SegmentId) {
        if !self.synced.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed) {
            return;
        }
        let segment = segment.uuid_string();
        let is_of_segment =
            |path: &PathBuf| path.to_str().is_some_and(|name| name.starts_with(&segment));
        let files: BTreeSet<_> = lock(&self.unsynced).extract_if(.., is_of_segment).collect();
        let _ = self.sync_these(&files);
    }

    fn sync_files(&self) -> io::Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            let message = "a file of the index could not be synced before";
            return Err(io::Error::other(message));
        }
        let files = std::mem::take(&mut *lock(&self.unsynced));
        self.sync_these(&files)
    }

    fn sync_these(&self, files: &BTreeSet<PathBuf>) -> io::Result<()> {
        let synced = files.iter().try_for_each(|path| self.sync_file(path));
        // Others may sync other files meanwhile.
        self.failed.fetch_or(synced.is_err(), Ordering::Relaxed);
        synced
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        match File::open(self.root.join(path)) {
            Ok(file) => file.sync_data(),
            // Merged away and deleted before any commit named it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Deletes unfinished files of a killed process; only for the one writer.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        for entry in fs_err::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            let is_left = name.starts_with(".tmp") || [MANAGED_NEXT, UNSYNCED_NEXT].contains(&name);
            if is_left && entry.file_type()?.is_file() {
                fs_err::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Returns whether a file is the engine's: a part of a segment, named after its identifier, or the
/// file that names the segments.
fn is_engines(name: &str) -> bool {
    let segment = name.split('.').next().unwrap_or_default();
    let is_identifier = segment.len() == 32 && segment.bytes().all(|b| b.is_ascii_hexdigit());
    name == COMMIT_FILE || (is_identifier && name.len() > 32)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is being written. The engine has its own small buffer in front of it.
struct Unsynced {
    file: BufWriter<File>,
    path: PathBuf,
    unsynced: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.flush()?;
        lock(&self.unsynced).insert(std::mem::take(&mut self.path));
        Ok(())
    }
}

impl Directory for WriteDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        lock(&self.unsynced).remove(path);
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = ken_private::options()
            .write(true)
            .create_new(true)
            .open(self.root.join(path));
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_path_buf()),
            _ => OpenWriteError::wrap_io_error(error, path.to_path_buf()),
        })?;
        let file = Unsynced {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            path: path.to_path_buf(),
            unsynced: Arc::clone(&self.unsynced),
        };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = self.inner.atomic_read(path)?;
        unseal(path, bytes).map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))
    }

    /// Replaces a small file. The files that it names are on disk before it is, and it is on disk
    /// when this returns; see the module's documentation for the exception of the list of managed
    /// files.
    fn atomic_write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let content = &*seal(path, content);
        if path == Path::new(MANAGED) {
            // Called for each new file, but never read: see the module's documentation.
            return Ok(());
        }
        if !self.synced.load(Ordering::Relaxed) {
            // The inode number of a file is reused, and within a clock tick so is its time.
            if let Err(error) = fs_err::remove_file(self.root.join(SYNCED))
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
            let next = self.root.join(UNSYNCED_NEXT);
            ken_private::write(&next, content)?;
            return fs_err::rename(next, self.root.join(path));
        }
        self.sync_files()?;
        self.inner.atomic_write(path, content)?;
        self.inner.sync_directory()?;
        if path == Path::new(COMMIT_FILE) {
            self.note_synced();
        }
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        if !self.synced.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.sync_files()?;
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // The engine would create it readable to all.
        let path = self.root.join(&lock.filepath);
        let created = ken_private::options().write(true).create(true).open(path);
        created.map_err(LockError::wrap_io_error)?;
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &WriteDirectory, name: &str) {
        let mut file = directory.open_write(Path::new(name)).unwrap();
        file.write_all(b"content").unwrap();
        file.terminate().unwrap();
    }

    #[test]
    fn files_are_synced_before_what_names_them_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let directory = WriteDirectory::open(folder.path()).unwrap();
        assert!(lock(&directory.unsynced).is_empty());
        write(&directory, "a");
        write(&directory, "b");
        directory.delete(Path::new("b")).unwrap();
        directory.atomic_write(Path::new(MANAGED), b"[]").unwrap();
        assert_eq!(
            lock(&directory.unsynced).len(),
            1,
            "the list alone syncs nothing"
        );
        directory
            .atomic_write(Path::new("meta.json"), b"{}")
            .unwrap();
        assert!(lock(&directory.unsynced).is_empty());
        directory.set_synced(false);
        write(&directory, "c");
        let meta = Path::new("meta.json");
        directory.atomic_write(meta, b"{2}").unwrap();
        assert_eq!(lock(&directory.unsynced).len(), 1);
        assert_eq!(directory.atomic_read(meta).unwrap(), b"{2}");
        directory.set_synced(true);
        directory.atomic_write(meta, b"{3}").unwrap();
        assert!(lock(&directory.unsynced).is_empty());
        assert!(matches!(
            directory.open_write(Path::new("a")),
            Err(OpenWriteError::FileAlreadyExists(_))
        ));
    }

    #[test]
    fn the_list_of_files_is_made_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let segment = format!("{}.store", "0123456789abcdef".repeat(2));
        let plain = segment.replace("store", "words");
        for name in [segment.as_str(), &plain, "meta.json", "notes.txt", MANAGED] {
            fs_err::write(folder.path().join(name), "").unwrap();
        }
        WriteDirectory::open(folder.path()).unwrap();
        let list = fs_err::read(folder.path().join(MANAGED)).unwrap();
        let mut files: Vec<String> = serde_json::from_slice(&list).unwrap();
        files.sort();
        assert_eq!(files, [segment, "meta.json".to_owned()]);
    }

    #[test]
    fn what_others_wrote_is_synced_and_what_they_began_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let segment = format!("{}.store", "0123456789abcdef".repeat(2));
        for name in [segment.as_str(), ".tmpa1B2c3", UNSYNCED_NEXT, "notes.txt"] {
            fs_err::write(folder.path().join(name), "").unwrap();
        }
        let directory = WriteDirectory::open(folder.path()).unwrap();
        directory.sweep().unwrap();
        assert!(lock(&directory.unsynced).contains(Path::new(&segment)));
        let exists = |name: &str| fs_err::exists(folder.path().join(name)).unwrap();
        assert!(exists(&segment) && exists("notes.txt"));
        assert!(!exists(".tmpa1B2c3") && !exists(UNSYNCED_NEXT));
    }

    #[test]
    fn what_an_earlier_process_synced_is_not_synced_again() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a", "b"].map(|letter| format!("{}.store", letter.repeat(32)));
        let list = Path::new(COMMIT_FILE);
        let commit = |synced: bool| {
            let directory = WriteDirectory::open(folder.path()).unwrap();
            directory.set_synced(synced);
            directory.atomic_write(list, b"{}").unwrap();
        };
        let unsynced = || {
            let directory = WriteDirectory::open(folder.path()).unwrap();
            directory.trust(names.iter().take(1).map(PathBuf::from));
            let unsynced = lock(&directory.unsynced);
            names
                .each_ref()
                .map(|name| unsynced.contains(Path::new(name)))
        };
        for name in &names {
            fs_err::write(folder.path().join(name), "").unwrap();
        }
        commit(false);
        assert_eq!(unsynced(), [true, true]);
        commit(true);
        assert_eq!(unsynced(), [false, true], "the second is not of the commit");
        commit(false);
        assert_eq!(unsynced(), [true, true]);
        commit(true);
        let saved = folder.path().join("saved");
        fs_err::copy(folder.path().join(&names[0]), &saved).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs_err::rename(saved, folder.path().join(&names[0])).unwrap();
        assert_eq!(unsynced(), [true, true], "it was put there later");
        commit(true);
        let copy = fs_err::read(folder.path().join(list)).unwrap();
        fs_err::remove_file(folder.path().join(list)).unwrap();
        fs_err::write(folder.path().join("other"), "").unwrap();
        fs_err::write(folder.path().join(list), copy).unwrap();
        assert_eq!(unsynced(), [true, true], "a copy of the commit");
    }

    #[test]
    fn only_the_files_of_a_segment_are_synced_early() {
        let folder = tempfile::tempdir().unwrap();
        let directory = WriteDirectory::open(folder.path()).unwrap();
        let (built, merged) = (SegmentId::generate_random(), SegmentId::generate_random());
        let name = |segment: SegmentId| format!("{}.store", segment.uuid_string());
        write(&directory, &name(built));
        write(&directory, &name(merged));
        directory.sync_early(built);
        // A commit that names the merged segment syncs it first.
        let left = BTreeSet::from([PathBuf::from(name(merged))]);
        assert_eq!(*lock(&directory.unsynced), left);
    }

    #[test]
    fn what_could_not_be_synced_is_never_committed() {
        let folder = tempfile::tempdir().unwrap();
        let directory = WriteDirectory::open(folder.path()).unwrap();
        // Folders can be opened and synced; a loop of links cannot.
        let built = SegmentId::generate_random();
        let looping = format!("{}.store", built.uuid_string());
        fs_err::os::unix::fs::symlink(&looping, folder.path().join(&looping)).unwrap();
        lock(&directory.unsynced).insert(looping.clone().into());
        let meta = Path::new("meta.json");
        directory.sync_early(built);
        assert!(lock(&directory.unsynced).is_empty());
        assert!(directory.atomic_write(meta, b"{}").is_err());
        fs_err::remove_file(folder.path().join(looping)).unwrap();
        assert!(directory.atomic_write(meta, b"{}").is_err());
        assert!(!directory.exists(meta).unwrap());
    }

    /// As after a power loss before the first commit.
    #[test]
    fn half_a_list_of_no_files_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join(MANAGED), [0; 2]).unwrap();
        WriteDirectory::open(folder.path()).unwrap();
        let list = fs_err::read(folder.path().join(MANAGED)).unwrap();
        assert_eq!(list, b"[]");
    }
}
