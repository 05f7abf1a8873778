//! Helps the run of another machine: reads the files of its shares with all cores of this one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ken_engine::{Claim, Engine, Sink};
use ken_walk::Catalogue;

use super::share::{Outcome, Share, SharedFile};
use super::{Run, of_paths};
use crate::guest::Guest;
use crate::prepare::{Prepared, Scope};
use crate::write::{LazyWriter, WriterSlot};
use crate::{Error, Options, Progress, Summary, under_way};

/// How often a machine without work asks for some.
const ASK: Duration = Duration::from_millis(200);
/// How often somebody is told who has the run while there is nothing to do.
const NAME: Duration = Duration::from_secs(3);
/// How often a machine asks again whether a run that ended goes on.
const MAX_ENDED: u32 = 3;
/// The number of shares that may fail on this machine.
const MAX_FAILURES: u32 = 3;

/// Works on the shares of another machine until its run ends, if there is one. Returns what this machine did; none if its own run has to follow,
/// as the other one did not come to its end over all files.
pub(super) fn help(options: &Options, progress: &Progress) -> Result<Option<Summary>, Error> {
    let Some(engine) = &options.engine else {
        return Ok(None);
    };
    let Some(mut guest) = engine.guest() else {
        return Ok(None);
    };
    let started = Instant::now();
    let completed = || options.meta().ok().and_then(|meta| meta.completed);
    let before = completed();
    let mut whole = Outcome::default();
    let (mut n_failures, mut n_ended) = (0, None);
    let mut asked = Instant::now();
    progress.waiting.store(true, Ordering::Relaxed);
    let is_over = loop {
        if progress.is_cancelled() {
            break false;
        }
        let claim = guest.claim()?;
        if !matches!(claim, Claim::Ended) {
            n_ended = Some(0);
        }
        match claim {
            Claim::Share(share, sink) => {
                progress.waiting.store(false, Ordering::Relaxed);
                match work(options, &share, sink, progress) {
                    Ok(outcome) => whole.add(&outcome),
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
            Claim::Wait => {
                if asked.elapsed() >= NAME {
                    asked = Instant::now();
                    progress.wait_for(writer(&**engine));
                }
                std::thread::sleep(ASK);
            }
            Claim::Ended => match n_ended.as_mut().filter(|n| **n < MAX_ENDED) {
                // It may be between its two passes.
                Some(n) if completed() == before => {
                    *n += 1;
                    std::thread::sleep(ASK);
                }
                _ => break true,
            },
            Claim::Lost => break false,
        }
    };
    progress.waiting.store(false, Ordering::Relaxed);
    progress.wait_for(None);
    let n_files = whole.added + whole.changed;
    let is_done = is_over && completed() != before;
    if !is_done && !progress.is_cancelled() {
        return Ok(None);
    }
    let message = format!("another machine has the run; this one read {n_files} of its files");
    Ok(Some(Summary {
        added: whole.added,
        changed: whole.changed,
        documents: whole.documents,
        failed: whole.failures,
        bytes: whole.bytes,
        seconds: started.elapsed().as_secs_f64(),
        interrupted: progress.is_cancelled(),
        committed: n_files > 0,
        messages: vec![message],
        ..Summary::default()
    }))
}

/// Returns who has the run, for people.
fn writer(engine: &dyn Engine) -> Option<String> {
    let lines = engine.state().ok()?;
    let mut writer = lines.into_iter().filter(|(title, _)| *title == "writer");
    writer.next().map(|(_, line)| line)
}

impl Outcome {
    fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.changed += other.changed;
        self.documents += other.documents;
        self.failures += other.failures;
        self.bytes += other.bytes;
    }
}

/// Works on a share, and gives it back if this machine would read its files otherwise, or is to stop.
pub(super) fn work(
    options: &Options,
    share: &str,
    sink: Box<dyn Sink>,
    progress: &Progress,
) -> Result<Outcome, Error> {
    let share: Share = match serde_json::from_str(share) {
        Ok(share) => share,
        // A newer ken offers it.
        Err(error) => {
            sink.close()?;
            return Err(ken_engine::Error::Query(format!("a share: {error}")).into());
        }
    };
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
    let text = serde_json::to_string(&outcome);
    slot.finish(&text.unwrap_or_default())?;
    Ok(outcome)
}
