//! Takes note of what folders hold while they are walked.
//!
//! Most runs find few folders changed. What those hold is forgotten then, and searches list them: to write all
//! listings for each of them would cost more than it saves. The file is written anew once enough of it is of no use.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ken_core::{KeyHasher, first_from, number_at};
use rustix::fs::{AtFlags, Stat, StatFs, StatxAttributes, StatxFlags, fstatfs, statx};

use super::{FolderStamp, KeptListing, Listings, MAGIC, ROW_BYTES, put_entries};
use crate::folder::changed_since;
use crate::listing::Listing;

/// Larger folders change often, and each time would be written anew.
const MAX_ENTRIES: usize = 1 << 12;
/// Listings that a thread gathers before they are written.
const BATCH_BYTES: usize = 64 << 10;
/// Fewer folders are listed as fast as a file of them is looked up.
const MIN_CHANGED: u64 = if cfg!(test) { 1 } else { 32 };
/// A file is written anew when this share of its folders changed, so a change costs so many times its own listing.
const CHANGED_SHARE: u64 = 32;

/// Takes note of what the folders of a walk hold, and writes the file anew when enough of them changed.
pub struct Recorder {
    path: PathBuf,
    known: Option<Listings>,
    hasher: KeyHasher,
    /// Folders that changed since, in nanoseconds since 1970-01-01 UTC, are not kept.
    since: i64,
    /// Which rows of the known file hold still.
    held: Vec<AtomicBool>,
    n_held: AtomicU64,
    new: Mutex<New>,
}

/// Listings that are not in the known file.
#[derive(Default)]
struct New {
    rows: Vec<[u64; 3]>,
    /// Written once there are many of them.
    out: Option<Out>,
    batch: Batch,
    failed: Option<io::Error>,
}

/// The file that is written.
struct Out {
    file: File,
    at: u64,
    sum: crc32fast::Hasher,
}

/// A row of the known file, and what it leads to.
type KnownListing<'a> = (&'a [u8; ROW_BYTES], KeptListing<'a>);

/// Listings that one thread found.
#[derive(Default)]
pub(crate) struct Batch {
    /// Key, stamp, and where in the batch the listing begins.
    rows: Vec<[u64; 3]>,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Begins to take note for a walk; `known` is what the file of the index holds, `hasher` that of the index.
    ///
    /// Folders that changed since a time, in nanoseconds since 1970-01-01 UTC, are not kept: it is somewhat before
    /// the walk began.
    pub fn new(index: &Path, known: Option<Listings>, hasher: KeyHasher, since: i64) -> Self {
        let n_rows = known.as_ref().map_or(0, |known| known.rows().len());
        Self {
            path: Listings::path(index),
            known,
            hasher,
            since,
            held: std::iter::repeat_with(AtomicBool::default)
                .take(n_rows)
                .collect(),
            n_held: AtomicU64::new(0),
            new: Mutex::default(),
        }
    }

    /// Takes note of a folder that was looked at before it was listed.
    pub(crate) fn listed(
        &self,
        folder: &Path,
        descriptor: BorrowedFd<'_>,
        stat: &Stat,
        listing: &Listing,
        batch: &mut Batch,
    ) {
        let is_new = changed_since(stat, self.since);
        if is_new || listing.entries.len() > MAX_ENTRIES {
            return;
        }
        let FolderStamp { key, stamp } = FolderStamp::new(&self.hasher, folder, stat);
        if self.holds(key, stamp) || !keeps_times(descriptor) {
            return;
        }
        batch.rows.push([key, stamp, batch.bytes.len() as u64]);
        put_listing(listing, &mut batch.bytes);
        if batch.bytes.len() >= BATCH_BYTES {
            self.take(batch);
        }
    }

    /// Returns whether the known file tells what the folder holds.
    fn holds(&self, key: u64, stamp: u64) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let place = first_from(known.rows(), key);
        let row = known.rows().get(place);
        let holds = row.is_some_and(|row| number_at(row, 0) == key && number_at(row, 8) == stamp);
        if holds && !self.held[place].swap(true, Ordering::Relaxed) {
            self.n_held.fetch_add(1, Ordering::Relaxed);
        }
        holds
    }

    /// Takes over what a thread gathered.
    pub(crate) fn take(&self, batch: &mut Batch) {
        if batch.rows.is_empty() {
            return;
        }
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.batch.append(batch);
        if new.batch.bytes.len() >= BATCH_BYTES {
            new.flush(&self.path);
        }
    }

    /// Ends the walk: writes the file anew if the walk saw all folders and enough of them changed.
    ///
    /// # Errors
    /// Fails if the file cannot be written; the one before is as it was.
    pub fn finish(self, saw_all: bool) -> io::Result<()> {
        let mut new = self
            .new
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let n_known = self.held.len() as u64;
        let n_new = (new.rows.len() + new.batch.rows.len()) as u64;
        let n_changed = n_known - self.n_held.into_inner() + n_new;
        let is_worth_it = saw_all && n_changed > MIN_CHANGED.max(n_known / CHANGED_SHARE);
        if is_worth_it {
            new.flush(&self.path);
        } else if new.out.is_none() {
            return Ok(());
        }
        let outcome = match is_worth_it {
            true => {
                let known = self.known.iter().flat_map(|known| {
                    let held = known.rows().iter().zip(&self.held);
                    let held = held.filter(|(_, held)| held.load(Ordering::Relaxed));
                    held.filter_map(|(row, _)| Some((row, known.listing(row)?)))
                });
                new.finish(known, &self.hasher, &self.path)
            }
            false => Ok(()),
        };
        if outcome.is_err() || !is_worth_it {
            // The next one is written over it, if it cannot be deleted.
            let _ = fs_err::remove_file(beside(&self.path));
        }
        outcome
    }
}

impl New {
    /// Writes what was gathered; nothing more is written after an error.
    fn flush(&mut self, path: &Path) {
        if self.failed.is_none() {
            self.failed = self.write(path).err();
        }
        self.batch.clear();
    }

    fn write(&mut self, path: &Path) -> io::Result<()> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(Out::create(path)?),
        };
        let rows = self.batch.rows.iter();
        self.rows
            .extend(rows.map(|[key, stamp, place]| [*key, *stamp, place + out.at]));
        out.put(&self.batch.bytes)
    }

    fn finish<'a>(
        mut self,
        known: impl Iterator<Item = KnownListing<'a>>,
        hasher: &KeyHasher,
        path: &Path,
    ) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let Some(mut out) = self.out else {
            return Ok(());
        };
        out.add(known, &mut self.rows)?;
        out.finish(self.rows, hasher)?;
        fs_err::rename(beside(path), path)
    }
}

impl Batch {
    fn append(&mut self, other: &mut Self) {
        let start = self.bytes.len() as u64;
        let rows = other.rows.drain(..);
        self.rows
            .extend(rows.map(|[key, stamp, place]| [key, stamp, place + start]));
        self.bytes.append(&mut other.bytes);
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.bytes.clear();
    }
}

impl Out {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: fs_err::File::create(beside(path))?.into_parts().0,
            at: 0,
            sum: crc32fast::Hasher::new(),
        })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    fn add<'a>(
        &mut self,
        known: impl Iterator<Item = KnownListing<'a>>,
        rows: &mut Vec<[u64; 3]>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (row, listing) in known {
            rows.push([
                number_at(row, 0),
                number_at(row, 8),
                self.at + bytes.len() as u64,
            ]);
            put_entries(listing.n, listing, &mut bytes);
            if bytes.len() >= BATCH_BYTES {
                self.put(&bytes)?;
                bytes.clear();
            }
        }
        self.put(&bytes)
    }

    fn finish(mut self, mut rows: Vec<[u64; 3]>, hasher: &KeyHasher) -> io::Result<()> {
        rows.sort_unstable();
        // A folder that two roots lead to.
        rows.dedup_by_key(|[key, ..]| *key);
        let footer = [self.at, hasher.seed()];
        let numbers = rows.iter().flatten().chain(&footer);
        let end: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        self.put(&end)?;
        let sum = u64::from(self.sum.clone().finalize());
        self.put(&sum.to_le_bytes())?;
        self.put(&MAGIC)?;
        // It takes the place of a sound one.
        self.file.sync_data()
    }
}

/// Returns whether a folder's times are known to change with its entries: on ext2 to ext4, XFS, Btrfs, F2FS, ZFS and
/// tmpfs (statfs(2)). On what a server or another system keeps they may not, nor on an overlay whose lower layer was
/// changed while it was not mounted, nor if the names are encrypted, and are others while the key is not there (fscrypt).
pub(super) fn keeps_times(folder: BorrowedFd<'_>) -> bool {
    const KEEPING: [i64; 6] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0x0102_1994,
    ];
    #[allow(clippy::unnecessary_cast)] // types differ between machines
    let keeps = |kind: StatFs| KEEPING.contains(&(kind.f_type as i64));
    let look = || statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::TYPE);
    fstatfs(folder).is_ok_and(keeps)
        && look().is_ok_and(|of| !of.stx_attributes.contains(StatxAttributes::ENCRYPTED))
}

/// Returns where a file is written that takes the place of one.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("new")
}

fn put_listing(listing: &Listing, out: &mut Vec<u8>) {
    let entries = listing.entries.iter();
    let entries = entries.map(|entry| (listing.name(*entry), entry.kind, entry.inode));
    put_entries(listing.entries.len() as u64, entries, out);
}
