//! The search of all files: by one thread in a given order, or by many in any order.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::SystemTime;

use ignore::WalkState;
use termcolor::WriteColor;

use crate::Observer;
use crate::conditions::Conditions;
use crate::format::{Format, Mode, Printer};
use crate::input::Input;
use crate::output::Output;
use crate::pattern::Matcher;
use crate::prefilter::Prefilter;
pub use crate::tally::Summary;
use crate::tally::Tally;
use crate::tree::Tree;
use crate::walk::{Sort, SortKey, WalkOptions};
use crate::worker::{SearchOptions, Worker};

/// A complete search: pattern, files, output and observer.
pub struct Search<'a> {
    /// Which files are searched.
    pub walk: &'a WalkOptions,
    /// Which lines match.
    pub matcher: Matcher,
    /// Further conditions for a match.
    pub conditions: &'a Conditions,
    /// How files are read.
    pub options: &'a SearchOptions,
    /// What is printed.
    pub format: &'a Format,
    /// Decides which files need no scan.
    pub prefilter: &'a Prefilter,
    /// Whether ASCII files cannot match and need no search ([`crate::prefilter::Request::need`]).
    pub passes_over_ascii: bool,
    /// Whether the user named no path.
    pub implicit_path: bool,
    /// Receives problems.
    pub observer: &'a dyn Observer,
}

/// How the search of one file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    Done,
    Failed,
    /// Nobody reads the results any more.
    Unread,
}

impl Search<'_> {
    /// Searches with many threads; the results of each file stay together.
    pub fn parallel<W: Write + Send>(&self, output: &Output<W>) -> Result<Summary, ignore::Error> {
        let tally = Tally::new(self.format.stats);
        let printer = self.format.printer(output.sheet(), false);
        let worker = self.worker(printer);
        self.each(&tally, || {
            let mut worker = worker.clone();
            let tally = &tally;
            move |input: Input| {
                match self.search_one(&mut worker, &input, tally) {
                    Searched::Done => {}
                    Searched::Failed => worker.writer().inner().discard(),
                    Searched::Unread => return WalkState::Quit,
                }
                if let Err(error) = worker.writer().inner().finish() {
                    if error.kind() == io::ErrorKind::BrokenPipe {
                        return WalkState::Quit;
                    }
                    self.failed(input.path(), &error);
                }
                if tally.has_match() && self.format.stops_at_first() {
                    WalkState::Quit
                } else {
                    WalkState::Continue
                }
            }
        })?;
        Ok(tally.summary())
    }

    /// Returns whether the walk is the one for searches with an index, whose threads stat files
    /// themselves.
    pub fn walks_by_index(&self) -> bool {
        let mut paths = self.walk.paths.iter();
        !self.prefilter.is_empty() && paths.any(|path| path.is_dir())
    }

    /// Walks with many threads, each with its own visitor, which receives the inputs to search.
    pub(crate) fn each<V>(
        &self,
        tally: &Tally,
        visitor: impl Fn() -> V,
    ) -> Result<(), ignore::Error>
    where
        V: FnMut(Input) -> WalkState + Send,
    {
        self.tree()?.run(tally, visitor);
        Ok(())
    }

    fn tree(&self) -> Result<Tree<'_>, ignore::Error> {
        Tree::new(self.walk, self.prefilter, self.observer, self.implicit_path)
    }

    /// Searches with one thread, which prints immediately.
    pub fn sequential<W: WriteColor>(&self, writer: W) -> Result<Summary, ignore::Error> {
        let tally = Tally::new(self.format.stats);
        let printer = self.format.printer(writer, true);
        let mut worker = self.worker(printer);
        in_order(self.tree()?, self.walk, &tally, |input| {
            let searched = self.search_one(&mut worker, &input, &tally);
            let is_enough = tally.has_match() && self.format.stops_at_first();
            match searched == Searched::Unread || is_enough {
                true => WalkState::Quit,
                false => WalkState::Continue,
            }
        });
        // The reader of the output may be gone.
        let _ = worker.writer().flush();
        Ok(tally.summary())
    }

    pub(crate) fn worker<W: WriteColor>(&self, printer: Printer<W>) -> Worker<'_, W> {
        let (options, conditions) = (self.options, self.conditions);
        let counts_bytes = self.format.stats || self.format.mode == Mode::Json;
        Worker::new(
            options,
            self.matcher.clone(),
            conditions,
            printer,
            counts_bytes,
        )
        .passing_over_ascii(self.passes_over_ascii)
    }

    /// Searches one file and reports problems.
    pub(crate) fn search_one<W: WriteColor>(
        &self,
        worker: &mut Worker<'_, W>,
        input: &Input,
        tally: &Tally,
    ) -> Searched {
        match worker.search(input) {
            Ok(outcome) => {
                tally.add(outcome.matched, outcome.stats.as_ref());
                Searched::Done
            }
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Searched::Unread,
            Err(error) => {
                self.failed(input.path(), &error);
                Searched::Failed
            }
        }
    }

    pub(crate) fn failed(&self, path: &Path, error: &io::Error) {
        self.observer
            .failed(&format!("{}: {error}", path.display()));
    }
}

/// Prints the files that would be searched; returns whether there are any.
pub fn list<W: WriteColor + Send>(
    walk: &WalkOptions,
    format: &Format,
    implicit_path: bool,
    observer: &dyn Observer,
    writer: W,
) -> Result<bool, ListError> {
    let mut printer = format.path_printer(writer);
    let mut any = false;
    let mut print = |input: &Input| {
        if format.stops_at_first() {
            return Ok(false);
        }
        match printer.write(input.path()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error),
        }
    };
    let (prefilter, tally) = (Prefilter::nothing(), Tally::default());
    let tree = Tree::new(walk, &prefilter, observer, implicit_path)?;
    if walk.threads == 1 {
        let mut outcome = Ok(true);
        in_order(tree, walk, &tally, |input| {
            any = true;
            outcome = print(&input);
            match outcome {
                Ok(true) => WalkState::Continue,
                _ => WalkState::Quit,
            }
        });
        outcome?;
        return Ok(any);
    }
    let (sender, receiver) = mpsc::sync_channel(WAITING_PATHS);
    thread::scope(|scope| {
        let tally = &tally;
        scope.spawn(move || {
            tree.run(tally, || {
                let sender = sender.clone();
                move |input| match sender.send(input) {
                    Err(_) => WalkState::Quit,
                    Ok(()) => WalkState::Continue,
                }
            });
        });
        for input in receiver {
            any = true;
            if !print(&input)? {
                break;
            }
        }
        Ok(any)
    })
}

/// Maximum number of paths that are found but not printed yet.
const WAITING_PATHS: usize = 4096;

/// Why a list of files ended early.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The walk cannot start.
    #[error(transparent)]
    Walk(#[from] ignore::Error),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Visits the files on this thread, in the requested order, until the visitor has enough.
fn in_order(
    tree: Tree<'_>,
    walk: &WalkOptions,
    tally: &Tally,
    mut visit: impl FnMut(Input) -> WalkState,
) {
    let Some(sort) = walk.sort.filter(|_| !walk.sorted_by_walk()) else {
        return tree.run_in_order(tally, visit);
    };
    let mut all = Vec::new();
    tree.run_in_order(tally, |input| {
        all.push(input);
        WalkState::Continue
    });
    for input in sorted(all, sort) {
        if visit(input) == WalkState::Quit {
            break;
        }
    }
}

fn sorted(inputs: Vec<Input>, Sort { key, reverse }: Sort) -> impl Iterator<Item = Input> {
    let mut list: Vec<(Input, Option<SystemTime>)> = inputs
        .into_iter()
        .map(|input| {
            let time = time(&input, key);
            (input, time)
        })
        .collect();
    list.sort_by(|(left, left_time), (right, right_time)| {
        let order = if key == SortKey::Path {
            left.path().cmp(right.path())
        } else {
            // A file without the time comes last.
            let by_time = left_time.is_none().cmp(&right_time.is_none());
            by_time.then(left_time.cmp(right_time))
        };
        if reverse { order.reverse() } else { order }
    });
    list.into_iter().map(|(input, _)| input)
}

fn time(input: &Input, key: SortKey) -> Option<SystemTime> {
    if key == SortKey::Path {
        return None;
    }
    #[allow(clippy::disallowed_methods)] // an error is no time, whatever its words
    let metadata = std::fs::metadata(input.path()).ok()?;
    match key {
        SortKey::Path => None,
        SortKey::Modified => metadata.modified().ok(),
        SortKey::Accessed => metadata.accessed().ok(),
        SortKey::Created => metadata.created().ok(),
    }
}
