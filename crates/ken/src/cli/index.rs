//! Arguments of the commands that walk folders: `ken index`, `ken serve`, and options that `ken walk` shares with them.

use std::path::PathBuf;

use clap::builder::{FalseyValueParser, RangedU64ValueParser};
use clap::{Args, Subcommand};

use crate::choices::{DurabilityName, EngineName, OrderName};

// How folders are walked. A documentation comment here would replace that of each command that has
// these options.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkOptions {
    /// Include hidden files and folders
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Do not respect .gitignore, .ignore and .kenignore files
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Follow symbolic links
    #[arg(long)]
    pub(crate) follow: bool,
    /// Do not cross into other file systems
    #[arg(long)]
    pub(crate) one_file_system: bool,
}

/// A number of threads; more than any machine has cores is a slip.
fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=1024)
}

const SWEEP_SECONDS: u64 = 600;

#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Watch at most this many folders [default: half of the watches that the system has left]
    #[arg(long, value_name = "N")]
    pub(crate) max_watches: Option<usize>,
    /// Look at least this often at what cannot be watched
    #[arg(long, value_name = "SECONDS", default_value_t = SWEEP_SECONDS, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) sweep_seconds: u64,
    /// Work at normal priority; without a terminal, ken otherwise gives way to other programs
    #[arg(long, env = "KEN_FAST", value_parser = FalseyValueParser::new())]
    pub(crate) fast: bool,
}

impl Default for ServeArgs {
    fn default() -> Self {
        Self {
            max_watches: None,
            sweep_seconds: SWEEP_SECONDS,
            fast: false,
        }
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct WebArgs {
    /// Search for this at once
    pub(crate) query: Vec<String>,
    /// Print the address instead of opening it. It contains the token that lets its reader in
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ServiceArgs {
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Start ken serve now and with each login, by a unit of systemd
    Install {
        /// Print the units, and install nothing
        #[arg(long)]
        print: bool,
        /// Start it only with the next login
        #[arg(long)]
        no_start: bool,
    },
    /// Stop ken serve, and remove its units
    Remove,
    /// Show whether the service is installed and runs; ends with 1 if it does not run
    Status {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug, Default, PartialEq)]
pub(crate) struct IndexArgs {
    /// Folders or files to add as roots; those that a root finds anyway are only compared. Without any, ken updates the
    /// roots that it has
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) walk: WalkOptions,
    /// Remove this root and its documents from the index
    #[arg(long, value_name = "PATH")]
    pub(crate) forget: Vec<PathBuf>,
    /// Read every file again, changed or not
    #[arg(long)]
    pub(crate) full: bool,
    /// Try files again that could not be read before
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Recognize text in images and scanned pages (Tesseract), after everything else
    #[arg(long)]
    pub(crate) ocr: bool,
    /// Skip the n-grams that let `ken grep` rule out files
    #[arg(long)]
    pub(crate) no_ngrams: bool,
    /// Look only into folders whose times changed since the last run; ken does not notice files that
    /// were changed in place
    #[arg(long, conflicts_with_all = ["full", "retry_failed"])]
    pub(crate) lazy: bool,
    /// Seconds between commits
    #[arg(long, value_name = "SECONDS")]
    pub(crate) commit_seconds: Option<f64>,
    /// Bytes of files between commits, such as 64M; 0 means no limit
    #[arg(long, value_name = "SIZE")]
    pub(crate) commit_bytes: Option<String>,
    /// When a commit is forced to disk
    #[arg(long, value_name = "WHEN")]
    pub(crate) durability: Option<DurabilityName>,
    /// Order in which the files of a folder are read
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderName>,
    /// Show what would be done, without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Memory to use, such as 512M or 2G [default: 256 MiB per thread, at least 512 MiB, at most a quarter
    /// of the machine's memory]
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) threads: Option<usize>,
    /// Work at normal priority; without a terminal, ken otherwise gives way to other programs
    #[arg(long, env = "KEN_FAST", value_parser = FalseyValueParser::new())]
    pub(crate) fast: bool,
    /// Stop indexing until --resume, or for a time such as 30m, 2h or 1d; a running ken index commits its
    /// work and waits
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, conflicts_with_all = ["paths", "forget", "full", "dry_run", "resume"])]
    pub(crate) pause: Option<Option<String>>,
    /// Resume indexing after --pause
    #[arg(long, conflicts_with_all = ["paths", "forget", "full", "dry_run"])]
    pub(crate) resume: bool,
    /// Copy the index to the other engine without reading the files: `opensearch` for the cluster of the settings,
    /// `embedded` for the data folder
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["paths", "forget", "full", "dry_run", "pause", "resume"])]
    pub(crate) move_to: Option<EngineName>,
    /// Fill an index of this number of shards, and of this ken's schema, beside the one in the cluster, and put it in its place,
    /// without reading the files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024), conflicts_with_all = ["paths", "forget", "full", "dry_run", "pause", "resume", "move_to"])]
    pub(crate) shards: Option<u32>,
    /// Threads that extract text; with 0, the threads of the walk do it [default: --threads]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) extract_threads: Option<usize>,
    /// Threads that only build segments; with 0, the extracting threads do it [default: 0]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) index_threads: Option<usize>,
    /// Segments built at the same time [default: one per building thread]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) segment_builders: Option<usize>,
    /// Bytes of text that may wait between extracting and building threads
    #[arg(long, value_name = "SIZE")]
    pub(crate) queue_bytes: Option<String>,
    /// Write a timeline of all threads to this file, for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Print progress and summary as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}
