//! One document: its text with all matches, its fields, what is in it and what it belongs to.

mod block;
mod grid;
mod text;
mod thread;

use ken_core::{Document, Field, FieldKind, Ipath, Kind, Location, Value};
use ken_engine::{DocAddress, Stored};
use ken_search::service::{Named, Titles, cause_text, title};
use ken_search::snippet::{self, Finder};
use serde::Serialize;

use self::block::Block;
use self::grid::{Cells, grids, sheets};
use self::text::{Place, Text};
use self::thread::{Thread, fold_quotes, people};
use super::coloured::{Language, colours};
use super::formatted::formatted;
use super::html;
use super::look::{Looker, marked_title};
use super::picture::{Sheet, is_drawn, of_image};
use super::state::{At, Link, State};
use super::text::{Piece, When, icon, path, person, pieces, short_folder, size, when};
use crate::answer::{Answer, Error};
use crate::{Asked, Web};

/// The most members that are listed.
const MEMBERS: usize = 200;
/// A document.
#[derive(Serialize)]
pub(super) struct Preview {
    id: String,
    title: Vec<Piece>,
    plain_title: String,
    icon: &'static str,
    kind: &'static str,
    address: String,
    name: String,
    folder: String,
    folder_href: String,
    container: Option<Link>,
    date: Option<When>,
    author: Option<String>,
    people: Vec<(&'static str, String)>,
    details: Vec<(String, String)>,
    failure: Option<String>,
    /// What the user can do about it.
    remedy: Option<String>,
    places: Vec<Place>,
    n_places: usize,
    blocks: Vec<Block>,
    /// Links to the sheets of a spreadsheet.
    sheets: Vec<Link>,
    /// How it looks as it was written, as a document for a frame.
    formatted: Option<String>,
    /// A page as a picture.
    sheet: Option<Sheet>,
    /// Whether the page comes with a request of its own, as drawing takes time.
    sheet_later: bool,
    /// The address of the picture that it is.
    image: Option<String>,
    is_source: bool,
    is_message: bool,
    is_empty: bool,
    /// Whether there is a desktop to open it.
    has_desktop: bool,
    earlier: Option<Rest>,
    later: Option<Rest>,
    members: Vec<Member>,
    n_members: usize,
    thread: Option<Thread>,
    close: String,
    alone: String,
    original: String,
    like: String,
}

/// A part of the text that is not shown.
#[derive(Serialize)]
struct Rest {
    href: String,
    bytes: u64,
}

#[derive(Serialize)]
struct Member {
    name: String,
    icon: &'static str,
    size: Option<String>,
    href: String,
}

#[derive(Serialize)]
struct Page {
    title: String,
    state: State,
    preview: Preview,
}

/// Answers with the page about one document.
pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let state = State::of(asked);
    let snapshot = web.at(asked, None)?;
    let preview = Preview::of(&Looker::new(web, asked, &*snapshot, &state), Some(true))?;
    let title = preview.plain_title.clone();
    Ok(html(
        200,
        "document.html",
        &Page {
            title,
            preview,
            state,
        },
    ))
}

impl Preview {
    /// Reads the document of the state, with a page as a picture, without one, or with the wish to ask for it later.
    pub(super) fn of(looker: &Looker<'_>, with_sheet: Option<bool>) -> Result<Self, Error> {
        let state = looker.state;
        let Named {
            at: address,
            stored,
            ..
        } = looker.document(&state.doc)?;
        let Stored {
            location, document, ..
        } = &stored;
        let context = looker.service.context();
        let (finder, titles) = finders(looker)?;
        let found = finder.ranges(&document.body, &|| false);
        let text = Text::new(&document.body, &found);
        let cells = Cells::of(document);
        let max_rows = if cells.is_some() {
            grid::ROWS
        } else {
            text::ROWS
        };
        let window = text.window(state.at, max_rows);
        // ken's text of JSON is not the file: its lines have other numbers.
        let is_as_written = document.media_type != "application/json";
        let language = Language::of(&document.media_type).filter(|_| is_as_written);
        let text = match language {
            Some(language) => {
                let shown = text.bytes(&window);
                text.coloured(colours(language, &document.body, &shown))
            }
            None => text,
        };
        let folder = location.path.parent().unwrap_or(&location.path);
        let shown_folder = path(folder, context.home.as_deref());
        let title_shown = marked_title(&titles, location, document);
        let go_to = |at: At| state.showing(&state.doc, Some(at));
        let rest = |(at, bytes): (At, u64)| Rest {
            href: go_to(at),
            bytes,
        };
        let is_message = document.kind == Kind::Message;
        let (members, n_members) = members(looker, address, &stored)?;
        let blocks = match cells {
            Some(cells) => grids(&text, window.clone(), cells),
            None if is_message => fold_quotes(text.blocks(window.clone())),
            None => text.blocks(window.clone()),
        };
        let authors = texts(document, Field::Author);
        Ok(Self {
            id: state.doc.clone(),
            plain_title: title(document).map_or_else(|| location.file_name(), str::to_owned),
            title: title_shown,
            icon: icon(document),
            kind: document.kind.name(),
            address: location.to_string(),
            name: location.file_name(),
            folder: short_folder(&shown_folder),
            folder_href: state.with(|state| super::facets::restrict(state, folder)),
            container: container(looker, location)?,
            date: document
                .number(Field::Date)
                .and_then(|date| when(date, &context.zone)),
            author: authors.first().map(|author| person(author).to_owned()),
            people: if is_message {
                people(document)
            } else {
                Vec::new()
            },
            details: details(looker, document),
            failure: document
                .failure
                .as_ref()
                .map(|failure| cause_text(&failure.cause)),
            remedy: document
                .failure
                .as_ref()
                .map(|failure| (looker.web.setup.advice.remedy)(&failure.cause, &location.path)),
            places: text.places(&|at, page| {
                let state = State {
                    at: Some(at),
                    sheet: is_drawn(document).then_some(page),
                    ..state.clone()
                };
                state.href()
            }),
            n_places: found.len(),
            formatted: formatted(looker, &stored, &|text| {
                pieces(text, &finder.ranges(text, &|| false))
            }),
            sheet_later: with_sheet.is_none() && is_drawn(document),
            sheet: match with_sheet {
                Some(true) => Sheet::of(looker, &stored, &finder, text.sheet(state)),
                _ => None,
            },
            image: of_image(document, &state.doc),
            is_source: document.kind == Kind::Source || language.is_some(),
            is_message,
            has_desktop: looker.asker().is_none() && looker.web.setup.opener.is_some(),
            is_empty: document.body.trim().is_empty(),
            sheets: match cells {
                Some(_) => sheets(looker, &text, &blocks),
                None => Vec::new(),
            },
            blocks,
            earlier: text.before(&window).map(rest),
            later: text.after(&window).map(rest),
            members,
            n_members,
            thread: match is_message {
                true => Thread::of(looker, document)?,
                false => None,
            },
            close: state.closed(),
            alone: state.document_href(),
            original: format!("api/v1/documents/{}/original", state.doc),
            like: State {
                like: state.doc.clone(),
                page: 1,
                ..State::default()
            }
            .href(),
        })
    }
}

/// Returns what finds the words of the query in a body and in titles.
fn finders(looker: &Looker<'_>) -> Result<(Finder, Titles), Error> {
    let mut request = looker.request()?;
    (request.filters, request.like) = (Vec::new(), None);
    let query = looker.service.understand_typing(&mut request)?;
    let plan = looker.source.expand(&query.plan, query.limits())?;
    let matchers = snippet::matchers(&plan, Field::Body);
    let finder = Finder::new(matchers, looker.service.context().analyze);
    Ok((finder, looker.service.titles(&query)?))
}

fn texts(document: &Document, field: Field) -> Vec<&str> {
    let values = document.fields.iter();
    let values = values.filter_map(|(of, value)| match value {
        Value::Text(text) if *of == field => Some(text.as_str()),
        _ => None,
    });
    values.collect()
}

/// Returns all fields but those that stand elsewhere.
fn details(looker: &Looker<'_>, document: &Document) -> Vec<(String, String)> {
    const ELSEWHERE: [Field; 4] = [Field::Title, Field::Has, Field::References, Field::Headings];
    let zone = &looker.service.context().zone;
    let mut rows = vec![
        ("type".to_owned(), document.kind.name().to_owned()),
        ("format".to_owned(), document.media_type.clone()),
    ];
    for (field, value) in &document.fields {
        if ELSEWHERE.contains(field) {
            continue;
        }
        let value = match (value, field.info().kind) {
            (Value::Text(text), _) => text.clone(),
            (Value::Number(number), FieldKind::Date) => match when(*number, zone) {
                Some(when) => when.full,
                None => continue,
            },
            (Value::Number(number), FieldKind::Size) => size(Some(*number)).unwrap_or_default(),
            (Value::Number(number), _) => number.to_string(),
        };
        let name = looker.service.field_names().name(*field);
        match rows.iter_mut().find(|(own, _)| own == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(&value);
            }
            None => rows.push((name.to_owned(), value)),
        }
    }
    rows
}

/// Returns the file or member that a member is in.
fn container(looker: &Looker<'_>, location: &Location) -> Result<Option<Link>, Error> {
    let depth = location.ipath.depth();
    let Some(above) = depth.checked_sub(1) else {
        return Ok(None);
    };
    let above = Location {
        path: location.path.clone(),
        ipath: Ipath::from_joined(location.ipath.prefix(above)),
    };
    let id = looker.id(&above);
    let Some(named) = looker.service.document(&id)? else {
        return Ok(None);
    };
    let name = named
        .title()
        .map_or_else(|| above.file_name(), str::to_owned);
    Ok(Some(Link::new(name, looker.state.showing(&id, None))))
}

/// Returns the documents directly inside a document, and their number.
fn members(
    looker: &Looker<'_>,
    address: DocAddress,
    stored: &Stored,
) -> Result<(Vec<Member>, usize), Error> {
    let source = looker.source;
    let own = &stored.location.ipath;
    let near = match stored.document.kind {
        Kind::Message => source.mail().siblings(address)?,
        _ => source
            .files()
            .documents_of(source.meta().hasher.key(&stored.location.path))?,
    };
    let depth = own.depth() + 1;
    let mut inside = Vec::new();
    for address in near {
        let location = source.location(address)?;
        if location.ipath.depth() == depth && location.ipath.prefix(depth - 1) == own.as_str() {
            inside.push((location, address));
        }
    }
    inside.sort_by(|(a, _), (b, _)| a.ipath.cmp(&b.ipath));
    let mut members = Vec::new();
    for (location, address) in inside.iter().take(MEMBERS) {
        let document = source.document_without_body(*address)?.document;
        let name = document.text(Field::Filename).or_else(|| title(&document));
        members.push(Member {
            name: name.unwrap_or(location.ipath.as_str()).to_owned(),
            icon: icon(&document),
            size: size(document.number(Field::Size)),
            href: looker.state.showing(&looker.id(location), None),
        });
    }
    Ok((members, inside.len()))
}
