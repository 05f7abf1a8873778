//! A trace of a run: what each thread did when, and how long the queues were.
//!
//! The format is the Trace Event Format, which Chrome's `about:tracing` and Perfetto display. A run
//! without a trace pays one comparison for each stage; with one, each thread notes into its own
//! list.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ken_core::escape_bytes;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

/// Number of lists of notes; further threads share them.
const LISTS: usize = 64;
/// Maximum number of notes in a list, which take some 100 MB in all on two cores; later ones are
/// left out.
const NOTES: usize = 500_000;
/// Shorter stages of one thread are noted together, if the time between them is no longer.
const SHORT: Duration = Duration::from_millis(1);
/// Maximum length of stages that are noted together.
const TOGETHER: Duration = Duration::from_millis(20);
/// Interval at which the use of the cores is sampled.
const LOOK: Duration = Duration::from_millis(10);
/// Stages from this length on are noted with their file.
const NAMED: Duration = Duration::from_millis(5);

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Opens the index and loads what it knows of files.
    Load,
    /// Walks and compares.
    Walk,
    /// Reads a file, or a part of one; includes its additions to the index.
    Extract,
    /// Adds a document to a segment; may include writing the full segment.
    Index,
    /// Waits for files or parts.
    Idle,
    /// Waits until memory is free.
    Memory,
    /// Commits, and writes the n-grams of what is committed.
    Commit,
    /// Merges n-gram segments.
    Ngrams,
    /// Waits for merges of segments.
    Merge,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Load => "load catalogue",
            Self::Walk => "walk",
            Self::Extract => "extract",
            Self::Index => "index",
            Self::Idle => "wait for files",
            Self::Memory => "wait for memory",
            Self::Commit => "commit",
            Self::Ngrams => "merge n-grams",
            Self::Merge => "wait for merges",
        }
    }
}

#[derive(Clone, Debug)]
enum Note {
    Stage {
        stage: Stage,
        start: Duration,
        length: Duration,
        file: Option<String>,
        /// Number of stages, if several are noted together, and their total time.
        times: u32,
        busy: Duration,
    },
    Queues {
        at: Duration,
        changes: usize,
        members: usize,
    },
    Cores {
        at: Duration,
        busy: f64,
    },
}

/// The notes of some threads.
#[derive(Debug, Default)]
struct List {
    notes: Vec<(usize, Note)>,
    /// The last note of each stage.
    last: [Option<usize>; Stage::Merge as usize + 1],
}

impl List {
    fn push(&mut self, thread: usize, note: Note) {
        if self.notes.len() < NOTES {
            self.notes.push((thread, note));
        }
    }

    /// Notes a stage of a thread, together with the previous one if both are short.
    fn stage(&mut self, thread: usize, new: Note) {
        let Note::Stage {
            stage,
            start,
            length,
            file: None,
            ..
        } = new
        else {
            return self.push(thread, new);
        };
        let last = self.last[stage as usize].and_then(|at| self.notes.get_mut(at));
        if let Some((
            of,
            Note::Stage {
                start: began,
                length: whole,
                file: None,
                times,
                busy,
                ..
            },
        )) = last
            && *of == thread
            && length < SHORT
            && start.saturating_sub(*began + *whole) < SHORT
            && (start + length).saturating_sub(*began) < TOGETHER
        {
            *whole = start + length - *began;
            *times += 1;
            *busy += length;
            return;
        }
        self.last[stage as usize] = Some(self.notes.len());
        self.push(thread, new);
    }
}

/// The notes of a run.
#[derive(Debug)]
pub struct Trace {
    began: Instant,
    lists: Vec<Mutex<List>>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            lists: (0..LISTS).map(|_| Mutex::default()).collect(),
        }
    }
}

/// A stage that lasts until this is dropped.
pub(crate) struct Span<'t> {
    trace: Option<&'t Trace>,
    stage: Stage,
    began: Option<Instant>,
    file: Option<&'t Path>,
}

impl<'t> Span<'t> {
    /// Begins a stage on this thread, with a file if one is given.
    pub(crate) fn new(trace: Option<&'t Trace>, stage: Stage, file: Option<&'t Path>) -> Self {
        Self {
            trace,
            stage,
            began: trace.map(|_| Instant::now()),
            file,
        }
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        let (Some(trace), Some(began)) = (self.trace, self.began) else {
            return;
        };
        let length = began.elapsed();
        let file = self.file.filter(|_| length >= NAMED);
        let thread = thread_number();
        let note = Note::Stage {
            stage: self.stage,
            start: began.duration_since(trace.began),
            length,
            times: 1,
            busy: length,
            file: file.map(|path| escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned()),
        };
        trace.list(thread % LISTS).stage(thread, note);
    }
}

impl Trace {
    /// Notes how many changes and members wait for a thread.
    pub(crate) fn queues(&self, changes: usize, members: usize) {
        let thread = thread_number();
        let note = Note::Queues {
            at: self.began.elapsed(),
            changes,
            members,
        };
        self.list(thread % LISTS).push(thread, note);
    }

    /// Notes at intervals how many cores this process keeps busy, until it is ended.
    pub(crate) fn cores(&self, ended: &AtomicBool) {
        let (mut then, mut before) = (self.began.elapsed(), cpu_time());
        while !ended.load(Ordering::Relaxed) {
            thread::park_timeout(LOOK);
            let (at, cpu) = (self.began.elapsed(), cpu_time());
            let passed = at.saturating_sub(then).as_secs_f64().max(1e-9);
            let busy = cpu.saturating_sub(before).as_secs_f64() / passed;
            (then, before) = (at, cpu);
            let thread = thread_number();
            self.list(thread % LISTS)
                .push(thread, Note::Cores { at, busy });
        }
    }

    fn list(&self, number: usize) -> std::sync::MutexGuard<'_, List> {
        self.lists[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the notes.
    ///
    /// # Errors
    /// Fails if the output cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let micros = |time: &Duration| time.as_nanos() as f64 / 1000.0;
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
        let mut is_first = true;
        for number in 0..LISTS {
            for (thread, note) in &self.list(number).notes {
                let event = match note {
                    Note::Stage {
                        stage,
                        start,
                        length,
                        file,
                        times,
                        busy,
                    } => {
                        let args = match (file, times) {
                            (Some(file), _) => json!({"file": file}),
                            (None, 1) => json!({}),
                            (None, _) => json!({"times": times, "busy": micros(busy)}),
                        };
                        json!({"ph": "X", "pid": 1, "tid": thread, "name": stage.name(),
                            "ts": micros(start), "dur": micros(length), "args": args})
                    }
                    Note::Queues {
                        at,
                        changes,
                        members,
                    } => json!({"ph": "C", "pid": 1, "name": "waiting", "ts": micros(at),
                        "args": {"files": changes, "members": members}}),
                    Note::Cores { at, busy } => json!({"ph": "C", "pid": 1, "name": "cores",
                        "ts": micros(at), "args": {"busy": busy}}),
                };
                let separator = if is_first { "" } else { ",\n" };
                is_first = false;
                write!(out, "{separator}{event}")?;
            }
        }
        out.write_all(b"\n]}\n")?;
        out.flush()
    }
}

/// Returns the CPU time of this process so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, time.tv_nsec.try_into().unwrap_or_default())
}

/// Returns a small number that is unique to this thread.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_written_as_events() {
        let trace = Trace::default();
        {
            let _outer = Span::new(
                Some(&trace),
                Stage::Extract,
                Some(Path::new("/d/\"a\".txt")),
            );
            thread::sleep(NAMED);
            let _inner = Span::new(Some(&trace), Stage::Index, None);
        }
        drop(Span::new(None, Stage::Walk, None));
        for _ in 0..3 {
            drop(Span::new(Some(&trace), Stage::Memory, None));
        }
        trace.queues(3, 4);
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let noting = scope.spawn(|| trace.cores(&ended));
            while trace.lists.iter().all(|list| {
                let list = list.lock().unwrap();
                !list
                    .notes
                    .iter()
                    .any(|(_, note)| matches!(note, Note::Cores { .. }))
            }) {
                thread::yield_now();
            }
            ended.store(true, Ordering::Relaxed);
            noting.thread().unpark();
        });
        let mut out = Vec::new();
        trace.write(&mut out).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let events = read["traceEvents"].as_array().unwrap();
        let names: Vec<_> = events
            .iter()
            .map(|event| event["name"].as_str().unwrap())
            .collect();
        let expected = ["index", "extract", "wait for memory", "waiting", "cores"];
        assert_eq!(names[..5], expected);
        assert_eq!(events[1]["args"]["file"], "/d/\"a\".txt");
        assert!(events[1]["dur"].as_f64() >= events[0]["dur"].as_f64());
        assert_eq!(events[2]["args"]["times"], 3);
        assert_eq!(events[3]["args"]["members"], 4);
        assert!(events[4]["args"]["busy"].as_f64() >= Some(0.0));
    }
}
