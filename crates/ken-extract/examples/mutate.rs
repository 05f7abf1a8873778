//! Fuzzing with the stable compiler: damages the samples of `tests/data` for a while and checks the
//! results.
//!
//! ```sh
//! cargo run -p ken-extract --example mutate -- --seconds 60 [--seed N] [--only PART-OF-PATH]
//! cargo run -p ken-extract --example mutate -- --input FILE
//! cargo run -p ken-extract --example mutate -- --seed N --only PART-OF-PATH --number N
//! ```
//!
//! All samples get the same time, first unchanged, then damaged. An input is made from the seed and
//! its number, so a run can be repeated, and `--number` makes one of its inputs again. An input that panics, takes long or takes too much memory
//! is written to `target/mutations`, with the extension of its sample, which selects the parser.
//! The inputs run in a child process. One that kills the process (by a stack overflow, for
//! instance) is known from the note that each thread writes before it begins. The exit code is 1 if
//! there was a finding.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)] // a program

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::HashSet;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use common::check::check;
use common::mutation::mutate;
use common::{Sample, samples};
use fastrand::Rng;
use rustix::process::{Resource, Rlimit, setrlimit};

/// Maximum time of an input; without optimisation and on a busy machine, most take 1 ms.
const MAX_INPUT_TIME: Duration = Duration::from_secs(60);
/// Maximum memory of all threads together.
const MAX_RESIDENT_BYTES: u64 = 1 << 30;
/// The limit at which the kernel kills a process that takes too much before the watch notices.
const MAX_ADDRESS_BYTES: u64 = 8 << 30;
/// Time for which a sample is damaged before the next one is used.
const TURN: Duration = Duration::from_millis(50);
const MAX_FINDINGS: usize = 20;
/// Size of a thread's note of its current input.
const NOTE_BYTES: usize = 48;

struct Options {
    seconds: u64,
    seed: u64,
    only: String,
    input: Option<PathBuf>,
    number: Option<u64>,
    is_child: bool,
}

fn main() -> ExitCode {
    let options = options();
    if let Some(input) = &options.input {
        return repeat(input);
    }
    fs_err::create_dir_all(folder()).unwrap();
    if let Some(number) = options.number {
        return make_again(&options, number);
    }
    let is_clean = if options.is_child {
        Run::new(&options).run()
    } else {
        supervise(&options)
    };
    ExitCode::from(u8::from(!is_clean))
}

fn options() -> Options {
    let mut options = Options {
        seconds: 60,
        seed: 1,
        only: String::new(),
        input: None,
        number: None,
        is_child: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match name.as_str() {
            "--seconds" => options.seconds = value().parse().expect("a number"),
            "--seed" => options.seed = value().parse().expect("a number"),
            "--only" => options.only = value(),
            "--input" => options.input = Some(value().into()),
            "--number" => options.number = Some(value().parse().expect("a number")),
            "--child" => options.is_child = true,
            other => panic!("no such option: {other}; see the head of examples/mutate.rs"),
        }
    }
    options
}

/// Returns the folder in which inputs are written.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mutations")
}

fn chosen(only: &str) -> Vec<Sample> {
    let mut samples = samples();
    samples.retain(|sample| sample.path.contains(only));
    assert!(!samples.is_empty(), "no sample has {only} in its path");
    samples
}

/// Runs one file again, to reproduce its failure.
fn repeat(path: &Path) -> ExitCode {
    let bytes = fs_err::read(path).unwrap();
    let began = Instant::now();
    let own = check(path.file_name().unwrap().to_str().unwrap(), &bytes);
    println!(
        "{} bytes of text in {:?}: {:?}",
        own.body.len(),
        began.elapsed(),
        own.failure
    );
    ExitCode::SUCCESS
}

/// Writes an input of an earlier run, of which only the number is known, and runs it.
fn make_again(options: &Options, number: u64) -> ExitCode {
    let samples = samples();
    let index = samples
        .iter()
        .position(|sample| sample.path.contains(&options.only))
        .expect("no sample has --only in its path");
    let trial = Trial::new(&samples, index, options.seed, number);
    trial.save("again");
    repeat(&trial.path("again"))
}

/// Runs the child and, if a signal killed it, saves the current inputs of its threads.
fn supervise(options: &Options) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(std::env::args().skip(1))
        .arg("--child")
        .status()
        .unwrap();
    if status.code().is_none() {
        eprintln!("mutate: {status}; one of these inputs is to blame:");
        let samples = chosen(&options.only);
        for thread in 0..n_threads() {
            let note = fs_err::read_to_string(note_path(thread)).unwrap_or_default();
            let mut numbers = note.split_whitespace().map_while(|word| word.parse().ok());
            if let (Some(index), Some(number)) = (numbers.next(), numbers.next()) {
                let trial = Trial::new(&samples, index as usize, options.seed, number);
                trial.save("ended");
            }
        }
    }
    status.success()
}

fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn note_path(thread: usize) -> PathBuf {
    folder().join(format!("thread-{thread}"))
}

/// One input.
struct Trial<'a> {
    sample: &'a Sample,
    number: u64,
    bytes: Vec<u8>,
}

impl<'a> Trial<'a> {
    /// Creates an input; number 0 of a sample is the sample itself.
    fn new(samples: &'a [Sample], index: usize, seed: u64, number: u64) -> Self {
        let sample = &samples[index];
        let mut random = Rng::with_seed(seed ^ number.rotate_left(32));
        let ending = |name: &str| name.rsplit('.').next().map(str::to_owned);
        let alike: Vec<_> = samples
            .iter()
            .filter(|other| ending(&other.name) == ending(&sample.name))
            .collect();
        let other = &alike[random.usize(..alike.len().max(1))].bytes;
        let bytes = match number {
            0 => sample.bytes.clone(),
            _ => mutate(&sample.bytes, other, &mut random),
        };
        Self {
            sample,
            number,
            bytes,
        }
    }

    fn path(&self, what: &str) -> PathBuf {
        folder().join(format!("{what}-{}-{}", self.number, self.sample.name))
    }

    /// Writes the input to a file and prints how to run it again.
    fn save(&self, what: &str) {
        let path = self.path(what);
        fs_err::write(&path, &self.bytes).unwrap();
        let path = fs_err::canonicalize(&path).unwrap();
        eprintln!(
            "mutate: {what}: damaged {}; to try it again:",
            self.sample.path
        );
        eprintln!(
            "    cargo run -p ken-extract --example mutate -- --input {}",
            path.display()
        );
    }
}

/// The current input of a thread.
struct Slot {
    trial: Mutex<Option<(Instant, usize, u64)>>,
    note: fs_err::File,
}

/// State that the threads share.
struct Run {
    samples: Vec<Sample>,
    seed: u64,
    time: Duration,
    began: Instant,
    next_sample: AtomicUsize,
    next_number: AtomicU64,
    is_over: AtomicBool,
    slots: Vec<Slot>,
    /// Positions where parsers panicked.
    findings: Mutex<HashSet<String>>,
    /// The longest time of an input, and its sample's path.
    slowest: Mutex<(Duration, String)>,
}

thread_local! {
    static PANICKED_AT: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Run {
    fn new(options: &Options) -> Self {
        let slot = |thread| Slot {
            trial: Mutex::new(None),
            note: fs_err::File::create(note_path(thread)).unwrap(),
        };
        Self {
            samples: chosen(&options.only),
            seed: options.seed,
            time: Duration::from_secs(options.seconds),
            began: Instant::now(),
            next_sample: AtomicUsize::new(0),
            next_number: AtomicU64::new(1),
            is_over: AtomicBool::new(false),
            slots: (0..n_threads()).map(slot).collect(),
            findings: Mutex::default(),
            slowest: Mutex::default(),
        }
    }

    /// Runs inputs until the time is over. Returns whether none failed.
    fn run(&self) -> bool {
        let limit = Some(MAX_ADDRESS_BYTES);
        let limit = Rlimit {
            current: limit,
            maximum: limit,
        };
        setrlimit(Resource::As, limit).unwrap();
        std::panic::set_hook(Box::new(|panic| {
            // Extraction catches the parser's panic, and the check then panics because of it.
            PANICKED_AT.with_borrow_mut(|first| {
                if first.is_empty() {
                    *first = panic.to_string();
                }
            });
        }));
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .slots
                .iter()
                .map(|slot| scope.spawn(|| self.work(slot)))
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                self.watch();
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        self.report()
    }

    fn work(&self, slot: &Slot) {
        loop {
            let turn = self.next_sample.fetch_add(1, Ordering::Relaxed);
            let index = turn % self.samples.len();
            if turn < self.samples.len() {
                self.try_one(slot, index, 0);
            }
            let began = Instant::now();
            while began.elapsed() < TURN {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let number = self.next_number.fetch_add(1, Ordering::Relaxed);
                self.try_one(slot, index, number);
            }
        }
    }

    fn try_one(&self, slot: &Slot, index: usize, number: u64) {
        let trial = Trial::new(&self.samples, index, self.seed, number);
        let note = format!("{:<1$}", format!("{index} {number}"), NOTE_BYTES);
        slot.note.file().write_all_at(note.as_bytes(), 0).unwrap();
        let began = Instant::now();
        *lock(&slot.trial) = Some((began, index, number));
        PANICKED_AT.take();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&trial.sample.name, &trial.bytes)));
        *lock(&slot.trial) = None;
        if outcome.is_err() {
            self.found(&trial);
        }
        let mut slowest = lock(&self.slowest);
        if began.elapsed() > slowest.0 {
            *slowest = (began.elapsed(), trial.sample.path.clone());
        }
    }

    /// Saves an input that panicked, one for each position in the code.
    fn found(&self, trial: &Trial<'_>) {
        let location = PANICKED_AT.take();
        let mut findings = lock(&self.findings);
        if findings.insert(location.clone()) {
            eprintln!("mutate: {location}");
            trial.save("panic");
        }
        if findings.len() >= MAX_FINDINGS {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the run when its time is over, or when an input takes too long or too much memory.
    fn watch(&self) {
        if self.began.elapsed() > self.time {
            self.is_over.store(true, Ordering::Relaxed);
        }
        let is_too_large = resident_bytes() > MAX_RESIDENT_BYTES;
        let tried = self.slots.iter().filter_map(|slot| *lock(&slot.trial));
        let guilty: Vec<_> = tried
            .filter(|(began, ..)| is_too_large || began.elapsed() > MAX_INPUT_TIME)
            .collect();
        for &(_, index, number) in &guilty {
            let what = if is_too_large { "memory" } else { "hang" };
            Trial::new(&self.samples, index, self.seed, number).save(what);
        }
        if !guilty.is_empty() {
            std::process::exit(1);
        }
    }

    fn report(&self) -> bool {
        let n_findings = lock(&self.findings).len();
        let slowest = lock(&self.slowest);
        println!(
            "mutate: {} inputs from {} samples in {} s, seed {}: {n_findings} failures; \
             the slowest took {} ms, from {}",
            self.next_number.load(Ordering::Relaxed) - 1,
            self.samples.len(),
            self.began.elapsed().as_secs(),
            self.seed,
            slowest.0.as_millis(),
            slowest.1,
        );
        n_findings == 0
    }
}

/// Returns the memory that this process holds, by `proc(5)`.
fn resident_bytes() -> u64 {
    let statm = fs_err::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
