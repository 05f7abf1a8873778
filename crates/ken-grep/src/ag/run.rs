//! A whole search: the workers, their processing of a file, and the counts.

use std::ffi::OsStr;
use std::io::{self, BufRead};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;

use ken_walk::Queue;

use super::file::{self, Content, Want};
use super::printer::{Display, Printer};
use super::query::{Limit, Pattern, Searcher};
use super::report::Report;
use super::selection::Selection;
use super::walk::{Entry, Folder, Job, Source};
use super::{binary, invert};
use crate::prefilter::{LastFolder, Prefilter};

/// The settings of a search.
#[allow(clippy::struct_excessive_bools)] // each is an option of the command line
pub struct Settings {
    /// The pattern to search for.
    pub pattern: Pattern,
    /// The files to search.
    pub selection: Selection,
    /// What is printed.
    pub display: Display,
    /// Whether files are only listed by name.
    pub list_names: bool,
    /// Maximum number of matches in a file; 0 for no limit.
    pub max_count: usize,
    /// Whether lines without a match count as matches.
    pub invert: bool,
    /// Whether binary files are searched.
    pub binary: bool,
    /// Whether compressed files are searched.
    pub compressed: bool,
    /// Whether empty files match when the pattern matches a file as a whole.
    pub empty: bool,
    /// Whether files without a match are printed like those with one.
    pub all_files: bool,
    /// Whether only files without a match are printed.
    pub without: bool,
    /// Whether lines of a stream without a match are printed.
    pub passthrough: bool,
    /// Whether all matches are counted, whatever is printed.
    pub counted: bool,
    /// Number of threads.
    pub workers: usize,
    /// Decides which files need not be read.
    pub prefilter: Prefilter,
}

impl Settings {
    /// Returns whether nothing is printed or counted for a text file that does not match, so that
    /// it need not be read.
    pub fn leaves_out_others(&self) -> bool {
        let of_others = self.invert || self.all_files || self.without || self.counted;
        let other_bytes = self.binary || self.compressed || self.list_names;
        !of_others && !other_bytes
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of matches.
    pub matches: usize,
    /// Number of files with a match.
    pub file_matches: usize,
    /// Number of files.
    pub files: usize,
    /// Total bytes of the files.
    pub bytes: usize,
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether something was found.
    pub found: bool,
    /// Statistics of the search.
    pub stats: Stats,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.found |= other.found;
        self.stats.matches += other.stats.matches;
        self.stats.file_matches += other.stats.file_matches;
        self.stats.files += other.stats.files;
        self.stats.bytes += other.stats.bytes;
    }
}

/// Searches files.
pub fn search(settings: &Settings, report: &Report<'_>) -> io::Result<Outcome> {
    let mut start = start(&settings.selection, report);
    // The last one is taken first.
    start.reverse();
    let queue = Queue::new(start);
    let workers = settings.workers.max(1);
    let mut outcome = Outcome::default();
    if workers == 1 {
        outcome = Worker::new(settings, report).run(&queue);
    } else {
        let outcomes: Vec<Outcome> = thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| Worker::new(settings, report).run(&queue));
            let threads: Vec<_> = (0..workers).map(spawn).collect();
            let ended = threads.into_iter().map(|thread| thread.join().ok());
            ended.collect::<Option<_>>()
        })
        .ok_or_else(|| io::Error::other("a thread ended early"))?;
        outcomes.into_iter().for_each(|other| outcome.add(other));
    }
    report.finish()?;
    Ok(outcome)
}

/// Searches a stream line by line, and prints matches while it is read.
pub fn search_stream(
    settings: &Settings,
    input: &mut dyn BufRead,
    report: &Report<'_>,
) -> io::Result<Outcome> {
    let mut worker = Worker::new(settings, report);
    let mut line = Vec::new();
    while !report.is_closed() {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        worker.stream_line(&line);
        report.hand_on(&mut worker.printer.buffer);
    }
    report.finish()?;
    Ok(worker.outcome)
}

/// Returns the first jobs: one for each path.
fn start(selection: &Selection, report: &Report<'_>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for path in &selection.paths {
        let path = path.as_os_str().as_bytes();
        match fs_err::metadata(OsStr::from_bytes(path)) {
            Ok(metadata) if !metadata.is_dir() => jobs.push(Job::Files(vec![Entry {
                path: path.to_vec(),
                source: Source::Named,
            }])),
            Ok(metadata) => {
                let folder = Folder::start(path, &selection.rules, Some(metadata.dev()));
                jobs.push(Job::Folder(Box::new(folder)));
            }
            // Missing paths are reported in the order in which they were named.
            Err(_) => {
                let folder = Folder::start(path, &selection.rules, None);
                jobs.extend(folder.read(selection, report));
            }
        }
    }
    jobs
}

/// The state of one thread.
struct Worker<'s, 'w> {
    settings: &'s Settings,
    report: &'s Report<'w>,
    searcher: Searcher<'s>,
    printer: Printer<'s>,
    matches: Vec<Range<usize>>,
    text: Vec<u8>,
    limit: Limit,
    outcome: Outcome,
    /// The folder in which the last file was examined.
    last: LastFolder,
}

impl<'s, 'w> Worker<'s, 'w> {
    fn new(settings: &'s Settings, report: &'s Report<'w>) -> Self {
        let lists = settings.display.files && !settings.display.counts || settings.without;
        let limit = match settings.max_count {
            0 if lists && !settings.counted && !settings.invert => Limit::First,
            0 => Limit::None,
            count => Limit::Count(count),
        };
        Self {
            settings,
            report,
            searcher: settings.pattern.searcher(),
            printer: Printer::new(&settings.display),
            matches: Vec::new(),
            text: Vec::new(),
            last: LastFolder::default(),
            limit,
            outcome: Outcome::default(),
        }
    }

    fn run(mut self, queue: &Queue<Job>) -> Outcome {
        while let Some((job, mut turn)) = queue.take() {
            turn.found = match job {
                Job::Folder(folder) => folder.read(&self.settings.selection, self.report),
                Job::Files(files) => {
                    files.iter().for_each(|file| self.file(file));
                    self.report.hand_on(&mut self.printer.buffer);
                    Vec::new()
                }
            };
            drop(turn);
            if self.report.is_closed() {
                queue.clear();
            }
        }
        self.outcome
    }

    fn file(&mut self, file: &Entry) {
        if self.report.is_closed() {
            return;
        }
        let path = &file.path;
        if self.settings.list_names && file.source != Source::Named {
            self.printer.path(path, self.settings.display.path_end);
            self.outcome.found = true;
            return;
        }
        self.printer.begin();
        let want = Want {
            binary: self.settings.binary,
            compressed: self.settings.compressed,
            output: self.settings.selection.output,
        };
        if !self.settings.prefilter.is_empty() && self.is_excluded(file) {
            let path = path.escape_ascii();
            self.report
                .debug(|| format!("Skipping {path}: the index says that nothing matches"));
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        let count = match file::read(
            path,
            file.source == Source::Regular,
            want,
            &mut text,
            self.report,
        ) {
            Content::Text => self.search(path, &text),
            Content::Empty if self.settings.empty && self.settings.pattern.is_everything() => {
                self.search(path, b"")
            }
            Content::Empty | Content::Skipped => None,
        };
        self.text = text;
        if self.settings.without && count == Some(0) {
            self.printer.path(path, self.settings.display.path_end);
            self.outcome.found = true;
        }
        if self.printer.buffer.urgent {
            self.report.hand_on(&mut self.printer.buffer);
        }
    }

    fn is_excluded(&mut self, file: &Entry) -> bool {
        let path = Path::new(OsStr::from_bytes(&file.path));
        let named = file.source == Source::Named;
        self.settings
            .prefilter
            .excludes(path, named, &mut self.last)
    }

    /// Searches a text and prints the matches; returns their number, if it was searched.
    fn search(&mut self, path: &[u8], text: &[u8]) -> Option<usize> {
        let settings = self.settings;
        if !settings.binary && binary::is_binary(text) {
            return None;
        }
        let count = self.collect(path, text);
        if settings.without || count == 0 && !settings.all_files {
            return Some(count);
        }
        let display = &settings.display;
        if display.counts {
            self.printer.count(path, count);
        } else if display.files {
            self.printer.path(path, display.path_end);
        } else if settings.binary && binary::is_binary(text) {
            self.printer.binary(path);
        } else {
            self.printer.matches(path, text, &self.matches);
        }
        self.outcome.found = true;
        Some(count)
    }

    /// Finds the matches in a text, and counts them.
    fn collect(&mut self, path: &[u8], text: &[u8]) -> usize {
        self.matches.clear();
        let reached = self.searcher.collect(text, self.limit, &mut self.matches);
        if reached {
            self.report.error(&[
                b"Too many matches in ",
                path,
                b". Skipping the rest of this file.",
            ]);
        }
        if self.settings.invert {
            invert::invert(text, &mut self.matches);
        }
        let count = self.matches.len();
        let stats = &mut self.outcome.stats;
        stats.bytes += text.len();
        stats.files += 1;
        stats.matches += count;
        stats.file_matches += usize::from(count > 0);
        count
    }

    fn stream_line(&mut self, text: &[u8]) {
        let settings = self.settings;
        let count = self.collect(b"", text);
        if !settings.without && (count > 0 || settings.all_files) {
            self.outcome.found = true;
            if settings.display.counts {
                self.printer.count(b"", count);
            } else if settings.display.files {
                self.printer.path(b"", settings.display.path_end);
            } else if count > 0 {
                self.printer.stream_line(text, &self.matches);
            }
        } else if settings.passthrough {
            let line = text.split(|byte| *byte == 0).next().unwrap_or_default();
            self.printer.put(line);
        }
        if count == 0 {
            self.printer.pass_stream_line(text);
        }
        self.printer
            .end_stream_line(text.strip_suffix(b"\n").unwrap_or(text));
    }
}
