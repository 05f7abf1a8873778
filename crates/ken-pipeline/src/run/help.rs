//! Helps the run of another machine: reads the files of its shares with all cores of this one.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ken_engine::{Claim, Engine, Sink};
use ken_walk::Catalogue;

use super::{Run, of_paths};
use crate::guest::Guest;
use crate::prepare::{Prepared, Scope};
use crate::share::{self, Outcome, PICTURES_READ, Share, SharedFile, Work};
use crate::write::{LazyWriter, WriterSlot};
use crate::{Error, Options, Progress, Summary, ocr, under_way};

/// How often a machine without work asks for some.
const ASK: Duration = Duration::from_millis(200);
/// How often somebody is told who has the run while there is nothing to do.
const NAME: Duration = Duration::from_secs(3);
/// How often a machine asks again whether a run that ended goes on.
const MAX_ENDED: u32 = 3;
/// The number of shares that may fail on this machine.
const MAX_FAILURES: u32 = 3;

/// What a machine did for others.
#[derive(Default)]
pub(super) struct Helped {
    files: Outcome,
    /// Files in whose pictures it recognised text.
    recognised: u64,
}

/// How the run ended that a machine helped.
#[derive(PartialEq, Eq)]
enum End {
    /// There is no run any more, and there was none while this machine looked, or it said this.
    Over(Option<String>),
    /// What is left of it is not for this machine.
    Refused,
    /// The machine that had it is gone, or this one is to stop.
    Lost,
}

impl End {
    /// Returns whether it is that of a pass over all pictures.
    fn is_of_pictures(&self) -> bool {
        matches!(self, Self::Over(Some(said)) if said == PICTURES_READ)
    }
}

/// Works on the shares of another machine until its run ends, if there is one. Returns what this machine did; none if its own run has to follow,
/// as the other one did not come to its end over all files. Says whether text in all pictures was recognised after it, and adds
/// to the files in whose pictures this machine recognised text.
pub(super) fn help(
    options: &Options,
    progress: &Progress,
    recognised: &mut u64,
) -> Result<Option<(Summary, bool)>, Error> {
    let started = Instant::now();
    let completed = || options.meta().ok().and_then(|meta| meta.completed);
    let before = match options.engine {
        Some(_) => completed(),
        None => return Ok(None),
    };
    let mut helped = Helped::default();
    let takes_all = |_: &Work| true;
    let is_complete = || completed() != before;
    let end = until_the_end(options, progress, &mut helped, &takes_all, &is_complete)?;
    *recognised += helped.recognised;
    let is_done = end != End::Lost && completed() != before;
    if !is_done && !progress.is_cancelled() {
        return Ok(None);
    }
    let files = helped.files;
    let n_files = files.added + files.changed;
    let message = format!("another machine had the run; this one read {n_files} of its files");
    let pictures_read = end.is_of_pictures();
    let summary = Summary {
        added: files.added,
        changed: files.changed,
        documents: files.documents,
        failed: files.failures,
        bytes: files.bytes,
        seconds: started.elapsed().as_secs_f64(),
        interrupted: progress.is_cancelled(),
        committed: n_files > 0,
        messages: vec![message],
        ..Summary::default()
    };
    Ok(Some((summary, pictures_read)))
}

/// Works on the shares of another machine that recognises text in pictures, until it ends, if there is one. Returns whether
/// there is nothing left to do.
pub(super) fn with_pictures(
    options: &Options,
    progress: &Progress,
    summary: &mut Summary,
) -> Result<bool, Error> {
    let mut helped = Helped::default();
    let takes = |work: &Work| matches!(work, Work::Pictures(_));
    let end = until_the_end(options, progress, &mut helped, &takes, &|| true)?;
    summary.interrupted |= progress.is_cancelled();
    let n = helped.recognised;
    summary.recognised += n;
    if n > 0 {
        let message =
            format!("another machine had the run; this one read the pictures of {n} of its files");
        summary.messages.push(message);
    }
    if end == End::Refused {
        let message =
            "another machine has a run that this one cannot help with; the pictures are left to it";
        summary.messages.push(message.to_owned());
    }
    Ok(end == End::Refused || end.is_of_pictures())
}

/// Claims shares until there is no run. If one ended before `is_complete`, it is asked for some more times, since it
/// may be between two passes.
fn until_the_end(
    options: &Options,
    progress: &Progress,
    helped: &mut Helped,
    takes: &dyn Fn(&Work) -> bool,
    is_complete: &dyn Fn() -> bool,
) -> Result<End, Error> {
    let Some(engine) = &options.engine else {
        return Ok(End::Over(None));
    };
    let Some(mut guest) = engine.guest() else {
        return Ok(End::Lost);
    };
    let has_refused = Cell::new(false);
    let takes = |work: &str| {
        let takes = match share::read(work) {
            Ok(work) if !takes(&work) => Some(false),
            Ok(Work::Pictures(pictures)) => ocr::takes(options, &pictures),
            // What is wrong with it is said when it is claimed.
            _ => Some(true),
        };
        has_refused.set(takes == Some(false));
        takes
    };
    let (mut n_failures, mut n_ended) = (0, None);
    let mut asked = Instant::now();
    progress.waiting.store(true, Ordering::Relaxed);
    let end = loop {
        if progress.is_cancelled() {
            break End::Lost;
        }
        let claim = guest.claim(&takes)?;
        if !matches!(claim, Claim::Ended(_)) {
            n_ended = Some(0);
        }
        match claim {
            Claim::Share(of, sink) => {
                progress.waiting.store(false, Ordering::Relaxed);
                match work(options, &of, sink, progress) {
                    Ok(done) => helped.add(&done),
                    Err(error @ (Error::ReadsOtherwise | Error::KeepsRights)) => return Err(error),
                    // The lease may be lost with that of the run, which the next claim says.
                    Err(_) if n_failures < MAX_FAILURES => {
                        n_failures += 1;
                        // The error stopped the work on this share only.
                        progress.resume();
                        std::thread::sleep(ASK);
                    }
                    Err(error) => return Err(error),
                }
                progress.waiting.store(true, Ordering::Relaxed);
                progress.wait_for(None);
                asked = Instant::now();
            }
            Claim::Wait if has_refused.get() && is_complete() => break End::Refused,
            Claim::Wait => {
                if asked.elapsed() >= NAME {
                    asked = Instant::now();
                    progress.wait_for(writer(&**engine));
                }
                std::thread::sleep(ASK);
            }
            Claim::Ended(said) => match n_ended.as_mut().filter(|n| **n < MAX_ENDED) {
                Some(n) if !is_complete() => {
                    *n += 1;
                    std::thread::sleep(ASK);
                }
                // Of a run that was not seen it is the word of an earlier one.
                n => break End::Over(n.map(|_| said)),
            },
            Claim::Lost => break End::Lost,
        }
    };
    progress.waiting.store(false, Ordering::Relaxed);
    progress.wait_for(None);
    Ok(end)
}

/// Returns who has the run, for people.
fn writer(engine: &dyn Engine) -> Option<String> {
    let lines = engine.state().ok()?;
    let mut writer = lines.into_iter().filter(|(title, _)| *title == "writer");
    writer.next().map(|(_, line)| line)
}

impl Helped {
    fn add(&mut self, other: &Self) {
        let (files, of) = (&mut self.files, &other.files);
        files.added += of.added;
        files.changed += of.changed;
        files.documents += of.documents;
        files.failures += of.failures;
        files.bytes += of.bytes;
        self.recognised += other.recognised;
    }
}

/// Works on a share, and gives it back if this machine would read its files otherwise, or is to stop.
pub(super) fn work(
    options: &Options,
    work: &str,
    sink: Box<dyn Sink>,
    progress: &Progress,
) -> Result<Helped, Error> {
    let mut helped = Helped::default();
    match share::read(work) {
        Ok(Work::Files(share)) => helped.files = files(options, &share, sink, progress)?,
        Ok(Work::Pictures(pictures)) => {
            helped.recognised = ocr::work(options, &pictures, sink, progress)?;
        }
        // A newer ken offers it.
        Err(error) => {
            sink.close()?;
            return Err(error.into());
        }
    }
    Ok(helped)
}

/// Reads the files of a share.
fn files(
    options: &Options,
    share: &Share,
    sink: Box<dyn Sink>,
    progress: &Progress,
) -> Result<Outcome, Error> {
    if share.access && !options.access {
        // Nobody would find what this machine writes.
        sink.close()?;
        return Err(Error::KeepsRights);
    }
    let is_own = share.process == under_way::process();
    let options = Options {
        full: share.full,
        ..of_paths(options)
    };
    let paths: Vec<PathBuf> = share.files.iter().map(|file| file.path.0.clone()).collect();
    // What it finds in the index is newer than the claim: what another machine did with the share before.
    let prepared = match Prepared::load(&options, &[], Scope::Paths(&paths)) {
        Ok(prepared) => prepared,
        Err(error) => {
            // Another machine need not wait for it.
            let _ = sink.close();
            return Err(error);
        }
    };
    if prepared.stale.profile != share.profile || prepared.stale.generation != share.generation {
        sink.close()?;
        return Err(Error::ReadsOtherwise);
    }
    let get = |of: &AtomicU64| of.load(Ordering::Relaxed);
    let figures = || {
        let of = [
            &progress.documents,
            &progress.failures,
            &progress.bytes_done,
        ];
        of.map(get)
    };
    let before = figures();
    let slot = WriterSlot::holding(&options, sink);
    let writer = LazyWriter::new(&slot, true, true);
    let run = Run {
        given: Some(share.files.iter().map(SharedFile::change).collect()),
        guest: (!is_own).then(Guest::default),
        may_share: false,
        ..Run::new(writer, &prepared, progress, &|_| ())
    };
    run.walk_and_extract(&Catalogue::new(Vec::new()))?;
    let mut outcome = Outcome {
        process: under_way::process(),
        ..Outcome::default()
    };
    let is_stopped = progress.is_cancelled();
    if let Some(writer) = run.writer.used().filter(|_| !is_stopped) {
        writer.commit(writer.meta())?;
    }
    let left = run.guest.map(Guest::into_left).unwrap_or_default();
    if is_stopped {
        slot.close()?;
        return Ok(outcome);
    }
    outcome.count(&share.files, &left);
    let after = figures();
    outcome.documents = after[0] - before[0];
    outcome.failures = after[1] - before[1];
    outcome.bytes = after[2] - before[2];
    slot.finish(&share::text_of(&outcome)?)?;
    Ok(outcome)
}
