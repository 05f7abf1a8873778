//! The options of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ken_core::{FolderFields, Root, Setting};
use ken_engine::{Engine, Error, Meta, Reading, Sink, Source};
use ken_extract::{Isolate, Limits};
use ken_index::layout::index_folder;
use ken_index::{Snapshot, Writer, WriterOptions, read_meta};
use ken_walk::EntryOrder;

use crate::background;

/// A change of the roots of an index, made at the start of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootChange {
    /// Add this root; if it is a root already, replace its options.
    Add(Root),
    /// Remove this root and forget its documents.
    Forget(PathBuf),
}

/// The options of a run.
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
    /// Folder of the lock, and of the index unless that is elsewhere.
    pub data: PathBuf,
    /// Where the index is, if it is not in the data folder.
    pub engine: Option<Arc<dyn Engine>>,
    /// Whether other machines get shares of a run, if the index is not in the data folder.
    pub shares: bool,
    /// Number of threads that walk, extract and build segments, unless the arrangement says
    /// otherwise.
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
    /// Recognise text in pictures after the run.
    pub ocr: Option<Ocr>,
    /// Fields that folders give to everything below them.
    pub folders: Vec<FolderFields>,
    /// Files whose n-grams are kept, so that `ken grep` need not read all files.
    pub ngrams: Ngrams,
    /// Only report what would be done.
    pub dry_run: bool,
    /// Time between commits, so that an interrupted run loses little.
    pub commit_interval: Duration,
    /// Bytes of files after which a commit is made as well; 0 for no such limit.
    pub commit_bytes: u64,
    /// When commits must be on disk.
    pub durability: Durability,
    /// Skip the files of folders that did not change since the last run.
    pub lazy: bool,
    /// Order in which the files of a folder are read.
    pub order: EntryOrder,
    /// Use fewer threads while other programs need the cores, and one on battery.
    pub background: bool,
    /// Git's global ignore file.
    pub global_ignore: Option<PathBuf>,
    /// Absolute paths of files and folders that stay out of the index, with everything below them.
    pub excluded: Vec<PathBuf>,
    /// Keep who may read each file, so that a server can answer several people.
    pub access: bool,
}

impl Options {
    /// Returns all paths at which walks end: what the caller excludes, and the index itself.
    pub fn excluded_paths(&self) -> Vec<PathBuf> {
        let own = std::iter::once(self.data.clone());
        own.chain(self.excluded.iter().cloned()).collect()
    }
}

/// Which threads do what; by default there is no queue between extraction and index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Number of threads that extract, if it differs from [`Options::threads`]; with 0 the walk
    /// does everything.
    pub extract_threads: Option<usize>,
    /// Number of threads that build segments from what the others extract; with 0 each thread
    /// builds segments from what it extracts.
    pub index_threads: usize,
    /// Number of segments that are built at once, if not one for each thread that builds them.
    pub segment_builders: Option<usize>,
    /// Bytes of documents that may wait between extraction and index; 0 for an eighth of the
    /// memory.
    pub queue_bytes: usize,
}

/// When commits are synced to disk, so that a loss of power cannot undo them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When each commit is made.
    #[default]
    Full,
    /// At the end of the run: a loss of power during the run may cost the index.
    Normal,
    /// When the system decides.
    Off,
}

/// How text in pictures is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ocr {
    /// Languages by their names in Tesseract, joined by `+`.
    pub languages: String,
    /// Maximum size of the cache of recognised text on disk, in bytes.
    pub cache_bytes: u64,
}

/// Memory for each thread: with half as much, segments are smaller, and merging those of 42,771
/// pages on eight threads takes a sixth more CPU time.
const THREAD_BYTES: usize = 256 << 20;
const MIN_BYTES: usize = 64 << 20;

/// Maximum work that an interrupted run may lose.
const COMMIT_INTERVAL: Duration = Duration::from_secs(60);

/// Limits that apply whatever the memory: smaller ones would leave out ordinary documents.
const MIN_TEXT_BYTES: u64 = 1 << 20;
const MIN_FILE_BYTES: u64 = 8 << 20;
/// Fewer threads extract if a worker of each would have less than this.
const MIN_WORKER_BYTES: u64 = 256 << 20;

/// Returns the default memory of a run: a fixed amount for each thread, at least 512 MiB, but at
/// most a quarter of the machine's memory.
pub fn default_memory(threads: usize) -> usize {
    most_memory(threads, background::memory())
}

/// Lowers the limits on one file to what a run with `memory_bytes` can process: until it is
/// indexed, a text takes several times its own size.
pub fn afford(limits: &mut Limits, memory_bytes: usize) {
    let memory = memory_bytes as u64;
    let most_text = (memory / 16).max(MIN_TEXT_BYTES);
    let mut text = limits.max_text_bytes as u64;
    for (setting, limit, most) in [
        (Setting::MaxTextBytes, &mut text, most_text),
        (
            Setting::MaxFileBytes,
            &mut limits.max_file_bytes,
            (memory / 2).max(MIN_FILE_BYTES),
        ),
        (
            Setting::MaxMemberBytes,
            &mut limits.max_member_bytes,
            (memory / 8).max(MIN_FILE_BYTES),
        ),
    ] {
        if most < *limit {
            *limit = most;
            limits.lowered.insert(setting, memory);
        }
    }
    limits.max_text_bytes = usize::try_from(text).unwrap_or(usize::MAX);
}

/// Lowers the memory of a worker, and if need be the number of threads, so that the workers of all
/// threads have at most half of the machine's memory. The run itself has a quarter by default, and
/// the system needs the rest.
pub(crate) fn share_machine(options: &mut Options) {
    if options.extract.isolate != Isolate::None
        && let Some(machine) = background::memory()
    {
        share(options, machine);
    }
}

fn share(options: &mut Options, machine: u64) {
    let n_affordable = usize::try_from(machine / 2 / MIN_WORKER_BYTES).unwrap_or(usize::MAX);
    let most_threads = n_affordable.max(1);
    options.threads = options.threads.min(most_threads);
    if let Some(threads) = &mut options.arrangement.extract_threads {
        *threads = most_threads.min(*threads);
    }
    let most = machine / 2 / options.extract_threads().max(1) as u64;
    let limits = &mut options.extract.limits;
    if most < limits.worker_memory {
        limits.worker_memory = most;
        limits.lowered.insert(Setting::WorkerMemory, machine);
    }
}

fn most_memory(threads: usize, machine: Option<u64>) -> usize {
    let wanted = threads.max(2).saturating_mul(THREAD_BYTES);
    let quarter = machine.map_or(2 * THREAD_BYTES, |bytes| {
        usize::try_from(bytes / 4).unwrap_or(usize::MAX)
    });
    wanted.min(quarter).max(MIN_BYTES)
}

/// The division of a run's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// For segments being built.
    pub(crate) segments: usize,
    /// For n-gram segments being built.
    pub(crate) ngrams: usize,
    /// For large documents that are being added to the index.
    pub(crate) documents: usize,
    /// For files being extracted.
    pub(crate) inputs: usize,
    /// For members that wait for a thread.
    pub(crate) members: usize,
}

/// Files whose n-grams are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ngrams {
    /// No files.
    None,
    /// Plain text and source code. Their n-grams take about as long as their terms.
    #[default]
    Text,
    /// All files, and the text of documents. For mail and HTML, n-grams take longer than everything
    /// else that a run does with these files.
    All,
}

impl Options {
    /// Creates the default options for an index in a data folder.
    pub fn new(data: &Path) -> Self {
        Self {
            data: data.to_path_buf(),
            ..Self::default()
        }
    }

    /// Opens the last commit of the index.
    ///
    /// # Errors
    /// Fails with [`Error::Missing`] if there is no index, and if it cannot be read.
    pub fn source(&self) -> Result<Arc<dyn Source>, Error> {
        match &self.engine {
            Some(engine) => engine.source(&Reading::default()),
            None => Ok(Arc::new(Snapshot::open(&index_folder(&self.data))?)),
        }
    }

    /// Returns the meta of the last commit of the index.
    ///
    /// # Errors
    /// Fails as [`Options::source`] does.
    pub fn meta(&self) -> Result<Meta, Error> {
        match &self.engine {
            Some(engine) => engine.last().map(|(_, meta)| meta),
            None => read_meta(&index_folder(&self.data)),
        }
    }

    /// Returns where the index is, for people.
    pub(crate) fn place(&self) -> String {
        match &self.engine {
            Some(engine) => engine.name(),
            None => index_folder(&self.data).display().to_string(),
        }
    }

    /// Opens the index for writing, by this number of threads.
    pub(crate) fn sink(&self, threads: usize) -> Result<Box<dyn Sink>, Error> {
        if let Some(engine) = &self.engine {
            return engine.sink();
        }
        let options = WriterOptions {
            memory_bytes: self.shares().segments,
            threads,
        };
        let writer = Writer::open(&index_folder(&self.data), options)?;
        Ok(Box::new(writer))
    }

    /// Returns how many threads extract; 0 if the walk does.
    pub(crate) fn extract_threads(&self) -> usize {
        self.arrangement
            .extract_threads
            .unwrap_or(self.threads.max(1))
    }

    /// Returns how many threads walk; one if it also does everything else.
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

    /// Returns how many bytes may wait between extraction and index.
    pub(crate) fn queue_bytes(&self) -> usize {
        match self.arrangement.queue_bytes {
            0 => self.memory_bytes / 8,
            bytes => bytes,
        }
    }

    /// Divides the memory of a run. Segments and n-gram segments get the most, since large ones
    /// need less merging. The rest is for files and documents that are read or wait.
    pub(crate) fn shares(&self) -> Shares {
        let eighth = self.memory_bytes / 8;
        let (segments, ngrams, inputs) = match self.ngrams {
            Ngrams::None => (4 * eighth, 0, 2 * eighth),
            Ngrams::Text | Ngrams::All => (3 * eighth, 2 * eighth, eighth),
        };
        Shares {
            segments,
            ngrams,
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
            engine: None,
            shares: true,
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
            excluded: Vec::new(),
            access: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::SetBy;

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
        let lowered = limits.lowered.values().collect::<Vec<_>>();
        assert_eq!(lowered, [&(64 << 20); 3], "the memory is what set them");
        afford(&mut limits, 1);
        assert_eq!(
            (limits.max_text_bytes, limits.max_file_bytes),
            (MIN_TEXT_BYTES as usize, MIN_FILE_BYTES)
        );
    }

    #[test]
    fn all_workers_together_fit_into_the_machine() {
        let shared = |threads: usize, machine: u64| {
            let mut options = Options {
                threads,
                ..Options::default()
            };
            options.arrangement.extract_threads = Some(threads);
            share(&mut options, machine << 20);
            assert_eq!(options.arrangement.extract_threads, Some(options.threads));
            options
        };
        let limits = |options: &Options| options.extract.limits.clone();
        assert_eq!(limits(&shared(2, 4096)), Limits::default(), "1 GiB each");
        let options = shared(64, 64 << 10);
        assert_eq!(options.threads, 64);
        assert_eq!(limits(&options).worker_memory, 512 << 20);
        let limit = limits(&options).limit(Setting::WorkerMemory);
        assert_eq!(limit.set_by, SetBy::Machine(64 << 30));
        let options = shared(64, 8 << 10);
        assert_eq!(options.threads, 16, "fewer, with enough for each");
        assert_eq!(limits(&options).worker_memory, MIN_WORKER_BYTES);
        let options = shared(64, 300);
        assert_eq!(options.threads, 1);
        assert_eq!(limits(&options).worker_memory, 150 << 20);
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
