//! The files of grams of one index, in a folder of their own.
//!
//! A file is written under another name, synced, and renamed: what is there is whole. Nothing else
//! says which files count, and none of them is needed. So a run that is killed leaves files that
//! are true, and one that is merged twice does no harm.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fs_err::File;

use crate::{Builder, Bytes, Segment, Version, merge};

const EXTENSION: &str = "grams";
const NEXT: &str = "next";
/// Files of about the same size are merged when there are so many: each that is asked for a file of
/// the walk costs time.
const MERGE_AT: usize = 4;
/// More are not merged at once.
const MAX_MERGED: usize = 64;
/// Files of up to so many bytes are of one size, and larger ones by powers of [`GROWTH`] above.
const SMALL_BYTES: u64 = 8 << 20;
const GROWTH: u64 = 8;
/// Larger files are not merged: the table of documents is held while one is written.
const MAX_BYTES: u64 = 4 << 30;

/// Maps a file, or reads it.
pub type Map = fn(&Path) -> io::Result<Bytes>;

/// The folder, open for writing by one process.
pub struct Store {
    folder: PathBuf,
    map: Map,
    next: AtomicU64,
}

impl Store {
    /// Opens the folder, makes it if it is not there, and deletes what a killed run left unfinished.
    ///
    /// # Errors
    /// Fails if the folder cannot be made, read or written.
    pub fn open(folder: &Path, map: Map) -> io::Result<Self> {
        fs_err::create_dir_all(folder)?;
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == NEXT) {
                fs_err::remove_file(path)?;
            }
        }
        let last = numbers(folder)?.last().copied();
        Ok(Self {
            folder: folder.to_path_buf(),
            map,
            next: AtomicU64::new(last.map_or(0, |last| last + 1)),
        })
    }

    /// Writes a file of what was added to a builder, which begins anew.
    ///
    /// # Errors
    /// Fails if it cannot be written.
    pub fn write(&self, builder: &mut Builder) -> io::Result<()> {
        if builder.is_empty() {
            return Ok(());
        }
        self.publish(|out| builder.finish(out))
    }

    fn publish(
        &self,
        write: impl FnOnce(BufWriter<File>) -> io::Result<BufWriter<File>>,
    ) -> io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = path(&self.folder, number);
        let next = path.with_extension(NEXT);
        let out = write(BufWriter::new(File::create(&next)?))?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_data()?;
        fs_err::rename(next, path)
    }

    /// Merges files of about the same size until there are few, with what is to be kept of them;
    /// `keep` is asked for only if there is anything to merge.
    ///
    /// # Errors
    /// Fails if a file cannot be read or written.
    pub fn merge<K: Fn(Version) -> bool>(
        &self,
        keep: impl FnOnce() -> io::Result<K>,
    ) -> io::Result<()> {
        let mut merging = self.mergeable()?;
        if merging.is_empty() {
            return Ok(());
        }
        let keep = keep()?;
        while !merging.is_empty() {
            let mut segments = Vec::new();
            for number in &merging {
                let mapped = (self.map)(&path(&self.folder, *number))?;
                // One of which nothing is known must not vanish among the others.
                let Some(segment) = Segment::open(mapped) else {
                    return Ok(());
                };
                segments.push(segment);
            }
            self.publish(|out| merge(&segments, &keep, out))?;
            drop(segments);
            for number in merging {
                fs_err::remove_file(path(&self.folder, number))?;
            }
            merging = self.mergeable()?;
        }
        Ok(())
    }

    /// Returns the files of the smallest size of which there are enough.
    fn mergeable(&self) -> io::Result<Vec<u64>> {
        let mut sizes = Vec::new();
        for number in numbers(&self.folder)? {
            let n_bytes = fs_err::metadata(path(&self.folder, number))?.len();
            if n_bytes < MAX_BYTES {
                sizes.push((size(n_bytes), number));
            }
        }
        sizes.sort_unstable();
        let same = sizes.chunk_by(|(one, _), (other, _)| one == other);
        let enough = same.into_iter().find(|files| files.len() >= MERGE_AT);
        let files = enough.unwrap_or_default().iter().take(MAX_MERGED);
        Ok(files.map(|(_, number)| *number).collect())
    }
}

fn size(n_bytes: u64) -> u32 {
    (n_bytes / SMALL_BYTES)
        .checked_ilog(GROWTH)
        .map_or(0, |log| log + 1)
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder
        .join(format!("{number:016x}"))
        .with_extension(EXTENSION)
}

/// Returns the numbers of the files, in order.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name
            .to_str()
            .and_then(|name| name.strip_suffix(EXTENSION)?.strip_suffix('.'));
        numbers.extend(name.and_then(|name| u64::from_str_radix(name, 16).ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The files of a folder, open for reading.
#[derive(Default)]
pub struct Opened {
    /// Those that can be read.
    pub segments: Vec<Segment>,
    /// And these are all.
    pub complete: bool,
}

/// Opens the files of a folder, while others may write. None if there is no folder.
///
/// # Errors
/// Fails if the folder cannot be read, or a file in it.
pub fn open(folder: &Path, map: Map) -> io::Result<Opened> {
    /// How often a merge may come between.
    const MAX_TRIES: usize = 20;
    for _ in 0..MAX_TRIES {
        let numbers = match numbers(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Opened::default()),
            numbers => numbers?,
        };
        let opened: io::Result<Vec<_>> = numbers
            .iter()
            .map(|number| map(&path(folder, *number)))
            .collect();
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => {
                let opened = opened?.into_iter().map(Segment::open);
                let segments: Vec<_> = opened.flatten().collect();
                return Ok(Opened {
                    complete: segments.len() == numbers.len(),
                    segments,
                });
            }
        }
    }
    Ok(Opened::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Covers, GramSet};

    fn read(path: &Path) -> io::Result<Bytes> {
        Ok(Box::new(fs_err::read(path)?))
    }

    fn written(store: &Store, key: u64) {
        written_with(store, key, Covers::default());
    }

    fn written_with(store: &Store, key: u64, covers: Covers) {
        let mut builder = Builder::default();
        let version = Version { key, stamp: 1 };
        let path = format!("/{key}");
        builder.add(version, Path::new(&path), "", covers, &GramSet::default());
        store.write(&mut builder).unwrap();
    }

    #[test]
    fn what_is_known_better_stays() {
        let covered = Covers {
            start: true,
            ..Covers::default()
        };
        for (one, other) in [(Covers::default(), covered), (covered, Covers::default())] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path(), read).unwrap();
            written_with(&store, 1, one);
            written_with(&store, 1, other);
            written(&store, 2);
            written(&store, 2);
            store.merge(|| Ok(|_: Version| true)).unwrap();
            let opened = open(folder.path(), read).unwrap();
            assert_eq!(opened.segments.len(), 1);
            let rows: Vec<_> = opened.segments[0].rows().collect();
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().any(|row| row.covers == covered));
        }
    }

    #[test]
    fn files_of_one_size_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("grams");
        assert!(open(&folder, read).unwrap().segments.is_empty());
        let store = Store::open(&folder, read).unwrap();
        let n_docs = || -> Vec<_> {
            let opened = open(&folder, read).unwrap();
            assert!(opened.complete);
            opened.segments.iter().map(Segment::n_docs).collect()
        };
        store.write(&mut Builder::default()).unwrap();
        for key in 1..4 {
            written(&store, key);
        }
        let unasked = || -> io::Result<fn(Version) -> bool> { panic!("nothing to merge") };
        store.merge(unasked).unwrap();
        assert_eq!(n_docs(), [1, 1, 1]);
        written(&store, 4);
        store.merge(|| Ok(|of: Version| of.key != 2)).unwrap();
        assert_eq!(n_docs(), [3]);

        fs_err::write(folder.join("0000000000000099.next"), "half").unwrap();
        let store = Store::open(&folder, read).unwrap();
        written(&store, 5);
        assert_eq!(n_docs(), [3, 1]);
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 2);

        fs_err::write(path(&folder, 77), "of another format").unwrap();
        let opened = open(&folder, read).unwrap();
        assert_eq!((opened.segments.len(), opened.complete), (2, false));
    }
}
