//! Records what folders contain while they are walked.
//!
//! Most runs find few changed folders. The listings of these are then dropped, and searches list
//! the folders themselves: writing all listings again for each of them would cost more than it
//! saves. The file is rewritten once enough of it is useless.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ken_core::KeyHasher;
use rustix::fs::Stat;

use super::{Listings, MAGIC, Row, put_entries, stamp};
use crate::file_system::{FileSystems, is_encrypted};
use crate::listing::Listing;
use crate::stamp::changed_since;

/// Maximum number of entries of a recorded folder; larger ones change often, and would be rewritten
/// each time.
const MAX_ENTRIES: usize = 1 << 12;
/// Size of the listings that a thread collects before they are written.
const BATCH_BYTES: usize = 64 << 10;
/// Minimum number of changed folders for a new file; fewer are listed as fast as they are looked up
/// in a file.
const MIN_CHANGED: u64 = 32;
/// Share of changed folders with which the file is rewritten, so that a change costs this many
/// times its own listing.
const CHANGED_SHARE: u64 = 32;

/// If the clock is set by more than this during a walk, no folder is recorded.
const MAX_STEP: Duration = Duration::from_secs(1);

/// Records what the folders of a walk contain, and rewrites the file when enough of them changed.
pub struct Recorder {
    path: PathBuf,
    known: Option<Listings>,
    /// Minimum number of changed folders for a new file.
    pub(super) min_changed: u64,
    hasher: KeyHasher,
    /// Folders that changed since this time, in nanoseconds since 1970-01-01 UTC, are not kept.
    since: i64,
    began: (SystemTime, Instant),
    /// Which rows of the known file are still valid.
    held: Vec<AtomicBool>,
    n_held: AtomicU64,
    n_new: AtomicU64,
    new: Mutex<New>,
}

/// Listings that are not in the known file.
#[derive(Default)]
struct New {
    rows: Vec<Row>,
    /// The output, once there are many listings.
    out: Option<Out>,
    batch: Batch,
    failed: Option<io::Error>,
}

/// The file that is being written.
struct Out {
    file: BufWriter<File>,
    at: u64,
    sum: crc32fast::Hasher,
}

/// Listings that one thread found; the positions in their rows refer to its bytes.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<Row>,
    bytes: Vec<u8>,
    file_systems: FileSystems,
}

impl Recorder {
    /// Creates the recorder of a walk; `known` is the file of the index, `hasher` that of the
    /// index.
    ///
    /// Folders that changed since a time, in nanoseconds since 1970-01-01 UTC, are not kept. This
    /// must be two seconds before the walk began, so that no folder changes again without getting
    /// another time.
    pub fn new(index: &Path, known: Option<Listings>, hasher: KeyHasher, since: i64) -> Self {
        let n_rows = known.as_ref().map_or(0, |known| known.rows().len());
        Self {
            path: Listings::path(index),
            known,
            min_changed: MIN_CHANGED,
            hasher,
            since,
            began: (SystemTime::now(), Instant::now()),
            held: std::iter::repeat_with(AtomicBool::default)
                .take(n_rows)
                .collect(),
            n_held: AtomicU64::new(0),
            n_new: AtomicU64::new(0),
            new: Mutex::default(),
        }
    }

    /// Records a folder whose metadata were read before it was listed.
    pub(crate) fn listed(
        &self,
        folder: &Path,
        descriptor: BorrowedFd<'_>,
        stat: &Stat,
        listing: &Listing,
        batch: &mut Batch,
    ) {
        if changed_since(stat, self.since) || listing.entries.len() > MAX_ENTRIES {
            return;
        }
        let Some(file_system) = batch.file_systems.number(descriptor, stat) else {
            return;
        };
        let (key, stamp) = (
            self.hasher.key(folder).0,
            stamp(&self.hasher, stat, file_system),
        );
        if self.holds(key, stamp) || is_encrypted(descriptor) {
            return;
        }
        let start = batch.bytes.len();
        let entries = listing.entries.iter();
        let entries = entries.map(|entry| (listing.c_name(*entry), entry.kind, entry.inode));
        put_entries(entries, &mut batch.bytes);
        let bytes = &batch.bytes[start..];
        batch.rows.push(Row {
            key,
            stamp,
            offset: start as u64,
            length: bytes.len() as u32,
            sum: crc32fast::hash(bytes),
        });
        self.n_new.fetch_add(1, Ordering::Relaxed);
        if batch.bytes.len() >= BATCH_BYTES {
            self.take(batch);
        }
    }

    /// Returns whether the known file has the current listing of the folder.
    fn holds(&self, key: u64, stamp: u64) -> bool {
        let Some(known) = &self.known else {
            return false;
        };
        let index = known.index_of(key);
        let row = known.row(index, key, stamp);
        let holds = row.is_some_and(|row| known.listing(row).is_some());
        if holds && !self.held[index].swap(true, Ordering::Relaxed) {
            self.n_held.fetch_add(1, Ordering::Relaxed);
        }
        holds
    }

    /// Takes the listings that a thread collected.
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

    /// Ends the walk: rewrites the file if enough folders changed, and the walk saw everything that
    /// is readable.
    ///
    /// # Errors
    /// Fails if the file cannot be written; the previous one stays.
    pub fn finish(mut self, saw_all: bool) -> io::Result<()> {
        let is_wanted = saw_all && self.is_worth_it() && self.is_steady();
        let outcome = match is_wanted {
            true => self.write(),
            false => Ok(()),
        };
        if outcome.is_err() || !is_wanted {
            // An unfinished file of this run or a killed one. If it stays, the next run overwrites
            // it.
            let _ = fs_err::remove_file(beside(&self.path));
        }
        outcome
    }

    fn is_worth_it(&self) -> bool {
        let n_known = self.held.len() as u64;
        let n_gone = n_known - self.n_held.load(Ordering::Relaxed);
        let n_changed = n_gone + self.n_new.load(Ordering::Relaxed);
        n_changed > self.min_changed.max(n_known / CHANGED_SHARE)
    }

    /// Returns whether the clock was not set since the walk began.
    fn is_steady(&self) -> bool {
        let (clock, began) = self.began;
        let by_clock = clock.elapsed().unwrap_or(Duration::MAX);
        by_clock.abs_diff(began.elapsed()) < MAX_STEP
    }

    fn write(&mut self) -> io::Result<()> {
        let new = self.new.get_mut().unwrap_or_else(PoisonError::into_inner);
        new.flush(&self.path);
        if let Some(error) = new.failed.take() {
            return Err(error);
        }
        let Some(mut out) = new.out.take() else {
            return Ok(());
        };
        let mut rows = std::mem::take(&mut new.rows);
        if let Some(known) = &self.known {
            let held = known.rows().iter().zip(&self.held);
            let held = held.filter(|(_, held)| held.load(Ordering::Relaxed));
            for (row, _) in held {
                let row = Row::of(row);
                if let Some(bytes) = known.listing(row) {
                    rows.push(Row {
                        offset: out.at,
                        ..row
                    });
                    out.put(bytes)?;
                }
            }
        }
        out.finish(rows, &self.hasher)?;
        fs_err::rename(beside(&self.path), &self.path)
    }
}

impl New {
    /// Writes the collected listings; after an error, nothing more is written.
    fn flush(&mut self, path: &Path) {
        if self.failed.is_none() {
            self.failed = self.write(path).err();
        }
        self.batch.rows.clear();
        self.batch.bytes.clear();
    }

    fn write(&mut self, path: &Path) -> io::Result<()> {
        let out = match &mut self.out {
            Some(out) => out,
            none => none.insert(Out::create(path)?),
        };
        let rows = self.batch.rows.iter();
        self.rows.extend(rows.map(|row| row.behind(out.at)));
        out.put(&self.batch.bytes)
    }
}

impl Batch {
    fn append(&mut self, other: &mut Self) {
        let start = self.bytes.len() as u64;
        self.rows
            .extend(other.rows.drain(..).map(|row| row.behind(start)));
        self.bytes.append(&mut other.bytes);
    }
}

impl Row {
    /// Returns the row of a listing whose bytes follow others.
    fn behind(self, others: u64) -> Self {
        Self {
            offset: self.offset + others,
            ..self
        }
    }
}

impl Out {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(ken_private::create(&beside(path))?.into_parts().0),
            at: 0,
            sum: crc32fast::Hasher::new(),
        })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    fn finish(mut self, mut rows: Vec<Row>, hasher: &KeyHasher) -> io::Result<()> {
        rows.sort_unstable();
        // A folder that two roots lead to.
        rows.dedup_by_key(|row| row.key);
        let footer = [self.at, hasher.seed()];
        let numbers = rows.iter().flat_map(Row::numbers).chain(footer);
        let end: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        self.put(&end)?;
        let sum = u64::from(self.sum.clone().finalize());
        self.put(&sum.to_le_bytes())?;
        self.put(&MAGIC)?;
        // It replaces a sound file.
        self.file.flush()?;
        self.file.get_ref().sync_data()
    }
}

/// Returns the path for a file that is to replace another one.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("new")
}
