//! How a run works.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ken_core::{FolderFields, Root};
use ken_extract::Limits;
use ken_walk::EntryOrder;

use crate::background;

/// A change of what the index covers, made at the start of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootChange {
    /// Cover this root too; replaces the options of a root that is covered already.
    Add(Root),
    /// Cover this root no more and forget its documents.
    Forget(PathBuf),
}

/// How a run works.
///
/// ```
/// use ken_pipeline::{Options, Progress, RootChange, update};
///
/// # let folder = std::env::temp_dir().join(format!("ken-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(folder.join("letters"))?;
/// # std::fs::write(folder.join("letters/anna.txt"), "Dear Anna")?;
/// # let letters = folder.join("letters");
/// let options = Options {
///     threads: 2,
///     ..Options::new(&folder.join("data"))
/// };
/// let add = RootChange::Add(ken_core::Root::new(letters));
/// let summary = update(&options, &[add], &Progress::default(), &|_| ())?;
/// assert_eq!((summary.added, summary.committed), (1, true));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder of the index and its lock.
    pub data: PathBuf,
    /// Threads that walk, and that extract and build segments, unless that is arranged otherwise.
    pub threads: usize,
    /// Which threads do what.
    pub arrangement: Arrangement,
    /// Memory for queues, buffers and segments being built, in bytes.
    pub memory_bytes: usize,
    /// Where files are parsed, and what one may cost.
    pub extract: ken_extract::Options,
    /// Extract every file again.
    pub full: bool,
    /// Extract files again that failed.
    pub retry_failed: bool,
    /// Read the text of pictures after the run.
    pub ocr: Option<Ocr>,
    /// Fields that folders give to what lies below them.
    pub folders: Vec<FolderFields>,
    /// Which files n-grams are kept of, so that `ken grep` need not read all files.
    pub ngrams: Ngrams,
    /// Only report what would be done.
    pub dry_run: bool,
    /// Commit after so long, so that an interrupted run loses little.
    pub commit_interval: Duration,
    /// Commit after so many bytes of files too; 0 for no such limit.
    pub commit_bytes: u64,
    /// When commits are on disk.
    pub durability: Durability,
    /// Do not look at the files of folders that did not change since the last run.
    pub lazy: bool,
    /// In which order the files of a folder are read.
    pub order: EntryOrder,
    /// Use fewer threads while other programs need the cores, and one on battery.
    pub background: bool,
    /// Git's global ignore file.
    pub global_ignore: Option<PathBuf>,
}

/// Which threads do what; the default is the one that needs no queue between extraction and index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Threads that extract, if they are to be others than [`Options::threads`]; with 0 the walk does all.
    pub extract_threads: Option<usize>,
    /// Threads that build segments of what the others extract; with 0 each builds what it extracts.
    pub index_threads: usize,
    /// Segments that are built at once, if not one for each thread that builds them.
    pub segment_builders: Option<usize>,
    /// Bytes of documents that wait between extraction and index; 0 for an eighth of the memory.
    pub queue_bytes: usize,
}

/// When commits are on disk, so that a loss of power does not take them back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When they are made.
    #[default]
    Full,
    /// At the end of the run: a loss of power during it may cost the index.
    Normal,
    /// When the system likes.
    Off,
}

/// How the text of pictures is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ocr {
    /// Languages as Tesseract names them, joined by `+`.
    pub languages: String,
    /// What the cache of recognised text may take on disk.
    pub cache_bytes: u64,
}

/// Memory for each thread: with half as much segments are smaller, and 42,771 pages on eight threads
/// cost a sixth more CPU time to merge them.
const THREAD_BYTES: usize = 256 << 20;
const MIN_BYTES: usize = 64 << 20;

/// How long an interrupted run may have worked in vain.
const COMMIT_INTERVAL: Duration = Duration::from_secs(60);

/// Limits that hold whatever the memory: smaller ones would leave out what people have.
const MIN_TEXT_BYTES: usize = 1 << 20;
const MIN_FILE_BYTES: u64 = 8 << 20;

/// Returns how much memory a run may take if nobody says it: so much for each thread, 512 MiB at least, but no more
/// than a quarter of what the machine has.
pub fn default_memory(threads: usize) -> usize {
    most_memory(threads, background::memory())
}

/// Lowers what one file may cost to what a run with so much memory can do: a text takes several times its own
/// bytes until it is indexed.
pub fn afford(limits: &mut Limits, memory_bytes: usize) {
    let most_text = (memory_bytes / 16).max(MIN_TEXT_BYTES);
    limits.max_text_bytes = limits.max_text_bytes.min(most_text);
    let most_held = (memory_bytes as u64 / 2).max(MIN_FILE_BYTES);
    limits.max_file_bytes = limits.max_file_bytes.min(most_held);
    let most_member = (memory_bytes as u64 / 8).max(MIN_FILE_BYTES);
    limits.max_member_bytes = limits.max_member_bytes.min(most_member);
}

fn most_memory(threads: usize, machine: Option<u64>) -> usize {
    let wanted = threads.max(2).saturating_mul(THREAD_BYTES);
    let quarter = machine.map_or(2 * THREAD_BYTES, |bytes| {
        usize::try_from(bytes / 4).unwrap_or(usize::MAX)
    });
    wanted.min(quarter).max(MIN_BYTES)
}

/// How the memory of a run is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Segments being built.
    pub(crate) segments: usize,
    /// Files of grams being built.
    pub(crate) grams: usize,
    /// Large documents that the index takes in.
    pub(crate) documents: usize,
    /// Files being extracted.
    pub(crate) inputs: usize,
    /// Members that wait for a thread.
    pub(crate) members: usize,
}

/// Which files n-grams are kept of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ngrams {
    /// No files.
    None,
    /// Plain text and source code. Their n-grams take about as long as their terms.
    #[default]
    Text,
    /// All files, and the text of documents. The n-grams of mail and HTML take longer than everything else that is
    /// done with these files.
    All,
}

impl Options {
    /// Returns the usual options for an index in a data folder.
    pub fn new(data: &Path) -> Self {
        Self {
            data: data.to_path_buf(),
            ..Self::default()
        }
    }

    /// Returns how many threads extract; none if the walk does.
    pub(crate) fn extract_threads(&self) -> usize {
        self.arrangement
            .extract_threads
            .unwrap_or(self.threads.max(1))
    }

    /// Returns how many threads walk: one if it also does all else.
    pub(crate) fn walk_threads(&self) -> usize {
        match self.extract_threads() {
            0 => 1,
            _ => self.threads,
        }
    }

    /// Returns how many segments are built at once.
    pub(crate) fn segment_builders(&self) -> usize {
        let building = match self.arrangement.index_threads {
            0 => self.extract_threads(),
            threads => threads,
        };
        self.arrangement.segment_builders.unwrap_or(building).max(1)
    }

    /// Returns how many bytes wait between extraction and index.
    pub(crate) fn queue_bytes(&self) -> usize {
        match self.arrangement.queue_bytes {
            0 => self.memory_bytes / 8,
            bytes => bytes,
        }
    }

    /// What is built gets the most, segments and files of grams: large ones need less merging. The rest is for what is
    /// read and what waits.
    pub(crate) fn shares(&self) -> Shares {
        let eighth = self.memory_bytes / 8;
        let (segments, grams, inputs) = match self.ngrams {
            Ngrams::None => (4 * eighth, 0, 2 * eighth),
            Ngrams::Text | Ngrams::All => (3 * eighth, 2 * eighth, eighth),
        };
        Shares {
            segments,
            grams,
            documents: eighth,
            inputs,
            members: eighth,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            data: PathBuf::new(),
            threads,
            arrangement: Arrangement::default(),
            memory_bytes: default_memory(threads),
            extract: ken_extract::Options::default(),
            full: false,
            retry_failed: false,
            ocr: None,
            folders: Vec::new(),
            ngrams: Ngrams::default(),
            dry_run: false,
            commit_interval: COMMIT_INTERVAL,
            commit_bytes: 0,
            durability: Durability::default(),
            lazy: false,
            order: EntryOrder::default(),
            background: false,
            global_ignore: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_lowers_limits() {
        let mut limits = Limits::default();
        afford(&mut limits, 512 << 20);
        assert_eq!(limits, Limits::default());
        afford(&mut limits, 64 << 20);
        assert_eq!(
            (limits.max_text_bytes, limits.max_file_bytes),
            (4 << 20, 32 << 20)
        );
        assert_eq!(limits.max_member_bytes, 8 << 20);
        afford(&mut limits, 1);
        assert_eq!(
            (limits.max_text_bytes, limits.max_file_bytes),
            (MIN_TEXT_BYTES, MIN_FILE_BYTES)
        );
    }

    #[test]
    fn memory_grows_with_the_threads_and_ends_with_the_machine() {
        let gibibytes = |n: u64| Some(n << 30);
        assert_eq!(most_memory(1, gibibytes(16)), 512 << 20);
        assert_eq!(most_memory(2, gibibytes(16)), 512 << 20);
        assert_eq!(most_memory(16, gibibytes(64)), 4 << 30);
        assert_eq!(most_memory(64, gibibytes(32)), 8 << 30);
        assert_eq!(most_memory(8, gibibytes(1)), 256 << 20);
        assert_eq!(most_memory(2, Some(1 << 20)), MIN_BYTES);
        assert_eq!(most_memory(64, None), 512 << 20);
    }
}
