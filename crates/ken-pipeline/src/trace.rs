//! A trace of a run: what each thread did when, and how long the queues were.
//!
//! Written in the Trace Event Format, which Chrome's `about:tracing` and Perfetto draw. A run without a
//! trace pays one comparison for each stage; with one, each thread notes into a list of its own.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ken_core::escape_bytes;
use serde_json::json;

/// Lists of notes; more threads share.
const LISTS: usize = 64;
/// A list holds so many notes, which take some 100 MB all together on two cores; what comes later is left
/// out.
const NOTES: usize = 500_000;
/// Of what takes at least so long, the file is noted too.
const NAMED: Duration = Duration::from_millis(5);

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Opens the index and loads what it knows of files.
    Load,
    /// Walks and compares.
    Walk,
    /// Reads a file, or a part of one; what it hands to the index lies inside.
    Extract,
    /// Adds a document to a segment; with it the segment that is full.
    Index,
    /// Waits for files or parts.
    Idle,
    /// Waits until memory is free.
    Memory,
    /// Commits, and writes the grams of what is committed.
    Commit,
    /// Merges files of grams.
    Grams,
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
            Self::Grams => "merge grams",
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
    },
    Queues {
        at: Duration,
        changes: usize,
        members: usize,
    },
}

/// The notes of a run.
#[derive(Debug)]
pub struct Trace {
    began: Instant,
    lists: Vec<Mutex<Vec<(usize, Note)>>>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            lists: (0..LISTS).map(|_| Mutex::default()).collect(),
        }
    }
}

/// A stage that goes on until this is dropped.
pub(crate) struct Span<'t> {
    trace: Option<&'t Trace>,
    stage: Stage,
    began: Option<Instant>,
    file: Option<&'t Path>,
}

impl<'t> Span<'t> {
    /// Begins a stage on this thread; of a file, if one is given.
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
        trace.note(Note::Stage {
            stage: self.stage,
            start: began.duration_since(trace.began),
            length,
            file: file.map(|path| escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned()),
        });
    }
}

impl Trace {
    /// Notes how many changes and members wait for a thread.
    pub(crate) fn queues(&self, changes: usize, members: usize) {
        self.note(Note::Queues {
            at: self.began.elapsed(),
            changes,
            members,
        });
    }

    fn note(&self, note: Note) {
        let thread = thread_number();
        let mut list = self.list(thread % LISTS);
        if list.len() < NOTES {
            list.push((thread, note));
        }
    }

    fn list(&self, number: usize) -> std::sync::MutexGuard<'_, Vec<(usize, Note)>> {
        self.lists[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the notes.
    ///
    /// # Errors
    /// Fails if that fails.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let micros = |time: &Duration| time.as_nanos() as f64 / 1000.0;
        out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
        let mut is_first = true;
        for number in 0..LISTS {
            for (thread, note) in &*self.list(number) {
                let event = match note {
                    Note::Stage {
                        stage,
                        start,
                        length,
                        file,
                    } => {
                        let args = file
                            .as_ref()
                            .map_or(json!({}), |file| json!({"file": file}));
                        json!({"ph": "X", "pid": 1, "tid": thread, "name": stage.name(),
                            "ts": micros(start), "dur": micros(length), "args": args})
                    }
                    Note::Queues {
                        at,
                        changes,
                        members,
                    } => json!({"ph": "C", "pid": 1, "name": "waiting", "ts": micros(at),
                        "args": {"files": changes, "members": members}}),
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

/// Returns a small number of this thread's own.
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
            std::thread::sleep(NAMED);
            let _inner = Span::new(Some(&trace), Stage::Index, None);
        }
        drop(Span::new(None, Stage::Walk, None));
        trace.queues(3, 4);
        let mut out = Vec::new();
        trace.write(&mut out).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let events = read["traceEvents"].as_array().unwrap();
        let names: Vec<_> = events
            .iter()
            .map(|event| event["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["index", "extract", "waiting"]);
        assert_eq!(events[1]["args"]["file"], "/d/\"a\".txt");
        assert!(events[1]["dur"].as_f64() >= events[0]["dur"].as_f64());
        assert_eq!(events[2]["args"]["members"], 4);
    }
}
