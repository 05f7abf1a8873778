//! The progress of a run, as it goes from `ken serve` to a client.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ken_api::message::Figures;
use ken_core::BytesPath;
use ken_pipeline::Progress;

/// Returns the figures of a run.
pub(super) fn of(progress: &Progress) -> Figures {
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    Figures {
        waiting: is(&progress.waiting),
        walked: is(&progress.walked),
        paused: is(&progress.paused),
        files_found: get(&progress.walk.files),
        files_to_do: get(&progress.files_to_do),
        bytes_to_do: get(&progress.bytes_to_do),
        files_done: get(&progress.files_done),
        bytes_done: get(&progress.bytes_done),
        documents: get(&progress.documents),
        failures: get(&progress.failures),
        current: progress.current().map(BytesPath),
    }
}

/// Sets the figures of a run that another process does.
pub(super) fn show(figures: Figures, progress: &Progress) {
    let set = |counter: &AtomicU64, to| counter.store(to, Ordering::Relaxed);
    let be = |flag: &AtomicBool, to| flag.store(to, Ordering::Relaxed);
    be(&progress.waiting, figures.waiting);
    be(&progress.walked, figures.walked);
    be(&progress.paused, figures.paused);
    set(&progress.walk.files, figures.files_found);
    set(&progress.files_to_do, figures.files_to_do);
    set(&progress.bytes_to_do, figures.bytes_to_do);
    set(&progress.files_done, figures.files_done);
    set(&progress.bytes_done, figures.bytes_done);
    set(&progress.documents, figures.documents);
    set(&progress.failures, figures.failures);
    if let Some(BytesPath(path)) = figures.current {
        progress.set_current(&path);
    }
}
