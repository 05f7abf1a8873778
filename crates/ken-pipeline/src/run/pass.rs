//! The passes of a run: one over all files, and in a cluster one over those that other machines left.

use std::path::PathBuf;
use std::time::Instant;

use super::{Notify, Run, Session};
use crate::prepare::{Prepared, Scope};
use crate::progress::Stage;
use crate::write::LazyWriter;
use crate::{Durability, Error, Options, Progress, RootChange, Summary};

/// What a run looks at.
#[derive(Clone, Copy)]
pub(super) struct Pass<'p> {
    pub(super) changes: &'p [RootChange],
    pub(super) scope: Scope<'p>,
    /// The pass before this one, over all files, which left those of the scope.
    pub(super) after: Option<&'p First>,
}

/// A pass over all files.
pub(super) struct First {
    pub(super) began: i64,
    pub(super) saw_all: bool,
    /// The files that other machines left; none if any may be among them.
    pub(super) left: Option<Vec<PathBuf>>,
}

/// Reads what other machines left of a run, without them.
pub(super) fn second_pass(
    session: &mut Session,
    options: &Options,
    summary: Summary,
    first: &First,
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<Summary, Error> {
    let mut alone = Options {
        shares: false,
        ..options.clone()
    };
    let Some(left) = &first.left else {
        let rest = run_in(session, &alone, &[], Scope::All, progress, notify)?;
        return Ok(summary.and(rest));
    };
    // Whatever the first pass wanted to read them for.
    alone.full = true;
    let pass = Pass {
        changes: &[],
        scope: Scope::Paths(left),
        after: Some(first),
    };
    let (rest, _) = run_pass(session, &alone, pass, progress, notify)?;
    Ok(Summary {
        unchanged: summary.unchanged,
        kept: summary.kept + rest.kept,
        errors: summary.errors + rest.errors,
        messages: [&summary.messages[..], &rest.messages].concat(),
        ..summary.and(rest)
    })
}

/// Runs in a session that may have served other runs and may serve more. After an error the session
/// must not be used again, since its writer may hold additions that must not be committed.
pub(crate) fn run_in(
    session: &mut Session,
    options: &Options,
    changes: &[RootChange],
    scope: Scope<'_>,
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<Summary, Error> {
    let pass = Pass {
        changes,
        scope,
        after: None,
    };
    Ok(run_pass(session, options, pass, progress, notify)?.0)
}

pub(super) fn run_pass(
    session: &mut Session,
    options: &Options,
    pass: Pass<'_>,
    progress: &Progress,
    notify: &Notify<'_>,
) -> Result<(Summary, First), Error> {
    let started = Instant::now();
    let loading = progress.span(Stage::Load, None);
    let Pass {
        changes,
        scope,
        after,
    } = pass;
    let named;
    let scope = match scope {
        Scope::Paths(paths) if after.is_none() => {
            named = [paths, &ken_walk::dependents(paths)].concat();
            Scope::Paths(&named)
        }
        scope => scope,
    };
    session.begin(options)?;
    let mut prepared = Prepared::load(options, changes, scope)?;
    if let Some(first) = after {
        prepared.began = first.began;
    }
    drop(loading);
    let is_synced = options.durability == Durability::Full;
    let writer = LazyWriter::new(session.slot(&prepared.options), is_synced, true);
    let run = Run {
        is_of_all: scope.is_all() || after.is_some(),
        ..Run::new(writer, &prepared, progress, notify)
    };
    let walked = run.execute()?;
    run.finish_shares()?;
    let mut summary = run.summary(&walked);
    let walk = &walked.walk;
    let saw_all = walk.unavailable.is_empty()
        && walk.incomplete.is_empty()
        && after.is_none_or(|first| first.saw_all);
    if !options.dry_run {
        summary.committed = run.commit(&summary, saw_all)?;
    }
    summary.seconds = started.elapsed().as_secs_f64();
    let first = First {
        began: prepared.began,
        saw_all: saw_all && summary.kept == 0,
        left: run.shared.into_left(),
    };
    Ok((summary, first))
}
