//! What the commands of ken ask of `ken serve`, if it runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ken_api::message::{Event, Fresh, IndexWish};
use ken_api::{Client, Error, Lines};
use ken_core::{BytesPath, Root};
use ken_pipeline::{Options, Progress, RootChange, Summary, update_files};

use super::figures;
use super::lock::served;
use crate::cli::{Global, IndexArgs};
use crate::commands::run_options::{default_options, has_roots};
use crate::failure::{Failure, Kind};
use crate::output;

/// How long a search waits for changes.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a run that the server does looks whether it is to stop.
const TICK: Duration = Duration::from_millis(100);

/// Returns a client of the server that keeps an index fresh, if there is one.
pub(in crate::commands) fn client(data: &Path) -> Option<Client> {
    let socket = served(data)?.socket?;
    Some(Client::new(&socket.0))
}

/// Brings files, and tags that changed, into the index after applying `changes` to its roots: by the server, or in this
/// process if none runs.
pub(in crate::commands) fn bring_in(
    global: &Global,
    options: &Options,
    changes: &[RootChange],
    files: &[PathBuf],
) -> Result<(), Failure> {
    if !does_server(global, options, changes, files)? {
        update_files(options, changes, files, &Progress::default(), &|_| ())?;
    }
    Ok(())
}

/// Brings tags that changed into the index, as [`bring_in`] does. If another machine writes the index, they wait for the
/// next run: the log has them.
pub(in crate::commands) fn bring_in_tags(
    global: &Global,
    options: &Options,
) -> Result<(), Failure> {
    if does_server(global, options, &[], &[])? {
        return Ok(());
    }
    match update_files(options, &[], &[], &Progress::default(), &|_| ()) {
        Err(ken_pipeline::Error::Index(error @ ken_engine::Error::Busy(_)))
            if options.engine.is_some() =>
        {
            output::warn(&format!(
                "{error}; the tags are kept, and the next run brings them into the index"
            ));
        }
        outcome => _ = outcome?,
    }
    Ok(())
}

/// Has the server bring files and tags in; returns false if none runs that can.
fn does_server(
    global: &Global,
    options: &Options,
    changes: &[RootChange],
    files: &[PathBuf],
) -> Result<bool, Failure> {
    if has_settings(global) || !are_made(options, changes) {
        return Ok(false);
    }
    let fresh = Fresh {
        seconds: PATIENCE.as_secs_f64(),
        tags: true,
        paths: files.iter().cloned().map(BytesPath).collect(),
    };
    match is_made_fresh(&options.data, &fresh) {
        // The server waits during a pause, which single files do not.
        Err(Error::Refused { status: 409, .. }) => Ok(false),
        is_made => is_made.map_err(|error| failure(&error)),
    }
}

/// Returns whether the roots of an index need no changes.
fn are_made(options: &Options, changes: &[RootChange]) -> bool {
    if changes.is_empty() {
        return true;
    }
    let Ok(meta) = options.meta() else {
        return false;
    };
    changes.iter().all(|change| match change {
        // Whether it is a mount point is found out by each run.
        RootChange::Add(root) => meta.roots.iter().any(|known| {
            let mounted = known.mounted;
            *known
                == Root {
                    mounted,
                    ..root.clone()
                }
        }),
        RootChange::Forget(_) => false,
    })
}

/// Returns whether a command has settings of its own, which the server does not have.
fn has_settings(global: &Global) -> bool {
    global.config.is_some() || !global.set.is_empty()
}

/// Has the server make the index fresh; returns false if none runs.
fn is_made_fresh(data: &Path, fresh: &Fresh) -> Result<bool, Error> {
    match client(data).map(|client| client.fresh(fresh)) {
        Some(Ok(_)) => Ok(true),
        Some(Err(error @ Error::Refused { .. })) => Err(error),
        // One that just ended is like none.
        Some(Err(_)) | None => Ok(false),
    }
}

/// Waits until everything that was changed before this call is in the index.
pub(in crate::commands) fn make_fresh(global: &Global) -> Result<(), Failure> {
    let options = default_options(global)?;
    if !has_roots(&options, false)? {
        // The search says what to do.
        return Ok(());
    }
    let fresh = Fresh {
        seconds: PATIENCE.as_secs_f64(),
        ..Fresh::default()
    };
    if is_made_fresh(&options.data, &fresh).map_err(|error| failure(&error))? {
        return Ok(());
    }
    let summary = ken_pipeline::update(&options, &[], &Progress::default(), &|_| ())?;
    summary
        .messages
        .iter()
        .for_each(|message| crate::output::warn(message));
    Ok(())
}

/// Returns the server's events of a run with these arguments; none if no server runs, or it would do the run otherwise.
pub(in crate::commands) fn hand_over(
    global: &Global,
    args: &IndexArgs,
    data: &Path,
    changes: &[RootChange],
) -> Result<Option<Lines>, Failure> {
    let passed_on = IndexArgs {
        paths: args.paths.clone(),
        walk: args.walk,
        forget: args.forget.clone(),
        full: args.full,
        lazy: args.lazy,
        retry_failed: args.retry_failed,
        fast: args.fast,
        json: args.json,
        quiet: args.quiet,
        ..IndexArgs::default()
    };
    if passed_on != *args || has_settings(global) {
        return Ok(None);
    }
    let Some(client) = client(data) else {
        return Ok(None);
    };
    let mut wish = IndexWish {
        full: args.full,
        lazy: args.lazy,
        retry_failed: args.retry_failed,
        ..IndexWish::default()
    };
    for change in changes {
        match change {
            RootChange::Add(root) => wish.add.push(root.clone()),
            RootChange::Forget(path) => wish.forget.push(BytesPath(path.clone())),
        }
    }
    match client.index(&wish) {
        Ok(events) => Ok(Some(events)),
        Err(error @ Error::Refused { .. }) => Err(failure(&error)),
        Err(_) => Ok(None),
    }
}

/// Follows a run that the server does, until it ends or the progress is cancelled.
pub(in crate::commands) fn follow(
    events: &mut Lines,
    progress: &Progress,
) -> Result<Summary, Failure> {
    events.wait_at_most(Some(TICK))?;
    loop {
        if progress.is_cancelled() {
            // The server stops the run when the events are dropped.
            return Ok(Summary {
                interrupted: true,
                ..Summary::default()
            });
        }
        match events.next_event() {
            Ok(Some(Event::Progress(now))) => figures::show(now, progress),
            Ok(Some(Event::Summary { summary, messages })) => {
                let summary = serde_json::from_value(summary).map_err(std::io::Error::from)?;
                return Ok(Summary {
                    messages,
                    ..summary
                });
            }
            Ok(Some(Event::Failed { message })) => return Err(Failure::new(Kind::Index, message)),
            Err(Error::Silent(error)) if is_timeout(&error) => {}
            Err(error) => return Err(failure(&error)),
            Ok(None) => {
                let message = "ken serve ended before the run did".to_owned();
                return Err(Failure::new(Kind::Index, message)
                    .hint("finished work is saved; run ken index to continue"));
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

fn failure(error: &Error) -> Failure {
    let hint = match error {
        Error::Refused { .. } => "ken status shows what is pending",
        Error::Silent(_) | Error::Foreign(_) => "start ken serve again",
    };
    Failure::new(Kind::Index, error.to_string()).hint(hint)
}
