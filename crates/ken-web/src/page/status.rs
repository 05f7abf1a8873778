//! The status page: how fresh the index is, what failed, and what to do about it.

use std::collections::BTreeMap;
use std::time::Duration;

use ken_api::message::Figures;
use ken_core::Field;
use ken_engine::Source;
use ken_search::service::{Request, Snippets, cause_text};
use serde::Serialize;

use super::look::Looker;
use super::state::State;
use super::templates::grouped;
use super::text::{When, when};
use super::{html, text};
use crate::answer::{Answer, Error};
use crate::{Asked, Web};

/// The most failures that are listed.
const FAILURES: usize = 200;

#[derive(Serialize)]
struct Page {
    title: &'static str,
    state: State,
    n_documents: u64,
    n_files: u64,
    n_failed: usize,
    bytes: u64,
    freshness: String,
    is_served: bool,
    completed: Option<When>,
    coverage: String,
    sweep: Option<String>,
    pending: usize,
    waits: Option<String>,
    unwatched: Vec<String>,
    roots: Vec<String>,
    missing: Vec<Missing>,
    run: Option<Run>,
    types: Vec<(&'static str, u64)>,
    failures: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    name: String,
    folder: String,
    reason: String,
    cause: String,
    remedy: String,
    href: String,
}

/// A program that some files wait for.
#[derive(Serialize)]
struct Missing {
    name: String,
    install: String,
}

/// How far a run over all files is. The script says the same of later moments.
#[derive(Serialize)]
struct Run {
    text: String,
    /// The part that is done, in thousandths; none as long as it is not known how much there is.
    done: Option<u64>,
}

impl Run {
    fn of(figures: &Figures) -> Option<Self> {
        let Figures {
            walked,
            files_found,
            files_to_do,
            files_done,
            bytes_to_do,
            bytes_done,
            ..
        } = figures;
        match walked {
            false => Some(Self {
                text: format!("{} files found", grouped(*files_found)),
                done: None,
            }),
            true if *files_to_do == 0 => None,
            true => Some(Self {
                text: format!(
                    "{} of {} files read",
                    grouped(*files_done),
                    grouped(*files_to_do)
                ),
                done: Some(bytes_done.saturating_mul(1000) / (*bytes_to_do).max(1)),
            }),
        }
    }
}

/// How long a page waits for a server that is busy with changes.
const GLANCE: Duration = Duration::from_millis(30);

/// Returns how fresh the index is, in a few words.
pub(super) fn freshness(web: &Web, source: &dyn Source) -> String {
    let fresh = web.setup.server.status_within(GLANCE).ok();
    if let Some(fresh) = &fresh {
        if let Some(why) = &fresh.waits {
            return format!("changes wait: {why}");
        }
        if fresh.pending > 0 {
            return format!("{} changes on their way", fresh.pending);
        }
        if fresh
            .complete_seconds_ago
            .is_some_and(|seconds| seconds < 60.0)
        {
            return "up to date".to_owned();
        }
    }
    let zone = &web.setup.access.context.zone;
    let completed = source
        .meta()
        .completed
        .and_then(|seconds| when(seconds, zone));
    match completed {
        Some(completed) => format!("as of {}", completed.full),
        None => "being made".to_owned(),
    }
}

/// Answers with the status page.
pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    asked.only_the_owner()?;
    let state = State::of(asked);
    let snapshot = web.at(asked, None)?;
    let looker = Looker::new(web, asked, &*snapshot, &state);
    Ok(html(200, "status.html", &page(&looker)?))
}

fn page(looker: &Looker<'_>) -> Result<Page, Error> {
    let (web, source) = (looker.web, looker.source);
    let home = looker.service.context().home.as_deref();
    let statistics = source.statistics()?;
    let fresh = web.setup.server.status().ok();
    let mut types: BTreeMap<&'static str, u64> = BTreeMap::new();
    for tally in &statistics.tallies {
        *types.entry(tally.kind).or_default() += tally.documents;
    }
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let (failures, n_failed) = failures(looker)?;
    let is_served = fresh.is_some();
    let fresh = fresh.unwrap_or_default();
    let completed = source.meta().completed;
    let path = |path: &std::path::Path| text::path(path, home);
    Ok(Page {
        title: "Status",
        n_documents: source.n_documents(),
        n_files: statistics.tallies.iter().map(|tally| tally.files).sum(),
        bytes: statistics.bytes,
        freshness: freshness(web, source),
        is_served,
        completed: completed.and_then(|seconds| when(seconds, &looker.service.context().zone)),
        sweep: fresh.sweep(),
        coverage: fresh.coverage,
        pending: fresh.pending,
        waits: fresh.waits,
        run: fresh.run.as_ref().and_then(Run::of),
        unwatched: fresh.unwatched.iter().map(|of| path(&of.0)).collect(),
        roots: looker
            .service
            .roots()
            .iter()
            .map(|root| path(&root.path))
            .collect(),
        missing: source
            .meta()
            .missing
            .iter()
            .map(|name| Missing {
                install: (web.setup.advice.install)(name),
                name: name.clone(),
            })
            .collect(),
        types,
        n_failed,
        failures,
        state: looker.state.clone(),
    })
}

/// Returns documents that could not be read, and the number of all of them.
fn failures(looker: &Looker<'_>) -> Result<(Vec<Failed>, usize), Error> {
    let request = Request {
        query: "is:failed".to_owned(),
        sort: "path".to_owned(),
        limit: Some(FAILURES),
        count: true,
        fields: vec![Field::Size.name().to_owned()],
        snippets: Snippets {
            count: 0,
            length: 0,
        },
        deadline_ms: looker.web.setup.access.deadline_ms,
        ..Request::default()
    };
    let response = looker.service.ask(&request)?;
    let home = looker.service.context().home.as_deref();
    let failed = response.hits.iter().filter_map(|hit| {
        let failure = hit.document.failure.as_ref()?;
        let folder = hit.location.path.parent().unwrap_or(&hit.location.path);
        let id = hit.id.clone();
        Some(Failed {
            name: hit
                .title()
                .map_or_else(|| hit.location.file_name(), str::to_owned),
            folder: text::short_folder(&text::path(folder, home)),
            reason: failure.reason().name().to_owned(),
            cause: cause_text(&failure.cause),
            remedy: (looker.web.setup.advice.remedy)(&failure.cause, &hit.location.path),
            href: State {
                doc: id,
                page: 1,
                ..State::default()
            }
            .document_href(),
        })
    });
    Ok((failed.collect(), response.total.unwrap_or_default()))
}
