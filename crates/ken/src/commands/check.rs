//! `ken check`: whether the index is consistent in itself and with the disk.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use ken_core::{Change, escape_bytes};
use ken_index::layout::index_folder;
use ken_pipeline::{Options, Progress, Repaired, Report, background};
use serde_json::{Value as Json, json};

use super::interrupt::{INTERRUPTED, Stop};
use super::run_options::default_options;
use crate::cli::{CheckArgs, Global};
use crate::failure::{Failure, Kind};
use crate::output;

/// The most files of each kind that are named; JSON on request names all.
const NAMED: usize = 20;

pub(crate) fn run(global: &Global, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let options = default_options(global)?;
    if options.engine.is_some() {
        let message = "ken check is about an index in the data folder".to_owned();
        return Err(Failure::new(Kind::Usage, message)
            .hint("ken status says how the cluster is; it keeps and repairs its copies itself"));
    }
    if let Err(error @ ken_engine::Error::Damaged { .. }) =
        ken_index::read_meta(&index_folder(&options.data))
        && args.repair
    {
        let Some(run) = ken_pipeline::restart(&options, &Progress::default())? else {
            return Err(error.into());
        };
        output::warn("the list of segments was damaged; ken rebuilt the index");
        if !args.json && !args.quiet {
            let text = output::summary_text(&run, false);
            output::print(format!("repaired: {text}\n\n").as_bytes())?;
        }
    }
    let report = checked(&options, args)?;
    if report.is_sound() || !args.repair {
        return Ok(ExitCode::from(u8::from(!report.is_sound())));
    }
    let Repaired { run, merged } = repaired(&options, &report)?;
    for message in &run.messages {
        output::warn(message);
    }
    if run.interrupted {
        output::warn("stopped; ken check --repair continues from here");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if !args.json && !args.quiet {
        let text = output::summary_text(&run, false);
        output::print(format!("\nrepaired: {text}\n\n").as_bytes())?;
    }
    let report = checked(&options, args)?;
    for file in &merged {
        let file = escape_bytes(file.as_os_str().as_encoded_bytes()).into_owned();
        output::warn(&format!(
            "{file} was damaged, and another run has merged it since; ken index --full reads all files again"
        ));
    }
    Ok(ExitCode::from(u8::from(
        !report.is_sound() || !merged.is_empty(),
    )))
}

/// Repairs; Ctrl-C stops it.
fn repaired(options: &Options, report: &Report) -> Result<Repaired, Failure> {
    background::give_back_large_blocks();
    let progress = Progress::default();
    let mut shown = [false; 2];
    let show = || {
        let states = [
            (&progress.waiting, "waiting for another run to finish"),
            (
                &progress.paused,
                "indexing is paused; ken index --resume continues it",
            ),
        ];
        for ((state, message), shown) in states.iter().zip(&mut shown) {
            if state.load(Ordering::Relaxed) && !*shown {
                output::warn(message);
                *shown = true;
            }
        }
    };
    Ok(Stop::on_signals()?.watch(options, &progress, show, || {
        ken_pipeline::repair(options, report, &progress)
    })?)
}

/// Checks the index and prints the findings.
fn checked(options: &Options, args: &CheckArgs) -> Result<Report, Failure> {
    let changes = Mutex::new(Vec::new());
    let notify = |change: &Change| {
        let (what, path) = match change {
            Change::Added { path, .. } => ("new", path),
            Change::Changed { path, .. } => ("changed", path),
            Change::Access { path, .. } => ("access", path),
            Change::Moved { path, .. } => ("moved", path),
            // Only the key of the path is known; the summary counts the file.
            Change::Gone { .. } => return,
        };
        let mut changes = changes
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        changes.push((what, path.clone()));
    };
    let report = ken_pipeline::check(options, &Progress::default(), &notify)?;
    let mut changes = changes
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    changes.sort();
    for message in &report.next.messages {
        output::warn(message);
    }
    let findings = findings(options, &report, &changes);
    if args.json {
        for finding in &findings {
            output::print(&output::json_line(&finding.json()))?;
        }
        output::print(&output::json_line(&summary_json(&report)))?;
    } else {
        output::print(findings_text(&findings).as_bytes())?;
        if !args.quiet {
            output::print(summary_text(&report).as_bytes())?;
        }
    }
    Ok(report)
}

/// A fault that was found.
struct Finding {
    what: &'static str,
    path: PathBuf,
    detail: Option<String>,
    documents: u32,
}

impl Finding {
    fn json(&self) -> Json {
        json!({
            "v": output::SCHEMA,
            "event": self.what,
            "path": escape_bytes(self.path.as_os_str().as_encoded_bytes()),
            "message": self.detail,
            "documents": self.documents,
        })
    }

    fn text(&self) -> String {
        let path = escape_bytes(self.path.as_os_str().as_encoded_bytes()).into_owned();
        let mut text = format!("{} \"{}\"", self.what, output::clean(&path));
        if let Some(detail) = &self.detail {
            text.push_str(&format!(": {}", output::clean(detail)));
        }
        if self.documents > 0 {
            text.push_str(&format!(" ({} documents affected)", self.documents));
        }
        text + "\n"
    }
}

fn findings(
    options: &Options,
    report: &Report,
    changes: &[(&'static str, PathBuf)],
) -> Vec<Finding> {
    let index = index_folder(&options.data);
    let plain = |what, path: &Path| Finding {
        what,
        path: path.to_path_buf(),
        detail: None,
        documents: 0,
    };
    let damaged = report.index.damages.iter().map(|damage| Finding {
        what: "damaged",
        path: index.join(&damage.file),
        detail: Some(damage.message.clone()),
        documents: damage.documents,
    });
    let ngrams = report.ngrams.iter().map(|number| Finding {
        detail: Some("the checksum does not match, or the file is gone".to_owned()),
        ..plain(
            "damaged",
            &ken_pipeline::ngram_segment_path(&index, *number),
        )
    });
    let listings = report.listings.then(|| Finding {
        detail: Some("the checksum does not match".to_owned()),
        ..plain("damaged", &ken_walk::Listings::path(&index))
    });
    let doubled = report.duplicated.iter();
    let doubled =
        doubled.map(|(_, path)| plain("doubled", path.as_deref().unwrap_or(Path::new("?"))));
    let changes = changes.iter().map(|(what, path)| plain(what, path));
    let unexplained = report.below.unexplained.iter();
    let unexplained = unexplained.map(|path| plain("not found by the walk", path));
    damaged
        .chain(ngrams)
        .chain(listings)
        .chain(doubled)
        .chain(changes)
        .chain(unexplained)
        .collect()
}

fn findings_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for of_one in findings.chunk_by(|a, b| a.what == b.what) {
        text.extend(of_one.iter().take(NAMED).map(Finding::text));
        if of_one.len() > NAMED {
            let rest = of_one.len() - NAMED;
            text.push_str(&format!(
                "{} {rest} more; ken check --json lists all\n",
                of_one[0].what
            ));
        }
    }
    text
}

fn summary_text(report: &Report) -> String {
    let index = &report.index;
    let state = match report.n_damaged() {
        0 => "checksums OK".to_owned(),
        n => format!("{n} damaged"),
    };
    let size = output::size(i64::try_from(index.bytes).unwrap_or(i64::MAX));
    let mut text = format!("index      {} files, {size}: {state}\n", index.files);
    let Some(documents) = report.documents else {
        return text
            + "documents  not checked; ken check --repair removes the damaged parts first\n";
    };
    let doubled = match report.duplicated.len() {
        0 => "no duplicates".to_owned(),
        n => format!("{n} files are in the index twice"),
    };
    text.push_str(&format!("documents  {documents}: {doubled}"));
    if report.unfinished > 0 {
        text.push_str(&format!("; {} files are incomplete", report.unfinished));
    }
    let next = &report.next;
    text.push_str(&format!("\nfiles      {} unchanged", next.unchanged));
    let counts = [
        (next.changed.saturating_sub(next.stale), "changed"),
        (next.stale, "to read again"),
        (next.added, "new"),
        (next.moved, "moved"),
        (next.gone, "gone"),
        (next.kept, "not reachable"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {what}"));
    }
    let left_out = &report.below.left_out;
    let reasons: Vec<String> = left_out
        .iter()
        .map(|(reason, n)| format!("{n} {reason}"))
        .collect();
    let all: u64 = left_out.values().sum();
    text.push_str(&format!("\nleft out   {all}"));
    if report.below.unreadable > 0 {
        let unreadable = report.below.unreadable;
        text.push_str(&format!(", and {unreadable} folders that ken cannot read"));
    }
    if all > 0 {
        text.push_str(&format!(": {}", reasons.join(", ")));
    }
    text + "\n"
}

fn summary_json(report: &Report) -> Json {
    json!({
        "v": output::SCHEMA,
        "event": "summary",
        "sound": report.is_sound(),
        "index": {
            "files": report.index.files,
            "bytes": report.index.bytes,
            "damaged": report.n_damaged(),
        },
        "documents": report.documents,
        "doubled": report.duplicated.len(),
        "unfinished": report.unfinished,
        "files": {
            "unchanged": report.next.unchanged,
            "changed": report.next.changed,
            "added": report.next.added,
            "moved": report.next.moved,
            "gone": report.next.gone,
            "kept": report.next.kept,
            "errors": report.next.errors,
        },
        "below": report.below,
    })
}
