//! The n-gram segments of one index, in a separate folder.
//!
//! A segment is written under a temporary name, synced, and renamed, so that every segment is
//! complete. Syncing may take a tenth of a second, in which a separate thread waits for the disk.
//! The commits of the index name the segments that together have the n-grams of all files. A new
//! segment is therefore synced, with its folder, before the commit that names it; a merged one is
//! deleted after the commit that no longer does. A killed run leaves segments with true facts, and
//! reading one together with its merged successor does no harm.
//!
//! A segment that is found damaged gets a mark, an empty file next to it. From then on it counts as
//! missing, so the next run reads its files again.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use fs_err::File;

use crate::{Builder, Bytes, Segment, Version, merge};

const EXTENSION: &str = "grams";
const NEXT: &str = "next";
/// The extension of the mark of a damaged segment.
const DAMAGED: &str = "damaged";
/// Number of segments of about the same size that are merged; small ones always.
const MERGE_AT: usize = 8;
/// Larger ones are merged only if there are more in total. Merging those of Linux (78,000 files)
/// takes a tenth of the time of indexing it, and each further segment adds one or two tenths of a
/// millisecond to a search.
const MAX_FILES: usize = 32;
/// Maximum number of segments that are merged at once.
const MAX_MERGED: usize = 64;
/// Segments up to this size count as equal, and larger ones are grouped by powers of [`GROWTH`]. A
/// segment of 34,000 messages without texts is larger: writing it again takes longer than indexing
/// some new messages.
const SMALL_BYTES: u64 = 1 << 20;
const GROWTH: u64 = 8;
/// Maximum number of segments that are synced at once; further writes wait for the first of them,
/// since the disk is slower than the run.
const MAX_SYNCING: usize = 4;
/// Maximum number of documents of a merged segment; one with more than half as many is not merged
/// again. Their table is in memory while it is written, with some 300 bytes for each.
const MAX_DOCS: u32 = 1 << 19;

/// Maps a file, or reads it.
pub type Map = fn(&Path) -> io::Result<Bytes>;

/// The folder, opened for writing by one process.
pub struct Store {
    folder: PathBuf,
    map: Map,
    /// The number of the first segment that this process writes, and of the next one.
    first: u64,
    next: AtomicU64,
    /// Numbers of the readable segments.
    files: Arc<Mutex<BTreeSet<u64>>>,
    /// Segments that were written ahead.
    syncing: Mutex<Syncing>,
}

/// Segments that are being synced.
#[derive(Default)]
struct Syncing {
    threads: VecDeque<JoinHandle<io::Result<()>>>,
    /// The first error of those that ended, which is reported when all are waited for.
    failed: Option<io::Error>,
}

impl Syncing {
    /// Waits for the oldest ones until at most `most` remain.
    fn wait(&mut self, most: usize) {
        while self.threads.len() > most
            && let Some(thread) = self.threads.pop_front()
        {
            let outcome = thread.join();
            let outcome = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.failed = self.failed.take().or(outcome.err());
        }
    }
}

/// A segment that is written but not synced.
struct Unsynced {
    number: u64,
    file: File,
    /// Its final path.
    path: PathBuf,
    files: Arc<Mutex<BTreeSet<u64>>>,
}

impl Unsynced {
    /// Syncs the segment and renames it.
    fn publish(&self) -> io::Result<()> {
        self.file.sync_data()?;
        fs_err::rename(self.path.with_extension(NEXT), &self.path)?;
        lock(&self.files).insert(self.number);
        Ok(())
    }
}

impl Store {
    /// Opens the folder, creates it if it does not exist, and deletes unfinished files of a killed
    /// run. No new segment gets a number in `named`, those of the last commit, even if their files
    /// are gone.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, read or written.
    pub fn open(folder: &Path, named: &BTreeSet<u64>, map: Map) -> io::Result<Self> {
        ken_private::create_folder(folder)?;
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == NEXT) {
                fs_err::remove_file(path)?;
            }
        }
        let mut files = BTreeSet::new();
        let stored = stored(folder)?;
        for number in stored.sound() {
            if Segment::open(map(&segment_path(folder, number))?).is_some() {
                files.insert(number);
            }
        }
        let last = stored.segments.last().max(stored.damaged.last());
        let last = last.max(named.last());
        let first = last.map_or(0, |last| last.saturating_add(1));
        Ok(Self {
            folder: folder.to_path_buf(),
            map,
            first,
            next: AtomicU64::new(first),
            files: Arc::new(Mutex::new(files)),
            syncing: Mutex::default(),
        })
    }

    /// Returns the numbers of the segments; a commit may name them once they are synced.
    pub fn files(&self) -> BTreeSet<u64> {
        self.known().clone()
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        lock(&self.files)
    }

    /// Syncs the names of all segments to disk.
    ///
    /// # Errors
    /// Fails if the folder cannot be synced.
    pub fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    /// Forgets all segments from before this process.
    pub fn forget_earlier(&self) {
        self.known().retain(|number| *number >= self.first);
    }

    /// Deletes all segments that do not count, because they were merged, forgotten or cannot be
    /// read.
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or a segment not deleted.
    pub fn sweep(&self) -> io::Result<()> {
        let files = self.known();
        let stored = stored(&self.folder)?;
        let mut others = stored.segments.union(&stored.damaged);
        others.try_for_each(|number| match files.contains(number) {
            true => Ok(()),
            false => remove(&self.folder, *number),
        })
    }

    /// Writes a segment from a builder, and empties the builder.
    ///
    /// # Errors
    /// Fails if the segment cannot be written.
    pub fn write(&self, builder: &mut Builder) -> io::Result<()> {
        if builder.is_empty() {
            return Ok(());
        }
        self.written(|out| builder.finish(out))?.publish()
    }

    /// Writes a segment without waiting until it is synced; it exists after [`Self::settle`].
    ///
    /// # Errors
    /// Fails if the segment cannot be written.
    pub fn write_ahead(&self, builder: &mut Builder) -> io::Result<()> {
        if builder.is_empty() {
            return Ok(());
        }
        let written = Arc::new(self.written(|out| builder.finish(out))?);
        let publish = {
            let written = Arc::clone(&written);
            move || written.publish()
        };
        let mut syncing = lock(&self.syncing);
        syncing.wait(MAX_SYNCING - 1);
        match thread::Builder::new().name("sync".into()).spawn(publish) {
            Ok(thread) => syncing.threads.push_back(thread),
            // The system has no more threads.
            Err(_) => written.publish()?,
        }
        Ok(())
    }

    /// Waits until all segments that were written ahead exist.
    ///
    /// # Errors
    /// Fails if a segment cannot be synced or renamed.
    pub fn settle(&self) -> io::Result<()> {
        let mut syncing = lock(&self.syncing);
        syncing.wait(0);
        syncing.failed.take().map_or(Ok(()), Err)
    }

    fn written(
        &self,
        write: impl FnOnce(BufWriter<File>) -> io::Result<BufWriter<File>>,
    ) -> io::Result<Unsynced> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = segment_path(&self.folder, number);
        let out = write(BufWriter::new(ken_private::create(
            &path.with_extension(NEXT),
        )?))?;
        Ok(Unsynced {
            number,
            file: out.into_inner().map_err(io::IntoInnerError::into_error)?,
            path,
            files: Arc::clone(&self.files),
        })
    }

    /// Merges small segments with all their facts, if there are enough and the result is still
    /// small. Unneeded facts are removed when these are merged into a large one.
    ///
    /// # Errors
    /// Fails if a segment cannot be read or written.
    pub fn merge_small(&self, threads: usize) -> io::Result<()> {
        let files = self.mergeable()?;
        match files.n_bytes <= SMALL_BYTES && !files.numbers.is_empty() {
            true => self.merge_files(&files.numbers, &|_| true, threads),
            false => Ok(()),
        }
    }

    /// Merges segments of about the same size with `threads` threads until there are few, with the
    /// facts to be kept. `keep` is called only if there is anything to merge. Returns whether there
    /// was. The merged segments no longer count, but exist until they are swept.
    ///
    /// # Errors
    /// Fails if a segment cannot be read or written.
    pub fn merge<K: Fn(Version) -> bool>(
        &self,
        threads: usize,
        keep: impl FnOnce() -> io::Result<K>,
    ) -> io::Result<bool> {
        let mut merging = self.mergeable()?.numbers;
        if merging.is_empty() {
            return Ok(false);
        }
        let keep = keep()?;
        while !merging.is_empty() {
            self.merge_files(&merging, &keep, threads)?;
            merging = self.mergeable()?.numbers;
        }
        Ok(true)
    }

    fn merge_files(
        &self,
        numbers: &[u64],
        keep: &dyn Fn(Version) -> bool,
        threads: usize,
    ) -> io::Result<()> {
        let mut segments = Vec::new();
        for number in numbers {
            let segment = Segment::open((self.map)(&segment_path(&self.folder, *number))?);
            match segment.filter(Segment::is_sound) {
                Some(segment) => segments.push(segment),
                // A merge would give wrong facts right checksums. Without it, another one is tried.
                None => return note_damage(&self.folder, *number),
            }
        }
        let written = self.written(|out| merge(&segments, keep, threads, out));
        written?.publish()?;
        self.known().retain(|number| !numbers.contains(number));
        Ok(())
    }

    /// Returns the smallest group of segments of about the same size that is large enough.
    fn mergeable(&self) -> io::Result<Group> {
        let mut files = Vec::new();
        let damaged = stored(&self.folder)?.damaged;
        for number in &self.files() - &damaged {
            let path = segment_path(&self.folder, number);
            let n_bytes = fs_err::metadata(&path)?.len();
            // A segment that cannot be opened is found damaged when it is merged.
            let n_docs = Segment::open((self.map)(&path)?).map_or(0, |segment| segment.n_docs());
            files.push((n_bytes, n_docs, number));
        }
        Ok(group(files))
    }
}

impl Drop for Store {
    /// Waits for syncs in progress, because the next process would take their files for unfinished.
    fn drop(&mut self) {
        for thread in lock(&self.syncing).threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Segments to be merged together.
#[derive(Debug, Default)]
struct Group {
    numbers: Vec<u64>,
    n_bytes: u64,
}

/// Returns the segments to merge, given their bytes, numbers of documents and own numbers: those of
/// one size, if there are enough of them, and if they are small or there are many in total.
fn group(mut files: Vec<(u64, u32, u64)>) -> Group {
    let are_many = files.len() > MAX_FILES;
    files.retain(|(_, n_docs, _)| *n_docs <= MAX_DOCS / 2);
    files.sort_unstable_by_key(|(n_bytes, n_docs, number)| (size(*n_bytes), *n_docs, *number));
    let same = files.chunk_by(|(one, ..), (other, ..)| size(*one) == size(*other));
    let enough = same
        .into_iter()
        .find(|files| files.len() >= MERGE_AT && (are_many || size(files[0].0) == 0));
    let files = enough.unwrap_or_default().iter().take(MAX_MERGED);
    let mut sum = 0;
    let fitting = files.take_while(|(_, n_docs, _)| {
        sum += n_docs;
        sum <= MAX_DOCS
    });
    let mut group = Group::default();
    for (n_bytes, _, number) in fitting {
        group.numbers.push(*number);
        group.n_bytes += n_bytes;
    }
    group
}

fn size(n_bytes: u64) -> u32 {
    (n_bytes / SMALL_BYTES)
        .checked_ilog(GROWTH)
        .map_or(0, |log| log + 1)
}

/// Returns the path of an n-gram segment.
pub fn segment_path(folder: &Path, number: u64) -> PathBuf {
    folder
        .join(format!("{number:016x}"))
        .with_extension(EXTENSION)
}

/// The numbers of the files in a folder.
#[derive(Default)]
struct Stored {
    segments: BTreeSet<u64>,
    /// Those that have a mark.
    damaged: BTreeSet<u64>,
}

impl Stored {
    /// Returns the segments without a mark, in order.
    fn sound(&self) -> impl Iterator<Item = u64> {
        self.segments.difference(&self.damaged).copied()
    }
}

fn stored(folder: &Path) -> io::Result<Stored> {
    let mut stored = Stored::default();
    for entry in fs_err::read_dir(folder)? {
        let name = entry?.file_name();
        let Some((number, extension)) = name.to_str().and_then(|name| name.split_once('.')) else {
            continue;
        };
        let Ok(number) = u64::from_str_radix(number, 16) else {
            continue;
        };
        match extension {
            EXTENSION => _ = stored.segments.insert(number),
            DAMAGED => _ = stored.damaged.insert(number),
            _ => {}
        }
    }
    Ok(stored)
}

/// Marks a segment as damaged: readers that open it from now on treat it as missing.
///
/// # Errors
/// Fails if the mark cannot be written.
pub fn note_damage(folder: &Path, number: u64) -> io::Result<()> {
    ken_private::write(&mark_path(folder, number), b"")
}

fn mark_path(folder: &Path, number: u64) -> PathBuf {
    segment_path(folder, number).with_extension(DAMAGED)
}

/// Deletes a segment of a folder and its mark, if they exist; whoever relies on it must treat it as
/// lost.
///
/// # Errors
/// Fails if the segment cannot be deleted.
pub fn remove(folder: &Path, number: u64) -> io::Result<()> {
    // The mark comes last: without it, a damaged segment would count again.
    for path in [segment_path(folder, number), mark_path(folder, number)] {
        match fs_err::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The segments of a folder, open for reading.
#[derive(Default)]
pub struct OpenSegments {
    /// The readable segments, in order of their numbers.
    pub segments: Vec<Segment>,
    files: BTreeSet<u64>,
}

impl OpenSegments {
    /// Returns the given segments that are not among these.
    pub fn missing(&self, files: &BTreeSet<u64>) -> BTreeSet<u64> {
        files - &self.files
    }

    /// Returns the segments whose bytes changed since they were written; reads all of them.
    pub fn damaged(&self) -> BTreeSet<u64> {
        self.which(|segment| !segment.is_sound())
    }

    /// Returns the segments that were found damaged while they answered.
    pub fn found_damaged(&self) -> BTreeSet<u64> {
        self.which(Segment::is_damaged)
    }

    fn which(&self, is_wanted: impl Fn(&Segment) -> bool) -> BTreeSet<u64> {
        let segments = self.files.iter().zip(&self.segments);
        let wanted = segments.filter(|(_, segment)| is_wanted(segment));
        wanted.map(|(number, _)| *number).collect()
    }
}

/// Opens the segments of a folder that have no mark, while another process may write. A missing
/// folder has none.
///
/// # Errors
/// Fails if the folder, or a segment in it, cannot be read.
pub fn open(folder: &Path, map: Map) -> io::Result<OpenSegments> {
    let mut opened = OpenSegments::default();
    let stored = match stored(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(opened),
        stored => stored?,
    };
    for number in stored.sound() {
        let bytes = match map(&segment_path(folder, number)) {
            // It was merged meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            bytes => bytes?,
        };
        if let Some(segment) = Segment::open(bytes) {
            opened.segments.push(segment);
            opened.files.insert(number);
        }
    }
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Covers, NgramSet};

    fn read(path: &Path) -> io::Result<Bytes> {
        Ok(Box::new(fs_err::read(path)?))
    }

    fn written(store: &Store, key: u64) {
        written_with(store, key, Covers::default());
    }

    fn written_with(store: &Store, key: u64, covers: Covers) {
        store.write(&mut builder(key, covers)).unwrap();
    }

    fn builder(key: u64, covers: Covers) -> Builder {
        let mut builder = Builder::default();
        let version = Version { key, stamp: 1 };
        let path = format!("/{key}");
        builder.add(version, Path::new(&path), "", covers, &NgramSet::default());
        builder
    }

    #[test]
    fn what_is_written_ahead_is_there_when_it_is_settled() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &BTreeSet::new(), read).unwrap();
        let n_files = 2 * MAX_SYNCING as u64;
        for key in 0..n_files {
            let mut builder = builder(key, Covers::default());
            store.write_ahead(&mut builder).unwrap();
            assert!(builder.is_empty());
            assert!(lock(&store.syncing).threads.len() <= MAX_SYNCING);
        }
        store.settle().unwrap();
        assert_eq!(store.files(), (0..n_files).collect());
        let opened = open(folder.path(), read).unwrap();
        assert_eq!(opened.segments.len(), n_files as usize);
        store
            .write_ahead(&mut builder(n_files, Covers::default()))
            .unwrap();
        drop(store);
        let store = Store::open(folder.path(), &BTreeSet::new(), read).unwrap();
        assert_eq!(store.files(), (0..=n_files).collect());
        fs_err::remove_dir_all(folder.path()).unwrap();
        assert!(
            store
                .write_ahead(&mut builder(4, Covers::default()))
                .is_err()
        );
    }

    #[test]
    fn what_cannot_be_named_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &BTreeSet::new(), read).unwrap();
        // A folder has the path of the second of three segments.
        fs_err::create_dir_all(segment_path(folder.path(), 1).join("full")).unwrap();
        let n_files = 2 * MAX_SYNCING as u64;
        for key in 0..n_files {
            let mut builder = builder(key, Covers::default());
            store.write_ahead(&mut builder).unwrap();
        }
        assert!(store.settle().is_err(), "also if it ended long before");
        let all: BTreeSet<u64> = (0..n_files).collect();
        assert_eq!(store.files(), &all - &BTreeSet::from([1]));
        store.settle().unwrap();
    }

    #[test]
    fn what_is_known_better_stays() {
        let covered = Covers {
            start: true,
            ..Covers::default()
        };
        for (one, other) in [(Covers::default(), covered), (covered, Covers::default())] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path(), &BTreeSet::new(), read).unwrap();
            written_with(&store, 1, one);
            written_with(&store, 1, other);
            (2..MERGE_AT).for_each(|_| written(&store, 2));
            store.merge(2, || Ok(|_: Version| true)).unwrap();
            store.sweep().unwrap();
            let opened = open(folder.path(), read).unwrap();
            assert_eq!(opened.segments.len(), 1);
            let rows: Vec<_> = opened.segments[0].rows().collect();
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().any(|row| row.covers == covered));
        }
    }

    #[test]
    fn no_file_becomes_larger_than_memory_allows() {
        let files = |docs: &[u32]| -> Vec<_> {
            let numbered = docs.iter().zip(0..);
            numbered
                .map(|(n_docs, number)| (0, *n_docs, number))
                .collect()
        };
        assert!(group(files(&[5; MERGE_AT - 1])).numbers.is_empty());
        assert_eq!(group(files(&[5; MERGE_AT])).numbers.len(), MERGE_AT);
        let half = MAX_DOCS / 2;
        assert_eq!(group(files(&[half; 9])).numbers.len(), 2);
        assert!(group(files(&[half + 1; 9])).numbers.is_empty());
        let mut docs = [half; MERGE_AT];
        (docs[1], docs[3]) = (1, 1);
        assert_eq!(group(files(&docs)).numbers.len(), 3, "the smallest first");
    }

    #[test]
    fn large_files_are_merged_if_there_are_many_in_all() {
        let large = SMALL_BYTES * GROWTH;
        let merged = |n_large: usize, n_largest: usize| {
            let sizes = std::iter::repeat_n(large, n_large);
            let sizes = sizes.chain(std::iter::repeat_n(large * GROWTH, n_largest));
            let files = sizes.zip(0..).map(|(n_bytes, number)| (n_bytes, 1, number));
            group(files.collect()).numbers
        };
        assert!(merged(MAX_FILES, 0).is_empty());
        let all: Vec<u64> = (0..=MAX_FILES as u64).collect();
        assert_eq!(merged(MAX_FILES + 1, 0), all);
        let n_others = MAX_FILES + 1 - MERGE_AT;
        assert_eq!(merged(MERGE_AT, n_others), all[..MERGE_AT]);
        assert_eq!(merged(MERGE_AT - 1, n_others + 1), all[MERGE_AT - 1..]);
    }

    #[test]
    fn small_files_become_one_while_it_is_small() {
        let of_small = |n_bytes: &[u64]| {
            let files = n_bytes.iter().zip(0..);
            let group = group(
                files
                    .map(|(n_bytes, number)| (*n_bytes, 1, number))
                    .collect(),
            );
            (group.numbers.len(), group.n_bytes)
        };
        let mut n_bytes = [5; MERGE_AT + 1];
        (n_bytes[0], n_bytes[MERGE_AT]) = (900, SMALL_BYTES);
        let small_bytes = 900 + 5 * (MERGE_AT as u64 - 1);
        assert_eq!(of_small(&n_bytes), (MERGE_AT, small_bytes));
        let halves = [SMALL_BYTES / 2; MERGE_AT];
        assert_eq!(of_small(&halves), (MERGE_AT, halves.iter().sum()));

        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &BTreeSet::new(), read).unwrap();
        let n_files = MERGE_AT as u64;
        for key in 1..n_files {
            written(&store, key);
        }
        store.merge_small(2).unwrap();
        assert_eq!(store.files().len(), MERGE_AT - 1);
        written(&store, n_files);
        store.merge_small(2).unwrap();
        store.sweep().unwrap();
        let opened = open(folder.path(), read).unwrap();
        assert_eq!(
            (store.files(), opened.segments.len()),
            (BTreeSet::from([n_files]), 1)
        );
        let keys: Vec<_> = opened.segments[0]
            .rows()
            .map(|row| row.version.key)
            .collect();
        assert!(keys.into_iter().eq(1..=n_files));
    }

    #[test]
    fn files_of_one_size_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("grams");
        assert!(open(&folder, read).unwrap().segments.is_empty());
        let store = Store::open(&folder, &BTreeSet::new(), read).unwrap();
        let n_docs = || -> Vec<_> {
            let opened = open(&folder, read).unwrap();
            opened.segments.iter().map(Segment::n_docs).collect()
        };
        store.write(&mut Builder::default()).unwrap();
        let n_files = MERGE_AT as u64;
        for key in 1..n_files {
            written(&store, key);
        }
        let unasked = || -> io::Result<fn(Version) -> bool> { panic!("nothing to merge") };
        assert!(!store.merge(2, unasked).unwrap());
        assert_eq!(n_docs(), [1; MERGE_AT - 1]);
        written(&store, n_files);
        let former = store.files();
        assert!(store.merge(2, || Ok(|of: Version| of.key != 2)).unwrap());
        let one_less = MERGE_AT as u32 - 1;
        let both = [vec![1; MERGE_AT], vec![one_less]].concat();
        assert_eq!(n_docs(), both, "a reader may want the former ones");
        assert_eq!(store.files(), BTreeSet::from([n_files]));
        store.sync().unwrap();
        store.sweep().unwrap();
        assert_eq!(n_docs(), [one_less]);
        let opened = open(&folder, read).unwrap();
        assert_eq!(opened.missing(&former), former);
        assert!(opened.missing(&store.files()).is_empty());

        fs_err::write(folder.join("0000000000000099.next"), "half").unwrap();
        let store = Store::open(&folder, &BTreeSet::new(), read).unwrap();
        written(&store, n_files + 1);
        assert_eq!(n_docs(), [one_less, 1]);
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 2);
        store.forget_earlier();
        store.sweep().unwrap();
        assert_eq!(n_docs(), [1]);
    }

    #[test]
    fn files_that_cannot_be_read_are_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs_err::write(segment_path(folder, 7), "of another format").unwrap();
        let store = Store::open(folder, &BTreeSet::from([20]), read).unwrap();
        let merged = 21 + MERGE_AT as u64;
        for key in 21..merged {
            written(&store, key);
        }
        store.merge(2, || Ok(|_: Version| true)).unwrap();
        assert_eq!(store.files(), BTreeSet::from([merged]));
        let opened = open(folder, read).unwrap();
        let all = BTreeSet::from([7, merged]);
        assert_eq!(opened.missing(&all), BTreeSet::from([7]));
        store.sweep().unwrap();
        assert_eq!(stored(folder).unwrap().segments, BTreeSet::from([merged]));
    }

    #[test]
    fn a_damaged_segment_is_not_merged_and_goes_after_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let store = Store::open(folder, &BTreeSet::new(), read).unwrap();
        let n_files = MERGE_AT as u64 + 1;
        for key in 0..n_files {
            written(&store, key);
        }
        let path = segment_path(folder, 3);
        let mut bytes = fs_err::read(&path).unwrap();
        bytes[0] ^= 1;
        fs_err::write(&path, bytes).unwrap();
        store.merge(2, || Ok(|_: Version| true)).unwrap();
        store.sweep().unwrap();
        let merged = BTreeSet::from([3, n_files]);
        assert_eq!(store.files(), merged, "a commit still names it");
        let opened = open(folder, read).unwrap();
        assert_eq!(opened.missing(&merged), BTreeSet::from([3]));
        assert_eq!(opened.segments[0].n_docs(), n_files as u32 - 1);

        let store = Store::open(folder, &merged, read).unwrap();
        assert_eq!(store.files(), BTreeSet::from([n_files]));
        store.sweep().unwrap();
        assert_eq!(fs_err::read_dir(folder).unwrap().count(), 1);
    }
}
