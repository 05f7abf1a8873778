//! Shows the progress of `ken index`: on a terminal as a display, otherwise as lines or as JSON.

use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ken_core::escape_bytes;
use ken_pipeline::{Progress, Summary, in_words};
use serde_json::json;

use super::{SCHEMA, clean, json_line, print, size, warn};

/// How often plain lines are written.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// How often JSON objects are written.
const JSON_INTERVAL: Duration = Duration::from_secs(1);

/// Shows the progress of a run.
pub(crate) enum Display {
    /// A display that is redrawn.
    Terminal(ProgressBar),
    /// Lines at intervals.
    Lines { started: Instant, next: Instant },
    /// Objects at intervals.
    Json { started: Instant, next: Instant },
    /// Nothing.
    Silent,
}

impl Display {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let started = Instant::now();
        if json {
            Self::Json {
                started,
                next: started + JSON_INTERVAL,
            }
        } else if quiet {
            Self::Silent
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is constant; a mistake in it would show as a plain display.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            Self::Terminal(bar)
        } else {
            Self::Lines {
                started,
                next: started + LINE_INTERVAL,
            }
        }
    }

    /// Shows the current figures, if it is time.
    pub(crate) fn tick(&mut self, progress: &Progress) {
        let now = Instant::now();
        match self {
            Self::Terminal(bar) => {
                bar.set_message(message(progress, bar.elapsed()));
                bar.tick();
            }
            Self::Lines { started, next } if now >= *next => {
                *next = now + LINE_INTERVAL;
                warn(&message(progress, now - *started));
            }
            Self::Json { started, next } if now >= *next => {
                *next = now + JSON_INTERVAL;
                // A closed pipe is noticed when the summary is written.
                let _ = print(&json_line(&object(progress, now - *started)));
            }
            _ => {}
        }
    }

    /// Removes the display.
    pub(crate) fn clear(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn get(counter: &std::sync::atomic::AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn message(progress: &Progress, elapsed: Duration) -> String {
    if progress.paused.load(Ordering::Relaxed) {
        return "indexing is paused; ken index --resume continues it".to_owned();
    }
    if progress.waiting.load(Ordering::Relaxed) {
        return match progress.holder() {
            Some(holder) => format!("waiting for the run of another machine, {}", clean(&holder)),
            None => "waiting for another ken index to finish".to_owned(),
        };
    }
    let done = get(&progress.files_done);
    let walked = progress.walked.load(Ordering::Relaxed);
    let mut text = if walked {
        format!("{done}/{} files", get(&progress.files_to_do))
    } else {
        format!("{done} files of {} found", get(&progress.walk.files))
    };
    text.push_str(&format!(", {} documents", get(&progress.documents)));
    let bytes = get(&progress.bytes_done);
    text.push_str(&format!(
        ", {}, {}/s",
        size(bytes as i64),
        size(rate(bytes, elapsed) as i64)
    ));
    if walked && done == get(&progress.files_to_do) {
        text.push_str(", writing the index");
    } else if let Some(left) = progress.time_left(elapsed).filter(|_| walked) {
        text.push_str(&format!(", {} left", in_words(left)));
    }
    let failures = get(&progress.failures);
    if failures > 0 {
        text.push_str(&format!(", {failures} failed"));
    }
    if let Some(path) = progress
        .current()
        .filter(|_| !walked || done < get(&progress.files_to_do))
    {
        let shown = escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned();
        text.push_str(&format!("  {}", clean(&shown)));
    }
    text
}

fn object(progress: &Progress, elapsed: Duration) -> serde_json::Value {
    json!({
        "v": SCHEMA,
        "event": "progress",
        "seconds": elapsed.as_secs_f64(),
        "waiting": progress.waiting.load(Ordering::Relaxed),
        "walked": progress.walked.load(Ordering::Relaxed),
        "files_found": get(&progress.walk.files),
        "files_to_do": get(&progress.files_to_do),
        "files_done": get(&progress.files_done),
        "bytes_to_do": get(&progress.bytes_to_do),
        "bytes_done": get(&progress.bytes_done),
        "documents": get(&progress.documents),
        "failed": get(&progress.failures),
        "seconds_left": progress.time_left(elapsed).map(|left| left.as_secs_f64()),
        "current": progress.current().map(|path| escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned()),
    })
}

fn rate(bytes: u64, elapsed: Duration) -> f64 {
    bytes as f64 / elapsed.as_secs_f64().max(0.001)
}

/// Returns the summary of a run in one or two lines.
pub(crate) fn summary_text(summary: &Summary, dry_run: bool) -> String {
    let mut text = format!(
        "{} added, {} changed, {} moved, {} gone{}, {} unchanged",
        summary.added,
        summary.changed,
        summary.moved,
        summary.gone,
        if dry_run {
            " (dry run: nothing was written)"
        } else {
            ""
        },
        summary.unchanged,
    );
    if summary.kept > 0 {
        text.push_str(&format!(", {} kept (not reachable)", summary.kept));
    }
    if summary.stale > 0 {
        text.push_str(&format!(
            "\n{} of the changed files did not change on disk: their extractor, fields or failure did",
            summary.stale
        ));
    }
    if summary.recognised > 0 {
        text.push_str(&format!(
            "\n{} with images went through OCR",
            super::counted(summary.recognised as usize, "file")
        ));
    }
    if !dry_run {
        let elapsed = Duration::from_secs_f64(summary.seconds.max(0.0));
        let rate = size(rate(summary.bytes, elapsed) as i64);
        text.push_str(&format!(
            "\n{}, {} failed; {} in {:.1} s, {rate}/s",
            super::counted(summary.documents as usize, "document"),
            summary.failed,
            size(summary.bytes as i64),
            summary.seconds,
        ));
    }
    text
}
