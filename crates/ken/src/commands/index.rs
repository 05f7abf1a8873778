//! `ken index`: walk → extract → index.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use ken_api::Lines;
use ken_core::{Change, escape_bytes};
use ken_pipeline::background::{self, Pause};
use ken_pipeline::{Ngrams, Options, Progress, RootChange, Summary};
use serde_json::json;

use super::interrupt::{INTERRUPTED, Stop};
use super::run_options::{default_options, has_roots, memory};
use super::{default_threads, serve, walk};
use crate::choices::EngineName;
use crate::cli::{Global, IndexArgs, WalkOptions};
use crate::config::{Settings, commit_interval, data_folder, parse_size};
use crate::failure::{Failure, Kind};
use crate::output::{self, Display};

pub(crate) fn run(global: &Global, args: &IndexArgs) -> Result<ExitCode, Failure> {
    if let Some(pause) = pause(args)? {
        return set_pause(&data_folder(global)?, &pause);
    }
    if let Some(kind) = args.move_to {
        return move_to(global, args, kind);
    }
    if let Some(shards) = args.shards {
        return grow(global, args, shards);
    }
    let mut options = options(global, args)?;
    let changes = root_changes(args)?;
    if changes.is_empty() && !has_roots(&options, args.full)? {
        return Err(
            Failure::new(Kind::Usage, "the index has no roots yet".to_owned())
                .hint("name a folder: ken index ~/Documents"),
        );
    }
    if let Some(owner) = foreign_home(&options.data) {
        output::warn(&format!(
            "root will own the index in \"{}\", which its owner {owner} cannot read then; run ken index as that user",
            options.data.display()
        ));
    }
    background::give_back_large_blocks();
    let stop = Stop::on_signals()?;
    if let Some(events) = serve::hand_over(global, args, &options.data, &changes)? {
        return run_by_server(global, args, &options, &stop, events);
    }
    // Created before the run: if that fails, nothing is done.
    let trace_file = args.trace.as_ref().map(fs_err::File::create).transpose()?;
    let progress = match trace_file {
        Some(_) => Progress::traced(),
        None => Progress::default(),
    };
    if !args.fast && !std::io::stderr().is_terminal() {
        // No user waits for a run that a timer or another program started.
        background::yield_to_others();
        options.background = true;
    }
    let notify = |change: &Change| {
        if args.dry_run && !args.quiet {
            // If the pipe is closed, the run fails when the summary is written.
            let _ = output::print(&change_line(args, change));
        }
    };
    let mut display = Display::new(args.json, args.quiet);
    let summary = stop.watch(
        &options,
        &progress,
        || display.tick(&progress),
        || ken_pipeline::update(&options, &changes, &progress, &notify),
    );
    display.clear();
    if let (Some(file), Some(trace)) = (trace_file, &progress.trace) {
        trace.write(std::io::BufWriter::new(file))?;
    }
    end(global, args, &options, &summary?)
}

/// Copies the index to another engine.
fn move_to(global: &Global, args: &IndexArgs, kind: EngineName) -> Result<ExitCode, Failure> {
    let settings = Settings::load(global)?;
    if kind == settings.engine.kind {
        let message = format!(
            "the index is there already: engine.kind is \"{}\"",
            kind.name()
        );
        return Err(Failure::new(Kind::Usage, message));
    }
    let from = options(global, args)?;
    let to = Options {
        engine: settings.engine.of(kind)?.engine_of_run()?,
        ..from.clone()
    };
    let stop = Stop::on_signals()?;
    let progress = Progress::default();
    let mut display = Display::new(args.json, args.quiet);
    let summary = stop.watch(
        &from,
        &progress,
        || display.tick(&progress),
        || ken_pipeline::copy(&from, &to, &progress),
    );
    display.clear();
    let summary = summary?;
    if summary.interrupted {
        output::warn("stopped; nothing was copied");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    report(args, &summary)?;
    if !args.quiet {
        let name = kind.name();
        output::hint(&format!(
            "ken config set engine.kind {name} makes the copy the index; the other one stays"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives the index in a cluster another number of shards.
fn grow(global: &Global, args: &IndexArgs, shards: u32) -> Result<ExitCode, Failure> {
    let options = options(global, args)?;
    let stop = Stop::on_signals()?;
    let progress = Progress::default();
    let mut display = Display::new(args.json, args.quiet);
    let summary = stop.watch(
        &options,
        &progress,
        || display.tick(&progress),
        || ken_pipeline::grow(&options, shards, &progress),
    );
    display.clear();
    let summary = summary?;
    if summary.interrupted {
        output::warn("stopped; the index is as it was");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    report(args, &summary)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a run that `ken serve` does.
fn run_by_server(
    global: &Global,
    args: &IndexArgs,
    options: &Options,
    stop: &Stop,
    mut events: Lines,
) -> Result<ExitCode, Failure> {
    let progress = Progress::default();
    let mut display = Display::new(args.json, args.quiet);
    let summary = stop.watch(
        options,
        &progress,
        || display.tick(&progress),
        || serve::follow(&mut events, &progress),
    );
    display.clear();
    end(global, args, options, &summary?)
}

/// Reports a run, and returns the exit code.
fn end(
    global: &Global,
    args: &IndexArgs,
    options: &Options,
    summary: &Summary,
) -> Result<ExitCode, Failure> {
    report(args, summary)?;
    let helpers = options.extract.helpers.as_deref();
    if let Some(lack) = Settings::load(global)?.unprotected(helpers) {
        output::warn(&lack);
    }
    Ok(match () {
        () if summary.interrupted => ExitCode::from(INTERRUPTED),
        () if summary.errors > 0 => ExitCode::from(2),
        () => ExitCode::SUCCESS,
    })
}

/// Returns the number of the user to whom the folder of the index belongs, if this is root in somebody else's home, as
/// under `sudo`.
fn foreign_home(data: &Path) -> Option<u32> {
    let me = output::owner(Path::new("/proc/self"));
    let owner = data.ancestors().find_map(output::owner);
    owner.filter(|owner| me == Some(0) && *owner != 0)
}

/// The requested pause of indexing.
enum Wanted {
    Pause(Pause),
    Resume,
}

fn pause(args: &IndexArgs) -> Result<Option<Wanted>, Failure> {
    Ok(match &args.pause {
        _ if args.resume => Some(Wanted::Resume),
        None => None,
        Some(None) => Some(Wanted::Pause(Pause::Open)),
        Some(Some(length)) => {
            let until =
                parse_length(length).and_then(|length| SystemTime::now().checked_add(length));
            let until = until.ok_or_else(|| {
                let message = format!("--pause={length}: not a duration");
                Failure::new(Kind::Usage, message).hint("ken index --pause=90m, or 2h, or 1d")
            })?;
            Some(Wanted::Pause(Pause::Until(until)))
        }
    })
}

/// Reads a duration in seconds, minutes, hours or days: `30s`, `90m`, `2h`, `1d`.
fn parse_length(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    let length = number.checked_mul(seconds).filter(|length| *length > 0)?;
    Some(Duration::from_secs(length))
}

fn set_pause(data: &Path, wanted: &Wanted) -> Result<ExitCode, Failure> {
    match wanted {
        Wanted::Pause(pause) => background::pause(data, *pause)?,
        Wanted::Resume => {
            if !background::resume(data)? {
                output::warn("indexing was not paused");
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the options of a run.
pub(super) fn options(global: &Global, args: &IndexArgs) -> Result<Options, Failure> {
    let settings = Settings::load(global)?;
    let mut options = Options {
        lazy: args.lazy,
        full: args.full,
        retry_failed: args.retry_failed,
        ocr: settings.ocr(args.ocr)?,
        dry_run: args.dry_run,
        ..default_options(global)?
    };
    match args.threads {
        Some(0) => options.threads = default_threads(),
        Some(threads) => options.threads = threads,
        None => {}
    }
    let size = args.memory.as_ref().unwrap_or(&settings.memory);
    options.memory_bytes = memory(size, options.threads)?;
    let arrangement = &mut options.arrangement;
    arrangement.extract_threads = args.extract_threads;
    arrangement.segment_builders = args.segment_builders;
    if let Some(threads) = args.index_threads {
        arrangement.index_threads = threads;
    }
    if let Some(bytes) = &args.queue_bytes {
        arrangement.queue_bytes = parse_size(bytes)?;
    }
    if let Some(seconds) = args.commit_seconds {
        options.commit_interval = commit_interval(seconds)?;
    }
    if let Some(bytes) = &args.commit_bytes {
        options.commit_bytes = parse_size(bytes)? as u64;
    }
    if let Some(durability) = args.durability {
        options.durability = durability.into();
    }
    if let Some(order) = args.order {
        options.order = order.into();
    }
    if args.no_ngrams {
        options.ngrams = Ngrams::None;
    }
    Ok(options)
}

fn root_changes(args: &IndexArgs) -> Result<Vec<RootChange>, Failure> {
    if args.paths.is_empty() && args.walk != WalkOptions::default() {
        let message =
            "--hidden, --no-ignore, --follow and --one-file-system need a path".to_owned();
        return Err(Failure::new(Kind::Usage, message).hint("ken index --hidden ~/Documents"));
    }
    let mut changes = Vec::new();
    for path in &args.forget {
        // A root that is gone cannot be resolved, but its entry can be removed.
        let absolute = fs_err::canonicalize(path).or_else(|_| std::path::absolute(path))?;
        changes.push(RootChange::Forget(absolute));
    }
    for path in &args.paths {
        changes.push(RootChange::Add(walk::root(path, args.walk)?));
    }
    Ok(changes)
}

fn change_line(args: &IndexArgs, change: &Change) -> Vec<u8> {
    if args.json {
        let mut object = json!(change);
        object["v"] = json!(output::SCHEMA);
        return output::json_line(&object);
    }
    let (what, path) = match change {
        Change::Added { path, .. } => ("added", path),
        Change::Changed { path, .. } => ("changed", path),
        Change::Access { path, .. } => ("access", path),
        Change::Moved { path, .. } => ("moved", path),
        // Only the key of the path is known; the summary counts the file.
        Change::Gone { .. } => return Vec::new(),
    };
    let path = escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned();
    format!("{what} {}\n", output::clean(&path)).into_bytes()
}

fn report(args: &IndexArgs, summary: &Summary) -> Result<(), Failure> {
    for message in &summary.messages {
        output::warn(message);
    }
    if args.json {
        let mut object = json!(summary);
        object["v"] = json!(output::SCHEMA);
        object["event"] = json!("summary");
        output::print(&output::json_line(&object))?;
    } else if !args.quiet {
        let text = output::summary_text(summary, args.dry_run);
        output::print(format!("{text}\n").as_bytes())?;
        if summary.failed > 0 {
            output::warn("some files could not be read; ken status --failed lists them");
        }
    }
    if summary.interrupted {
        output::warn("stopped; the work so far is committed, and ken index continues from here");
    }
    Ok(())
}
