//! What is found: the search page, and the part of it that changes with each key.

use std::time::Instant;

use ken_search::service::{Answer as Found, Error as SearchError, Matched, Request, Snippets};
use serde::Serialize;

use super::chips::{Chip, Chips, chips};
use super::facets::{self, Filters};
use super::hits::{self, HitView};
use super::home::Home;
use super::html;
use super::look::Looker;
use super::preview::Preview;
use super::state::{Link, State};
use super::table::{Table, columns};
use crate::answer::{Answer, Error, showing};
use crate::{Asked, Web};

/// The hits of a page of the list.
const LISTED: usize = 20;
/// The rows of a page of the table.
const ROWS: usize = 50;
/// The characters of a passage.
const PASSAGE: usize = 260;
/// The orders that can be chosen.
const ORDERS: [(&str, &str); 7] = [
    ("", "Relevance"),
    ("date", "Newest"),
    ("-date", "Oldest"),
    ("title", "Title"),
    ("path", "Folder"),
    ("-size", "Smallest"),
    ("size", "Largest"),
];

/// The search page.
#[derive(Serialize)]
struct Page {
    title: String,
    state: State,
    kept_pairs: Vec<(&'static str, String)>,
    results: Option<Results>,
    filters: Option<Filters>,
    home: Option<Home>,
    preview: Option<Preview>,
    /// Why there is no preview.
    gone: Option<Problem>,
    problem: Option<Problem>,
}

/// Why there are no results.
#[derive(Serialize)]
pub(super) struct Problem {
    status: u16,
    message: String,
    /// The address of the same query without anything else.
    bare: String,
    /// The address of the same hits without a preview.
    close: String,
}

impl Problem {
    pub(super) fn new(error: &Error, state: &State) -> Self {
        Self {
            status: error.status,
            message: error.message.clone(),
            bare: state.bare(),
            close: state.closed(),
        }
    }
}

/// Everything that changes with the query.
#[derive(Serialize)]
struct Results {
    #[serde(skip)]
    n_shown: usize,
    state: State,
    total: usize,
    n_hidden: usize,
    time: String,
    is_complete: bool,
    hits: Vec<HitView>,
    table: Option<Table>,
    chips: Vec<Chip>,
    left_out: Vec<String>,
    did_you_mean: Vec<Link>,
    relaxed: Option<String>,
    orders: Vec<Link>,
    list_href: String,
    table_href: String,
    more_href: String,
    copies_href: Option<String>,
    page: usize,
    n_pages: usize,
    previous: Option<String>,
    next: Option<String>,
    /// The last page, if a later one is wanted.
    last_href: Option<String>,
    n_documents: u64,
    all_href: Option<String>,
}

/// Answers a request for the search page or one of its fragments.
pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let state = State::of(asked);
    let snapshot = web.at(asked, None)?;
    let looker = Looker::new(web, asked, &*snapshot, &state);
    let fragment = asked.get("fragment");
    let mut page = Page {
        title: state.q.trim().to_owned(),
        kept_pairs: state.kept(&["q"]),
        results: None,
        filters: None,
        home: None,
        preview: None,
        gone: None,
        problem: None,
        state: state.clone(),
    };
    if fragment == Some("facets") {
        page.filters = Some(filters(&looker)?);
        return Ok(html(200, "facets.html", &page));
    }
    let of_preview = match fragment {
        Some("preview") => Some(("preview.html", None)),
        Some("sheet") => Some(("sheet.html", Some(true))),
        _ => None,
    };
    if let Some((template, with_sheet)) = of_preview {
        page.preview = Some(Preview::of(&looker, with_sheet)?);
        return Ok(html(200, template, &page));
    }
    if fragment.is_none() && !state.doc.is_empty() {
        match Preview::of(&looker, Some(true)) {
            Ok(preview) => page.preview = Some(preview),
            // A bookmark outlives a document, and its query finds the others.
            Err(error) if error.status == 404 && !state.is_blank() => {
                page.gone = Some(Problem::new(&error, &state));
            }
            Err(error) => return Err(error),
        }
    }
    if state.is_blank() {
        page.home = Some(Home::of(&looker)?);
    } else {
        // With JavaScript, the filters are asked for once the hits are shown: counting takes longer than finding.
        match results(&looker, fragment.is_none()) {
            Ok((results, filters)) => (page.results, page.filters) = (Some(results), filters),
            Err(error) => page.problem = Some(Problem::new(&error, &state)),
        }
    }
    let template = match fragment {
        Some(_) => "found.html",
        None => "search.html",
    };
    let answer = html(200, template, &page);
    Ok(match &page.results {
        Some(results) => showing(answer, results.n_shown),
        None => answer,
    })
}

/// Counts the hits of the state, without finding them.
fn filters(looker: &Looker<'_>) -> Result<Filters, Error> {
    let mut request = Request {
        limit: Some(0),
        group: None,
        facets: facets::wanted(looker),
        ..looker.request()?
    };
    let query = looker.service.understand_typing(&mut request)?;
    let found = looker.service.search(&request, query)?;
    Filters::of(looker, &request, &found)
}

fn results(looker: &Looker<'_>, with_filters: bool) -> Result<(Results, Option<Filters>), Error> {
    let (start, state) = (Instant::now(), looker.state);
    let limit = if state.table { ROWS } else { LISTED };
    let mut request = Request {
        offset: (state.page - 1).saturating_mul(limit),
        limit: Some(limit),
        fields: match state.table {
            true => columns(state).into_iter().map(str::to_owned).collect(),
            false => Vec::new(),
        },
        snippets: Snippets {
            count: 1,
            length: PASSAGE,
        },
        facets: facets::wanted(looker),
        ..looker.request()?
    };
    let query = looker.service.understand_typing(&mut request)?;
    let Chips { chips, left_out } = chips(looker, &query);
    let titles = looker.service.titles(&query)?;
    let found = looker.service.search(&request, query)?;
    let mut hits = Vec::new();
    found.each_hit(
        |hit| hit,
        |hit| {
            hits.push(hit);
            Ok::<_, SearchError>(())
        },
    )?;
    let suggestions = found.suggestions()?.into_iter().map(|of| Link {
        count: Some(of.documents as u64),
        ..Link::new(of.query.clone(), state.with(|state| state.q = of.query))
    });
    let n_groups = found.n_groups();
    let (n_pages, page) = (n_groups.div_ceil(limit), state.page);
    let at = |page: usize| {
        let turned = State {
            page,
            doc: String::new(),
            at: None,
            ..state.clone()
        };
        turned.href()
    };
    let filters = with_filters.then(|| Filters::of(looker, &request, &found));
    let addresses = found.addresses();
    let shown = addresses.iter().zip(&hits);
    let shown = shown.map(|(address, hit)| hits::view(looker, *address, hit, &titles));
    let views: Vec<HitView> = shown.collect::<Result<_, _>>()?;
    let results = Results {
        n_shown: hits.len(),
        total: found.n_documents(),
        n_hidden: found.n_documents().saturating_sub(n_groups),
        time: milliseconds(start),
        is_complete: found.is_complete() && looker.source.n_left_out() == 0,
        table: state.table.then(|| Table::of(looker, &found, &hits)),
        hits: views,
        chips,
        left_out,
        did_you_mean: suggestions.collect(),
        relaxed: relaxed(&found),
        orders: orders(state),
        list_href: state.with(|state| state.table = false),
        table_href: state.with(|state| state.table = true),
        more_href: state.with(|state| state.copies = true),
        copies_href: state
            .copies
            .then(|| state.with(|state| state.copies = false)),
        page,
        n_pages,
        previous: (page > 1).then(|| at(page - 1)),
        next: (page < n_pages).then(|| at(page + 1)),
        last_href: (page > n_pages && n_pages > 0).then(|| at(n_pages)),
        n_documents: looker.source.n_documents(),
        all_href: without_filters(state),
        state: state.clone(),
    };
    Ok((results, filters.transpose()?))
}

/// Returns the address of the same query without filters, if there are any.
fn without_filters(state: &State) -> Option<String> {
    let is_restricted = !state.filters.is_empty() || state.date_filter().is_some();
    (is_restricted && !state.q.trim().is_empty()).then(|| {
        state.with(|state| {
            state.filters.clear();
            (state.from, state.to) = Default::default();
        })
    })
}

fn milliseconds(start: Instant) -> String {
    let time = start.elapsed().as_secs_f64() * 1000.0;
    match time < 10.0 {
        true => format!("{time:.1} ms"),
        false => format!("{time:.0} ms"),
    }
}

/// Returns what is said if hits lack some of the words.
fn relaxed(found: &Found<'_>) -> Option<String> {
    let (matched, missing) = found.matched();
    let rest = match matched {
        Matched::All => return None,
        Matched::Most if !missing.is_empty() => "These have all other words.",
        Matched::Most => "These have most of them.",
        Matched::Any => "These have some of them.",
    };
    let lack = match (found.n_with_all(), missing) {
        (0, []) => "No document has all words.".to_owned(),
        (0, words) => format!("No document contains {}.", words.join(", ")),
        (1, _) => "One document has all words.".to_owned(),
        (number, _) => format!("{number} documents have all words."),
    };
    Some(format!("{lack} {rest}"))
}

fn orders(state: &State) -> Vec<Link> {
    let orders = ORDERS.iter().map(|(key, label)| Link {
        is_chosen: state.sort == *key,
        ..Link::new(*label, state.with(|state| state.sort = (*key).to_owned()))
    });
    orders.collect()
}
