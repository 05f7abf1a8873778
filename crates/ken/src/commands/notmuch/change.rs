//! Commands that write: new, insert, tag, restore, reindex, compact.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Component, Path};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use ken_pipeline::update;
use ken_server::notmuch::{
    Database, DumpFormat, Exclude, Ignore, InsertRequest, Inserted, NewRequest, NewSummary, Policy,
    Query, TagOperation, read_line, read_operations,
};

use super::ask::{INCLUDE, include, input};
use super::gnupg;
use super::options::{OptionRow, Takes, Typed};
use super::places::Places;
use super::{Outcome, Refusal, Session, warn};
use crate::commands::interrupt::Stop;
use crate::output;

/// The most bytes of a message that is inserted.
const MAX_MESSAGE_BYTES: u64 = 512 << 20;
const DECRYPT: Takes = Takes::Word(&["false", "true", "auto", "nostash"]);

fn syncs_flags(places: &Places) -> bool {
    places.get("maildir.synchronize_flags") != "false"
}

/// Returns the database, which indexes encrypted messages as an option or the settings say.
fn opening(session: &Session<'_>, typed: &Typed) -> Result<Database, Refusal> {
    let wanted = typed.value("decrypt");
    let wanted = wanted.unwrap_or_else(|| session.places.get("index.decrypt"));
    let policy = Policy::read(wanted);
    Ok(session.database()?.opening(policy, gnupg::decrypt))
}

/// Returns the tags of new messages.
fn new_tags(places: &Places) -> Result<Vec<String>, Refusal> {
    let tags = places.list("new.tags");
    match tags.iter().find(|tag| tag.starts_with('-')) {
        Some(tag) => Err(Refusal::Said(format!(
            "Error: tag '{tag}' in new.tags: tag starting with '-' forbidden"
        ))),
        None => Ok(tags),
    }
}

/// Runs a hook, if there is one.
fn hook(places: &Places, name: &str) -> Result<(), Refusal> {
    let path = places.hooks().join(name);
    let Ok(metadata) = fs_err::metadata(&path) else {
        return Ok(());
    };
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Refusal::Said(format!(
            "Error: {name} hook access failed: Permission denied"
        )));
    }
    let mut command = Command::new(&path);
    command.stdin(Stdio::null());
    if let Some(file) = &places.file {
        command.env("NOTMUCH_CONFIG", std::path::absolute(file)?);
    }
    command.env("NOTMUCH_DATABASE", &places.database);
    let status = command.status().map_err(|error| {
        let cause = ken_search::service::system_words(&error);
        Refusal::Said(format!("Error: {name} hook execution failed: {cause}"))
    })?;
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Refusal::Said(format!(
            "Error: {name} hook failed with status {code}"
        ))),
        (None, signal) => Err(Refusal::Said(format!(
            "Error: {name} hook terminated with signal {}",
            signal.unwrap_or(0)
        ))),
    }
}

pub(super) fn new(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("quiet", Takes::Switch),
        ("verbose", Takes::Switch),
        ("debug", Takes::Switch),
        ("full-scan", Takes::Switch),
        ("hooks", Takes::Switch),
        ("decrypt", DECRYPT),
    ];
    let typed = session.read("new", &[OPTIONS], arguments)?;
    let places = session.places;
    let is_quiet = typed.is_on("quiet", false);
    let request = NewRequest {
        tags: new_tags(places)?,
        syncs_flags: syncs_flags(places),
        ignore: Ignore::read(&places.list("new.ignore")).map_err(Refusal::Said)?,
    };
    if typed.is_on("hooks", true) {
        hook(places, "pre-new")?;
    }
    let began = Instant::now();
    let database = opening(session, &typed)?;
    let stop = Stop::on_signals()?;
    let summary = database.new_messages(&request, &|options, progress, note| {
        let run = || update(options, &[database.root_change()], progress, note);
        Ok(stop.watch(options, progress, || (), run)?)
    })?;
    for path in &summary.not_mail {
        warn(&format!("Note: Ignoring non-mail file: {}", path.display()))?;
    }
    if typed.is_on("debug", false) {
        let lines = summary.ignored.iter().flat_map(|path| {
            let line = |pass| {
                format!(
                    "(D) add_files, pass {pass}: explicitly ignoring {}\n",
                    path.display()
                )
            };
            [line(1), line(2)]
        });
        output::print(lines.collect::<String>().as_bytes())?;
    }
    if !is_quiet {
        let is_verbose = typed.is_on("verbose", false);
        let text = report(&summary, began, is_verbose);
        output::print(text.as_bytes())?;
    }
    if typed.is_on("hooks", true) && !summary.interrupted {
        hook(places, "post-new")?;
    }
    Ok(ExitCode::from(u8::from(summary.interrupted)))
}

/// Returns what `notmuch new` says about its work.
fn report(summary: &NewSummary, began: Instant, is_verbose: bool) -> String {
    let many = |number: usize, one: &str, more: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {more}"),
    };
    let mut text = String::new();
    let n_files = summary.processed.len();
    if is_verbose {
        for (number, path) in (1..).zip(&summary.processed) {
            text.push_str(&format!("{number}/{n_files}: {}\n", path.display()));
        }
    }
    if n_files > 0 {
        let files = many(n_files, "file", "total files");
        let time = ken_server::notmuch::duration(began.elapsed());
        text.push_str(&format!("Processed {files} in {time}.\n"));
    }
    match summary.added {
        0 => text.push_str("No new mail."),
        added => {
            let messages = many(added, "new message", "new messages");
            text.push_str(&format!("Added {messages} to the database."));
        }
    }
    if summary.removed > 0 {
        let messages = many(summary.removed, "message", "messages");
        text.push_str(&format!(" Removed {messages}."));
    }
    if summary.renamed > 0 {
        let renames = many(summary.renamed, "file rename", "file renames");
        text.push_str(&format!(" Detected {renames}."));
    }
    text.push('\n');
    text
}

pub(super) fn insert(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("folder", Takes::Text),
        ("create-folder", Takes::Switch),
        ("keep", Takes::Switch),
        ("hooks", Takes::Switch),
        ("world-readable", Takes::Switch),
        ("decrypt", DECRYPT),
    ];
    let typed = session.read("insert", &[OPTIONS], arguments)?;
    let places = session.places;
    let (operations, n_words) = operations(&typed.words)?;
    if n_words < typed.words.len() {
        let rest = typed.words[n_words..].join(" ");
        return Err(Refusal::Said(format!(
            "Error: unexpected query string: {rest}"
        )));
    }
    let folder = typed.value("folder").unwrap_or_default();
    let is_below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(folder).components().all(is_below) {
        return Err(Refusal::Said(format!(
            "Error: invalid folder name: '{folder}'"
        )));
    }
    let request = InsertRequest {
        folder: folder.trim_end_matches('/').into(),
        creates: typed.is_on("create-folder", false),
        keeps: typed.is_on("keep", false),
        world_readable: typed.is_on("world-readable", false),
        tags: new_tags(places)?,
        operations,
        syncs_flags: syncs_flags(places),
    };
    let mut text = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin.take(MAX_MESSAGE_BYTES).read_to_end(&mut text)?;
    if let Inserted::Kept(path, error) = opening(session, &typed)?.insert(&request, &text)? {
        warn(&format!(
            "Warning: {} is not indexed: {error}",
            path.display()
        ))?;
    }
    if typed.is_on("hooks", true)
        && let Err(Refusal::Said(message)) = hook(places, "post-insert")
    {
        // The message is delivered whatever the hook does.
        warn(&message)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the words before a query.
fn operations(words: &[String]) -> Result<(Vec<TagOperation>, usize), Refusal> {
    read_operations(words).map_err(|wrong| Refusal::Said(format!("Error: {wrong}")))
}

pub(super) fn tag(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("batch", Takes::Switch),
        ("input", Takes::Text),
        ("remove-all", Takes::Switch),
    ];
    let typed = session.read("tag", &[OPTIONS], arguments)?;
    let is_batch = typed.is_on("batch", false) || typed.value("input").is_some();
    let removes_all = typed.is_on("remove-all", false);
    let mut wrong = Vec::new();
    let mut lines = Vec::new();
    if is_batch {
        if !typed.words.is_empty() {
            return Err(Refusal::said("Can't specify both cmdline and stdin!"));
        }
        for line in input(&typed)?.lines() {
            match read_line(line, false) {
                Ok(read) => lines.extend(read),
                Err(what) => wrong.push(format!("Warning: {what} [{line}]")),
            }
        }
    } else {
        let (operations, n_words) = operations(&typed.words)?;
        if operations.is_empty() && !removes_all {
            return Err(Refusal::said(
                "Error: 'notmuch tag' requires at least one tag to add or remove.",
            ));
        }
        let query = typed.words[n_words..].join(" ");
        if query.is_empty() {
            return Err(Refusal::said(
                "Error: notmuch tag requires at least one search term.",
            ));
        }
        lines.push((operations, query));
    }
    // A file that is renamed may be read again.
    let database = opening(session, &typed)?;
    session.check_uuid(&database, &typed)?;
    wrong.iter().try_for_each(|line| warn(line))?;
    for (operations, text) in lines {
        let query = Query {
            text,
            is_sexp: session.is_sexp(&typed),
            exclude: Exclude::False,
            ..Query::default()
        };
        database.tag(
            &query,
            &operations,
            removes_all,
            syncs_flags(session.places),
        )?;
    }
    Ok(ExitCode::from(u8::from(!wrong.is_empty())))
}

pub(super) fn restore(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[
        ("format", Takes::Word(&["auto", "batch-tag", "sup"])),
        INCLUDE,
        ("input", Takes::Text),
        ("accumulate", Takes::Switch),
    ];
    let typed = session.read("restore", &[OPTIONS], arguments)?;
    if !typed.words.is_empty() {
        let words = typed.query();
        return Err(Refusal::Said(format!(
            "Unused positional parameter: {words}"
        )));
    }
    let format = match typed.value("format") {
        Some("batch-tag") => Some(DumpFormat::BatchTag),
        Some("sup") => Some(DumpFormat::Sup),
        _ => None,
    };
    let text = input(&typed)?;
    // A file that is renamed may be read again.
    let database = opening(session, &typed)?;
    session.check_uuid(&database, &typed)?;
    let wrong = database.restore(
        &text,
        format,
        include(&typed),
        typed.is_on("accumulate", false),
        syncs_flags(session.places),
    )?;
    wrong.iter().try_for_each(|line| warn(line))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn reindex(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[("decrypt", DECRYPT)];
    let typed = session.read("reindex", &[OPTIONS], arguments)?;
    let text = typed.query();
    if text.is_empty() {
        return Err(Refusal::said(
            "Error: notmuch reindex requires at least one search term.",
        ));
    }
    let database = opening(session, &typed)?;
    session.check_uuid(&database, &typed)?;
    let query = Query {
        text,
        is_sexp: session.is_sexp(&typed),
        exclude: Exclude::False,
        ..Query::default()
    };
    database.reindex(&query)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn compact(session: &Session<'_>, arguments: &[String]) -> Outcome {
    const OPTIONS: &[OptionRow] = &[("backup", Takes::Text), ("quiet", Takes::Switch)];
    let typed = session.read("compact", &[OPTIONS], arguments)?;
    if typed.value("backup").is_some() {
        return Err(Refusal::said(
            "Error: ken keeps no copy of an index; notmuch dump writes the tags",
        ));
    }
    // The index is compacted when it is written.
    session.database()?.source()?;
    Ok(ExitCode::SUCCESS)
}
