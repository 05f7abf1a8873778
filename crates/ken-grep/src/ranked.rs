//! `--rank` and `--budget`: many threads first judge all files or documents. The most useful ones are then
//! searched again and printed, so that only names and scores are kept.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ignore::WalkState;
use ken_core::{Document, Field, Ipath, Location};
use ken_engine::DocAddress;
use termcolor::WriteColor;

use crate::digest::{Budget, Digest};
use crate::documents::{Documents, Name, pages};
use crate::format::{Mode, Printer};
use crate::input::Input;
use crate::output::{Output, Paint};
use crate::rank::{Gauged, MAX_SHOWN};
use crate::run::{Search, Searched};
use crate::tally::{Summary, Tally};
use crate::worker::Worker;

/// A file or a document with matches.
struct Ranked<T> {
    source: T,
    name: Name,
    lines: u64,
    score: f32,
}

impl<T> Ranked<T> {
    /// Returns a file or document with its score; the place of the name among others is that of `path`.
    fn new(source: T, name: Name, modified: Option<SystemTime>, gauged: &Gauged) -> Self {
        let Name(location) = &name;
        let path = match location.ipath.is_root() {
            true => location.path.clone(),
            false => location.path.join(location.ipath.as_str()),
        };
        Self {
            source,
            score: gauged.score(&path, modified),
            lines: gauged.lines,
            name,
        }
    }
}

/// The search of a worker that prints nothing.
type Judge<'a> = Worker<'a, Paint<io::Sink>>;

impl Search<'_> {
    /// Searches and prints the most useful files first.
    ///
    /// # Errors
    /// Fails if the walk cannot start.
    pub fn ranked<W: WriteColor>(&self, writer: W) -> Result<Summary, ignore::Error> {
        let (ranked, judged) = self.rank()?;
        let tally = Tally::new(self.format.stats);
        let mut worker = self.worker(self.format.printer(writer, true));
        for file in &ranked {
            if self.search_one(&mut worker, &file.source, &tally) == Searched::Unread {
                break;
            }
            if tally.has_match() && self.format.stops_at_first() {
                break;
            }
        }
        // The reader of the output may be gone.
        let _ = worker.writer().flush();
        Ok(Summary {
            stats: tally.summary().stats,
            ..judged
        })
    }

    /// Searches and prints the best lines of the most useful files, within a budget.
    ///
    /// # Errors
    /// Fails if the walk cannot start.
    pub fn within<W: Write>(
        &self,
        budget: &Budget<'_>,
        writer: &mut W,
    ) -> Result<Summary, ignore::Error> {
        let (ranked, judged) = self.rank()?;
        let mut worker = self.judge(MAX_SHOWN.saturating_add(budget.skip_lines));
        self.print(budget, "files", &ranked, writer, |file: &Input| {
            let outcome = worker.search(file)?;
            Ok::<_, io::Error>(outcome.gauged.unwrap_or_default())
        });
        Ok(judged)
    }

    /// Searches and prints the most useful documents first.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn documents_ranked<W: Write>(
        &self,
        documents: &Documents<'_>,
        output: &Output<W>,
    ) -> Result<Summary, ken_engine::Error> {
        let (ranked, judged) = self.rank_documents(documents)?;
        let tally = Tally::new(self.format.stats);
        let printer = self.format.printer(output.whole_sheet(), false);
        let mut worker = self.worker(printer);
        for of in &ranked {
            let stored = documents.snapshot.document(of.source)?;
            if !self.one_document(&mut worker, &of.name, &stored.document.body, &tally) {
                break;
            }
        }
        Ok(Summary {
            stats: tally.summary().stats,
            ..judged
        })
    }

    /// Searches and prints the best lines of the most useful documents, within a budget.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn documents_within<W: Write>(
        &self,
        documents: &Documents<'_>,
        budget: &Budget<'_>,
        writer: &mut W,
    ) -> Result<Summary, ken_engine::Error> {
        let (ranked, judged) = self.rank_documents(documents)?;
        let n_kept = MAX_SHOWN.saturating_add(budget.skip_lines);
        let mut worker = self.judge(n_kept);
        self.print(budget, "documents", &ranked, writer, |at: &DocAddress| {
            let stored = documents.snapshot.document(*at)?;
            Ok::<_, ken_engine::Error>(self.gauge(&mut worker, &stored.document, n_kept))
        });
        Ok(judged)
    }

    /// Prints the best of what was ranked; `search` finds its lines again.
    fn print<T, E: std::fmt::Display>(
        &self,
        budget: &Budget<'_>,
        what: &'static str,
        ranked: &[Ranked<T>],
        writer: &mut impl Write,
        mut search: impl FnMut(&T) -> Result<Gauged, E>,
    ) {
        let all_lines = ranked.iter().map(|of| of.lines).sum();
        let mut digest = Digest::new(budget, what, ranked.len(), all_lines);
        for of in ranked.iter().skip(budget.skip) {
            let gauged = match search(&of.source) {
                Ok(gauged) => gauged,
                Err(error) => {
                    self.could_not_read(&of.name, &error);
                    Gauged::default()
                }
            };
            let Some(text) = digest.add(&of.name, of.lines, gauged) else {
                break;
            };
            // The reader of the output may be gone.
            if writer.write_all(&text).is_err() {
                return;
            }
        }
        let _ = writer.write_all(&digest.end());
        let _ = writer.flush();
    }

    fn could_not_read(&self, name: &Name, error: &impl std::fmt::Display) {
        let shown = name.shown(None);
        let message = format!("{}: {error}", shown.display());
        self.observer.failed(&message);
    }

    /// Returns a worker that judges lines, and keeps so many of the best.
    fn judge(&self, n_kept: usize) -> Judge<'_> {
        self.worker(Printer::Gauge(Paint::new(io::sink(), None), n_kept))
    }

    /// Judges all files; returns those with matches, the most useful ones first.
    fn rank(&self) -> Result<(Vec<Ranked<Input>>, Summary), ignore::Error> {
        let tally = Tally::new(false);
        let ranked = Mutex::new(Vec::new());
        let worker = self.judge(0);
        self.each(&tally, || {
            let mut worker = worker.clone();
            let (tally, ranked) = (&tally, &ranked);
            move |input: Input| {
                match worker.search(&input) {
                    Ok(outcome) => {
                        tally.add(outcome.matched, None);
                        if let Some(gauged) = outcome.gauged.filter(|_| outcome.matched) {
                            let modified = input.metadata().and_then(|data| data.modified());
                            let name = Name(Location {
                                path: input.path().to_path_buf(),
                                ipath: Ipath::root(),
                            });
                            push(ranked, Ranked::new(input, name, modified.ok(), &gauged));
                        }
                    }
                    Err(error) => self.failed(input.path(), &error),
                }
                WalkState::Continue
            }
        })?;
        Ok((sorted(ranked), tally.summary()))
    }

    /// Judges all documents; returns those with matches, the most useful ones first.
    fn rank_documents(
        &self,
        documents: &Documents<'_>,
    ) -> Result<(Vec<Ranked<DocAddress>>, Summary), ken_engine::Error> {
        let (tally, next) = (Tally::new(false), AtomicUsize::new(0));
        let ranked = Mutex::new(Vec::new());
        self.with_threads(|| {
            let mut worker = self.judge(0);
            self.each_document(documents, &next, &tally, &mut |at, name, document| {
                let gauged = self.gauge(&mut worker, document, 0);
                tally.add(gauged.lines > 0, None);
                if gauged.lines > 0 {
                    let modified = modified(document);
                    push(&ranked, Ranked::new(at, name, modified, &gauged));
                }
                true
            })
        })?;
        Ok((sorted(ranked), tally.summary()))
    }

    /// Judges the lines of a document, and keeps so many of the best.
    fn gauge(&self, worker: &mut Judge<'_>, document: &Document, n_kept: usize) -> Gauged {
        let mut all = Gauged::default();
        for (page, text) in pages(&document.body, Mode::Lines) {
            match worker.search_text(Path::new(""), text.as_bytes()) {
                Ok(outcome) => all.add_page(page, outcome.gauged.unwrap_or_default(), n_kept),
                Err(error) => self.failed(Path::new(document.ipath.as_str()), &error),
            }
        }
        all
    }
}

/// Returns when a document was last changed.
fn modified(document: &Document) -> Option<SystemTime> {
    let fields = [Field::Modified, Field::Date].into_iter();
    let mut seconds = fields.filter_map(|field| document.number(field));
    let seconds = seconds
        .next()
        .and_then(|seconds| u64::try_from(seconds).ok())?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn push<T>(ranked: &Mutex<Vec<T>>, of: T) {
    let mut list = ranked.lock().unwrap_or_else(PoisonError::into_inner);
    list.push(of);
}

fn sorted<T>(ranked: Mutex<Vec<Ranked<T>>>) -> Vec<Ranked<T>> {
    let mut ranked = ranked.into_inner().unwrap_or_else(PoisonError::into_inner);
    ranked.sort_by(order);
    ranked
}

fn order<T>(left: &Ranked<T>, right: &Ranked<T>) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| left.name.cmp(&right.name))
}
