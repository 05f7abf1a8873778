//! What is found: the search page, and the part of it that changes with each key.

use std::time::Instant;

use http::Method;
use ken_core::{Field, FieldKind, Kind, Value};
use ken_engine::{DocAddress, Source};
use ken_search::parse::Syntax;
use ken_search::service::{
    Answer as Found, Column, Error as SearchError, Group, Hit, Matched, Reading, Relax, Request,
    Service, Snippets, title,
};
use ken_search::snippet::{self, Finder, Settings};
use serde::Serialize;

use super::chips::{Chip, Chips, chips};
use super::facets::{self, FacetView};
use super::home::Home;
use super::preview::Preview;
use super::state::State;
use super::text::{self, Piece, When, passage, person, pieces, when};
use super::{html, templates};
use crate::answer::{Answer, Error};
use crate::{Asked, Web, documents};

/// The hits of a page of the list.
const LISTED: usize = 20;
/// The rows of a page of the table.
const ROWS: usize = 50;
/// The characters of a passage.
const PASSAGE: usize = 260;
/// The most characters of a title.
const TITLE: usize = 300;
/// The columns of the table, besides the title, if none are chosen.
const USUAL_COLUMNS: [&str; 4] = ["dir", "author", "date", "size"];
/// The columns that can be chosen.
const COLUMNS: [(&str, &str); 13] = [
    ("dir", "Folder"),
    ("author", "Author"),
    ("to", "To"),
    ("date", "Date"),
    ("modified", "Modified"),
    ("created", "Created"),
    ("size", "Size"),
    ("type", "Type"),
    ("ext", "Extension"),
    ("lang", "Language"),
    ("pages", "Pages"),
    ("keywords", "Keywords"),
    ("tag", "Tags"),
];
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
    home: Option<Home>,
    preview: Option<Preview>,
    problem: Option<Problem>,
}

/// Why there are no results.
#[derive(Serialize)]
pub(super) struct Problem {
    status: u16,
    message: String,
    /// The address of the same query without anything else.
    bare: String,
}

impl Problem {
    pub(super) fn new(error: &Error, state: &State) -> Self {
        Self {
            status: error.status,
            message: error.message.clone(),
            bare: state.bare(),
        }
    }
}

/// Everything that changes with the query.
#[derive(Serialize)]
struct Results {
    state: State,
    total: usize,
    n_hidden: usize,
    time: String,
    is_complete: bool,
    hits: Vec<HitView>,
    table: Option<Table>,
    chips: Vec<Chip>,
    left_out: Vec<String>,
    facets: Vec<FacetView>,
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
    n_documents: u64,
    all_href: Option<String>,
    dates_kept: Vec<(&'static str, String)>,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Link {
    pub(super) label: String,
    pub(super) href: String,
    pub(super) is_chosen: bool,
    pub(super) count: Option<u64>,
}

impl Link {
    pub(super) fn new(label: impl Into<String>, href: String) -> Self {
        Self {
            label: label.into(),
            href,
            is_chosen: false,
            count: None,
        }
    }
}

#[derive(Serialize)]
struct Table {
    columns: Vec<Heading>,
    rows: Vec<Vec<String>>,
    choices: Vec<Link>,
    kept: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Heading {
    name: &'static str,
    label: &'static str,
    href: String,
    /// `ascending`, `descending` or nothing.
    order: &'static str,
    is_number: bool,
}

/// A hit as the list shows it.
#[derive(Serialize)]
struct HitView {
    id: String,
    rank: usize,
    icon: &'static str,
    kind: &'static str,
    title: Vec<Piece>,
    href: String,
    is_shown: bool,
    folder: String,
    folder_path: String,
    folder_href: String,
    path: String,
    container: Option<Link>,
    date: Option<When>,
    size: Option<String>,
    /// The sender of a message, the author of a document.
    author: Option<String>,
    author_full: Option<String>,
    has_attachment: bool,
    n_thread: usize,
    tags: Vec<String>,
    is_unread: bool,
    is_flagged: bool,
    failure: Option<String>,
    passage: Vec<Piece>,
    place: Option<String>,
    more: usize,
}

/// Answers a request for the search page or one of its fragments.
pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    debug_assert!(asked.method != Method::POST);
    let state = State::of(asked);
    let snapshot = web.index.at(None)?;
    let looker = Looker {
        web,
        source: &*snapshot,
        service: web.service(asked, &*snapshot),
        state: &state,
    };
    match asked.get("fragment") {
        Some("preview") => {
            let preview = Preview::of(&looker)?;
            return Ok(html(
                200,
                "preview.html",
                &Fragment {
                    preview: Some(preview),
                    state,
                },
            ));
        }
        Some(_) if !state.is_blank() => {
            let results = looker.results()?;
            return Ok(html(200, "results.html", &ResultsOnly { results, state }));
        }
        _ => {}
    }
    let (mut results, mut problem, mut home) = (None, None, None);
    if state.is_blank() {
        home = Some(Home::of(&looker)?);
    } else {
        match looker.results() {
            Ok(found) => results = Some(found),
            Err(error) => problem = Some(Problem::new(&error, &state)),
        }
    }
    if asked.get("fragment").is_some() {
        return Ok(html(200, "home.html", &HomeOnly { home, state }));
    }
    let preview = match state.doc.is_empty() {
        true => None,
        false => Some(Preview::of(&looker)?),
    };
    let page = Page {
        title: state.q.trim().to_owned(),
        kept_pairs: state.kept(&["q"]),
        results,
        home,
        preview,
        problem,
        state: state.clone(),
    };
    Ok(html(200, "search.html", &page))
}

#[derive(Serialize)]
struct Fragment {
    preview: Option<Preview>,
    state: State,
}

#[derive(Serialize)]
struct ResultsOnly {
    results: Results,
    state: State,
}

#[derive(Serialize)]
struct HomeOnly {
    home: Option<Home>,
    state: State,
}

/// One look at the index, for one state of the page.
pub(super) struct Looker<'a> {
    pub(super) web: &'a Web,
    pub(super) source: &'a dyn Source,
    pub(super) service: Service<'a>,
    pub(super) state: &'a State,
}

impl Looker<'_> {
    /// Returns the identifier of a document.
    pub(super) fn id(&self, location: &ken_core::Location) -> String {
        documents::id(&self.source.meta().hasher, location)
    }

    /// Returns the request for the hits of a state.
    pub(super) fn request(&self) -> Result<Request, Error> {
        let state = self.state;
        let limit = if state.table { ROWS } else { LISTED };
        let (sort, reverse) = match state.sort.as_str() {
            "" => ("relevance", false),
            key => key
                .strip_prefix('-')
                .map_or((key, false), |key| (key, true)),
        };
        let like = match state.like.as_str() {
            "" => None,
            id => Some(documents::like(self.source, id)?),
        };
        Ok(Request {
            query: match state.q.trim() {
                "" => "*".to_owned(),
                _ => state.q.clone(),
            },
            syntax: Syntax::Ken,
            prefix_last: true,
            relax: Relax::Few,
            filters: state
                .filters
                .iter()
                .cloned()
                .chain(state.date_filter())
                .collect(),
            like,
            sort: sort.to_owned(),
            reverse,
            group: (!state.copies).then_some(Group::Similar),
            offset: (state.page - 1).saturating_mul(limit),
            limit: Some(limit),
            count: true,
            fields: match state.table {
                true => columns(state).into_iter().map(str::to_owned).collect(),
                false => Vec::new(),
            },
            snippets: Snippets {
                count: 1,
                length: PASSAGE,
            },
            facets: facets::wanted(self),
            suggest: true,
            deadline_ms: self.web.setup.deadline_ms,
            ..Request::default()
        })
    }

    /// Reads the query of a request. What is still being typed may have mistakes, which are left out.
    pub(super) fn understand(
        &self,
        request: &mut Request,
    ) -> Result<ken_search::service::Query, SearchError> {
        match self.service.understand(request) {
            Err(SearchError::Query(_)) if request.reading == Reading::Operators => {
                request.reading = Reading::Lenient;
                self.service.understand(request)
            }
            query => query,
        }
    }

    fn results(&self) -> Result<Results, Error> {
        let (start, state) = (Instant::now(), self.state);
        let mut request = self.request()?;
        let query = self.understand(&mut request)?;
        let limit = request.limit.unwrap_or(LISTED);
        let Chips { chips, left_out } = chips(self, &query);
        let titles = Titles::of(self, &query)?;
        let found = self.service.search(&request, query)?;
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
        let facets = facets::facets(self, &request, &found)?;
        let addresses = found.addresses();
        let shown = addresses.iter().zip(&hits);
        let shown = shown.map(|(address, hit)| self.hit(*address, hit, &titles));
        let views: Vec<HitView> = shown.collect::<Result<_, _>>()?;
        Ok(Results {
            total: found.n_documents(),
            n_hidden: found.n_documents().saturating_sub(n_groups),
            time: milliseconds(start),
            is_complete: found.is_complete() && self.source.n_left_out() == 0,
            table: state.table.then(|| self.table(&found, &hits)),
            hits: views,
            chips,
            left_out,
            facets,
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
            n_documents: self.source.n_documents(),
            all_href: self.without_filters(),
            dates_kept: state.kept(&["from", "to"]),
            state: state.clone(),
        })
    }

    /// Returns the address of the same query without filters, if there are any.
    fn without_filters(&self) -> Option<String> {
        let state = self.state;
        let is_restricted = !state.filters.is_empty() || state.date_filter().is_some();
        (is_restricted && !state.q.trim().is_empty()).then(|| {
            state.with(|state| {
                state.filters.clear();
                (state.from, state.to) = Default::default();
            })
        })
    }

    fn hit(&self, address: DocAddress, hit: &Hit, titles: &Titles) -> Result<HitView, Error> {
        let (document, location) = (&hit.document, &hit.location);
        let zone = &self.service.context().zone;
        let home = self.service.context().home.as_deref();
        let texts = |field: Field| {
            let values = document.fields.iter();
            values.filter_map(move |(of, value)| match value {
                Value::Text(text) if *of == field => Some(text.as_str()),
                _ => None,
            })
        };
        let folder_path = location.path.parent().unwrap_or(&location.path);
        let folder = text::path(folder_path, home);
        let id = self.id(location);
        let first = hit.snippets.first();
        let is_message = document.kind == Kind::Message;
        let has = |field, wanted: &str| texts(field).any(|value| value == wanted);
        let place = first.filter(|first| !first.highlights.is_empty());
        let place_text = place.and_then(|place| match (place.page, document.kind) {
            (Some(page), _) => Some(format!("page {page}")),
            (None, Kind::Source) => Some(format!("line {}", place.line)),
            _ => None,
        });
        let authors: Vec<&str> = texts(Field::Author).collect();
        let date = document.number(Field::Date);
        Ok(HitView {
            rank: hit.rank,
            icon: icon(document),
            kind: document.kind.name(),
            title: titles.of_hit(hit),
            href: self.state.showing(&id, place.map(|place| place.line)),
            is_shown: self.state.doc == id,
            folder_href: self
                .state
                .with(|state| facets::restrict(state, self, folder_path)),
            folder: text::short_folder(&folder),
            folder_path: folder,
            path: location.to_string(),
            container: self.container(address, hit)?,
            date: date.and_then(|date| when(date, zone)),
            size: size(document.number(Field::Size)),
            author: authors.first().map(|author| person(author).to_owned()),
            author_full: (!authors.is_empty()).then(|| authors.join(", ")),
            has_attachment: is_message && has(Field::Has, "attachment"),
            n_thread: match is_message {
                true => self.source.mail().threads(&[address], None)?.len(),
                false => 0,
            },
            tags: texts(Field::Tag).map(str::to_owned).collect(),
            is_unread: has(Field::Is, "unread"),
            is_flagged: has(Field::Is, "flagged"),
            failure: document
                .failure
                .as_ref()
                .map(|failure| ken_search::service::cause_text(&failure.cause)),
            passage: first.map(passage).unwrap_or_default(),
            place: place_text,
            more: hit.more.unwrap_or(0),
            id,
        })
    }

    /// Returns the message or file that a member is in.
    fn container(&self, address: DocAddress, hit: &Hit) -> Result<Option<Link>, Error> {
        if hit.location.ipath.is_root() {
            return Ok(None);
        }
        if let Some(carrier) = self.source.mail().carrier(address)?
            && carrier != address
        {
            let stored = self.source.document_without_body(carrier)?;
            let name = title(&stored.document).unwrap_or("message").to_owned();
            let id = self.id(&stored.location);
            return Ok(Some(Link::new(name, self.state.showing(&id, None))));
        }
        let file = ken_core::Location::file(hit.location.path.clone());
        let id = self.id(&file);
        Ok(Some(Link::new(
            file.file_name(),
            self.state.showing(&id, None),
        )))
    }

    fn table(&self, found: &Found<'_>, hits: &[Hit]) -> Table {
        let state = self.state;
        let names = columns(state);
        let context = self.service.context();
        let cell = |column: &Column, hit: &Hit| match column {
            Column::Field(field) if field.info().kind == FieldKind::Date => {
                let date = hit
                    .document
                    .number(*field)
                    .and_then(|date| when(date, &context.zone));
                date.map_or_else(String::new, |date| date.day)
            }
            Column::Field(Field::Size) => {
                size(hit.document.number(Field::Size)).unwrap_or_default()
            }
            _ => match column.path(hit, self.service.roots()) {
                Some(path) => text::short_folder(&text::path(path, context.home.as_deref())),
                None => column.value(hit, self.service.roots()),
            },
        };
        let row = |hit: &Hit| {
            found
                .columns()
                .iter()
                .map(|column| cell(column, hit))
                .collect()
        };
        let chosen = |name: &str| names.contains(&name);
        let choices = COLUMNS.iter().map(|(name, label)| Link {
            is_chosen: chosen(name),
            ..Link::new(*label, (*name).to_owned())
        });
        Table {
            columns: names.iter().map(|name| heading(state, name)).collect(),
            rows: hits.iter().map(row).collect(),
            choices: choices.collect(),
            kept: state.kept(&["column"]),
        }
    }
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
    let number = match found.n_with_all() {
        0 => "No document has".to_owned(),
        1 => "One document has".to_owned(),
        number => format!("{number} documents have"),
    };
    let rest = match matched {
        Matched::All => return None,
        Matched::Most => "these have most of them",
        Matched::Any => "these have some of them",
    };
    let missing = match missing {
        [] => String::new(),
        words => format!(" Nothing contains {}.", words.join(", ")),
    };
    Some(format!("{number} all words; {rest}.{missing}"))
}

fn orders(state: &State) -> Vec<Link> {
    let orders = ORDERS.iter().map(|(key, label)| Link {
        is_chosen: state.sort == *key,
        ..Link::new(*label, state.with(|state| state.sort = (*key).to_owned()))
    });
    orders.collect()
}

/// Returns the names of the columns of the table, besides the title.
fn columns(state: &State) -> Vec<&'static str> {
    let known = COLUMNS.iter().map(|(name, _)| *name);
    let chosen: Vec<_> = known
        .filter(|name| state.columns.iter().any(|chosen| chosen == name))
        .collect();
    match chosen.is_empty() {
        true => USUAL_COLUMNS.into(),
        false => chosen,
    }
}

fn heading(state: &State, name: &'static str) -> Heading {
    let label = COLUMNS.iter().find(|(own, _)| *own == name);
    let is_number = Field::from_name(name).is_some_and(Field::is_number);
    let reversed = state.sort.strip_prefix('-');
    let is_chosen = state.sort == name;
    // Numbers sort downwards, texts upwards.
    let order = match (is_chosen, reversed == Some(name)) {
        (true, _) if is_number => "descending",
        (true, _) => "ascending",
        (_, true) if is_number => "ascending",
        (_, true) => "descending",
        _ => "",
    };
    let next = if is_chosen {
        format!("-{name}")
    } else {
        name.to_owned()
    };
    Heading {
        name,
        label: label.map_or("", |(_, label)| label),
        href: state.with(|state| state.sort = next),
        order,
        is_number,
    }
}

/// Returns a size as people write it.
pub(super) fn size(bytes: Option<i64>) -> Option<String> {
    Some(templates::bytes(bytes?.try_into().ok()?))
}

/// Returns the name of the symbol of a document.
pub(super) fn icon(document: &ken_core::Document) -> &'static str {
    match (document.media_type.as_str(), document.kind) {
        ("application/pdf", _) => "pdf",
        ("text/html" | "application/xhtml+xml", _) => "web",
        (_, kind) => kind.name(),
    }
}

/// Marks the words of the query in titles.
pub(super) struct Titles {
    titles: Finder,
    names: Finder,
}

impl Titles {
    pub(super) fn of(
        looker: &Looker<'_>,
        query: &ken_search::service::Query,
    ) -> Result<Self, Error> {
        let plan = looker.source.expand(&query.plan, None)?;
        let analyze = looker.service.context().analyze;
        let finder = |field| Finder::new(snippet::matchers(&plan, field), analyze);
        Ok(Self {
            titles: finder(Field::Title),
            names: finder(Field::Filename),
        })
    }

    fn of_hit(&self, hit: &Hit) -> Vec<Piece> {
        match self.of_document(&hit.document) {
            shown if shown.is_empty() => pieces(&hit.location.file_name(), &[]),
            shown => shown,
        }
    }

    /// Returns the title of a document, else its file name.
    pub(super) fn of_document(&self, document: &ken_core::Document) -> Vec<Piece> {
        let settings = Settings {
            length: TITLE,
            count: 1,
        };
        let (finder, text) = match document.text(Field::Title) {
            Some(title) => (&self.titles, Some(title)),
            None => (&self.names, document.text(Field::Filename)),
        };
        let fragments = text.map(|text| finder.fragments(text, settings));
        let first = fragments.and_then(|fragments| fragments.into_iter().next());
        first.as_ref().map(passage).unwrap_or_default()
    }
}
