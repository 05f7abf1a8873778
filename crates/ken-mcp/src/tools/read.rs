//! `read`: a document, or a part of it, with numbered lines.

use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use ken_core::{Field, Kind, Location, Stamp, Value};
use ken_engine::Source;
use ken_search::service::mail::Message;
use ken_search::service::{
    Addressed, Error, Next, Numbers, Part, PartRequest, Place, Reading, Service, day, part, time,
};
use rustix::fs::{Mode, OFlags};

use super::words;
use crate::call::Call;
use crate::text::{Page, address, counted, line};
use crate::visible::{MISSING, candidates, is_visible, read};

const KNOWN: [&str; 7] = [
    "id",
    "path",
    "lines",
    "pages",
    "around",
    "offset",
    "max_chars",
];
/// The lines before a cited line, and around what is looked for.
const LINES_BEFORE: usize = 10;
const LINES_AROUND: usize = 2;
/// The stretches around matches for which an answer has room, at least.
const STRETCHES: usize = 4;
/// The characters that the last line needs.
const RESERVE: usize = 120;
/// The most attachments or members that are listed.
const MAX_MEMBERS: usize = 20;
/// The most names that are suggested.
const MAX_SIMILAR: usize = 3;

pub(super) fn run(call: &Call<'_>) -> Result<String, String> {
    let arguments = &call.arguments;
    arguments.only(&KNOWN)?;
    let wish = wish(call)?;
    let page = Page::new(arguments.max_chars()?)?;
    let paths = match (arguments.text("id")?, arguments.text("path")?) {
        (Some(id), None) => vec![PathBuf::from(id)],
        (None, Some(path)) => candidates(call.whole_scope(), call.here(), Path::new(path)),
        _ => return Err("give either id or path".to_owned()),
    };
    let has_index = call.snapshot()?.is_some();
    if has_index && let Some(document) = indexed(call, &paths)? {
        return document.show(call, page, &wish);
    }
    match arguments.text("id")? {
        Some(_) if has_index => Err("no document has this id; search again".to_owned()),
        Some(_) => Err("there is no index, so nothing has an id; give a path".to_owned()),
        None => live(call, page, &paths, &wish, has_index),
    }
}

fn wish(call: &Call<'_>) -> Result<PartRequest, String> {
    let numbers = |name: &str| -> Result<Option<Numbers>, String> {
        let given = call.arguments.text(name)?;
        let wrong = || format!("{name} must be numbers such as 10-40");
        given
            .map(|text| PartRequest::numbers(text).ok_or_else(wrong))
            .transpose()
    };
    let around = call.arguments.text("around")?;
    Ok(PartRequest {
        lines: numbers("lines")?,
        pages: numbers("pages")?,
        query: around.map(str::to_owned),
        around: around.map(|_| LINES_AROUND),
        offset: call.arguments.number("offset", 0, 1_000_000)?,
        stretch_bytes: Some(call.arguments.max_chars()? / STRETCHES),
        ..PartRequest::default()
    })
}

/// Asks for the place that an address names, unless a call asks for another part.
fn at_place(wish: &PartRequest, place: Option<Place>) -> PartRequest {
    let mut wish = wish.clone();
    if wish.lines.is_none() && wish.pages.is_none() && wish.around.is_none() {
        match place {
            Some(Place::Line(at)) => {
                wish.lines = Some(at.saturating_sub(LINES_BEFORE).max(1)..=usize::MAX);
            }
            Some(Place::Page(at)) => wish.pages = Some(at..=at),
            None => {}
        }
    }
    wish
}

/// A document of the index.
struct Document {
    found: Addressed,
    stamp: String,
}

/// Returns the first of these addresses that the index has.
fn indexed(call: &Call<'_>, paths: &[PathBuf]) -> Result<Option<Document>, String> {
    let scope = call.whole_scope();
    call.ask(scope, |service, source| {
        for path in paths {
            match service.addressed(path) {
                Ok(found) if is_visible(scope, &found.named.stored.location.path) => {
                    let stamp = stamp(source, &found.named.stored.location);
                    let stamp = stamp.map_err(|error| error.to_string())?;
                    return Ok(Some(Document { found, stamp }));
                }
                Ok(_) | Err(Error::NotIndexed(_) | Error::Io(_)) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(None)
    })
}

/// Returns the stamp with which the index has a file, and whether it is still that of the file.
fn stamp(source: &dyn Source, location: &Location) -> Result<String, ken_engine::Error> {
    let hasher = source.meta().hasher;
    let Some((_, row)) = source.files().row(hasher.key(&location.path))? else {
        return Ok(String::new());
    };
    let stamp = row.token.stamp_hash();
    Ok(match now(&location.path) {
        None => format!(" · stamp {stamp:x} · the file is gone"),
        Some(now) if row.is_of(&now, &hasher) => format!(" · stamp {stamp:x}"),
        Some(_) => format!(" · stamp {stamp:x} · the file has changed since it was indexed"),
    })
}

fn now(path: &Path) -> Option<Stamp> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let stamp = ken_walk::file_stamp(file.as_fd()).ok()??;
    Some(Stamp {
        sidecar: ken_walk::sidecar_beside(path),
        mh: ken_walk::mh_state(path),
        ..stamp
    })
}

impl Document {
    fn show(&self, call: &Call<'_>, page: Page, wish: &PartRequest) -> Result<String, String> {
        let named = &self.found.named;
        let (location, document) = (&named.stored.location, &named.stored.document);
        let mut wish = at_place(wish, self.found.place);
        let zone = &call.setup().access.context.zone;
        let date = document
            .number(Field::Date)
            .map(|date| format!(" · {}", day(date, zone)));
        let head = format!(
            "{} · {}{} · id {}{}",
            address(location, call.here()),
            line(&document.media_type),
            date.unwrap_or_default(),
            named.id,
            self.stamp,
        );
        let mut about = About {
            head,
            fields: header(document),
            ..About::default()
        };
        call.ask(call.whole_scope(), |service, source| {
            if is_beginning(&wish) {
                self.members(call, service, source, &mut about)
                    .map_err(|error| error.to_string())?;
            }
            wish.reading = reading(service, &mut wish.query);
            let cut = |wish: &PartRequest| {
                service
                    .part(&document.body, wish)
                    .map_err(|error| error.to_string())
            };
            written(page, &about, &wish, cut)
        })
    }

    /// Adds the attachments of a message, or the members of another file.
    fn members(
        &self,
        call: &Call<'_>,
        service: &Service<'_>,
        source: &dyn Source,
        about: &mut About,
    ) -> Result<(), Error> {
        // The index may have changed since the document was found.
        let Some(named) = service.document(&self.found.named.id)? else {
            return Ok(());
        };
        let location = &named.stored.location;
        let row = |name: &str, location: &Location, facts: &str| {
            let address = address(location, call.here());
            format!("{name}: {address}{facts} · id {}\n", service.id(location))
        };
        if named.stored.document.kind == Kind::Message {
            let parts = service.parts(&Message::from(named.clone()))?.items;
            about.n_members = parts.len();
            for part in parts.iter().take(MAX_MEMBERS) {
                let facts = format!(" · {} · {}", line(&part.name), line(&part.media_type));
                about
                    .members
                    .push(row("Attachment", &part.location, &facts));
            }
            return Ok(());
        }
        let members = service.members(location)?;
        about.n_members = members.len();
        for member in members.iter().take(MAX_MEMBERS) {
            let mut facts = String::new();
            if let Some(at) = source.document_at(member)? {
                let document = source.document_without_body(at)?.document;
                let title = document.text(Field::Title);
                facts = title.map_or_else(String::new, |title| format!(" · {}", line(title)));
            }
            about.members.push(row("Member", member, &facts));
        }
        // A name with quotes cannot be written in a query.
        let name = line(&location.file_name());
        if !name.contains(['"', '\\', '|', '*', '?', '[']) {
            about.others = format!(": search with path:\"{name}\" is:member");
        }
        Ok(())
    }
}

/// What stands before the text of a document.
#[derive(Default)]
struct About {
    head: String,
    fields: Vec<String>,
    /// The first attachments or members.
    members: Vec<String>,
    n_members: usize,
    /// How the members are found that are not listed.
    others: String,
}

impl About {
    /// Returns the fields and members that have room.
    fn within(&self, room: usize) -> String {
        let mut text = String::new();
        if add_rows(&mut text, &self.fields, room) < self.fields.len() {
            text.push_str("… (no room for all fields)\n");
        }
        let n_shown = add_rows(&mut text, &self.members, room);
        match self.n_members - n_shown {
            0 => {}
            n => text.push_str(&format!(
                "{}{}\n",
                counted(n, "more member", "more members"),
                self.others
            )),
        }
        text
    }
}

/// Adds the rows that have room, and returns how many these are.
fn add_rows(text: &mut String, rows: &[String], room: usize) -> usize {
    let mut n_added = 0;
    for row in rows {
        if text.chars().count() + row.chars().count() <= room {
            text.push_str(row);
            n_added += 1;
        }
    }
    n_added
}

/// Returns the fields of a document that its readers want to know.
fn header(document: &ken_core::Document) -> Vec<String> {
    let is_message = document.kind == Kind::Message;
    let fields = match is_message {
        true => &[
            ("From", Field::Author),
            ("To", Field::To),
            ("Cc", Field::Cc),
            ("Subject", Field::Title),
        ][..],
        false => &[("Title", Field::Title)],
    };
    let mut rows = Vec::new();
    for (name, field) in fields {
        let values = document
            .fields
            .iter()
            .filter_map(|(of, value)| match value {
                Value::Text(text) if of == field => Some(text.as_str()),
                _ => None,
            });
        let values: Vec<&str> = values.collect();
        if !values.is_empty() {
            rows.push(format!("{name}: {}\n", line(&values.join(", "))));
        }
    }
    let date = document.number(Field::Date).filter(|_| is_message);
    rows.extend(date.map(|date| format!("Date: {}\n", time(date))));
    rows
}

/// Returns whether a wish begins where the document does.
fn is_beginning(wish: &PartRequest) -> bool {
    let begins = |lines: &Numbers| *lines.start() == 1;
    wish.around.is_none() && wish.pages.is_none() && wish.lines.as_ref().is_none_or(begins)
}

/// Makes words of a query that is none.
fn reading(service: &Service<'_>, query: &mut Option<String>) -> Reading {
    match query {
        Some(text) if words::is_query(text, service.field_names()) => Reading::Lenient,
        Some(text) => {
            *text = words::plain(text);
            Reading::Any
        }
        None => Reading::default(),
    }
}

/// Reads a file of text that the index does not have.
fn live(
    call: &Call<'_>,
    page: Page,
    paths: &[PathBuf],
    wish: &PartRequest,
    has_index: bool,
) -> Result<String, String> {
    let scope = call.whole_scope();
    let mut why = MISSING.to_owned();
    for typed in paths {
        for (path, place) in with_line(typed) {
            match read(scope, &path) {
                Ok(text) => {
                    let about = About {
                        head: format!(
                            "{} · not in the index, read just now",
                            address(&Location::file(path), call.here())
                        ),
                        ..About::default()
                    };
                    let found = wish
                        .query
                        .as_deref()
                        .map_or_else(Vec::new, |query| matches(&text, query));
                    let wish = at_place(wish, place);
                    let cut = |wish: &PartRequest| Ok(part(&text, found.clone(), wish));
                    return written(page, &about, &wish, cut);
                }
                Err(other) if other == MISSING => {}
                Err(other) => why = other,
            }
        }
    }
    if has_index && let Some(path) = paths.first() {
        why.push_str(&similar(call, path)?);
    }
    Err(why)
}

/// Returns a path as it is, and without the number of a line behind it.
fn with_line(path: &Path) -> Vec<(PathBuf, Option<Place>)> {
    let mut all = vec![(path.to_path_buf(), None)];
    let behind = path.to_str().and_then(|text| text.rsplit_once(':'));
    if let Some((rest, number)) = behind
        && let Ok(number) = number.parse()
    {
        all.push((rest.into(), Some(Place::Line(number))));
    }
    all
}

/// Returns where the words of a query are in a text, whatever their case.
fn matches(text: &str, query: &str) -> Vec<Range<usize>> {
    // The bytes stay where they are.
    let text = text.to_ascii_lowercase();
    let query = words::plain(query).to_ascii_lowercase();
    let words = query.split(' ').filter(|word| !word.is_empty());
    let mut found: Vec<Range<usize>> = words
        .flat_map(|word| {
            text.match_indices(word)
                .map(|(at, word)| at..at + word.len())
        })
        .collect();
    found.sort_by_key(|range| range.start);
    let mut end = 0;
    found.retain(|range| {
        range.start >= end && {
            end = range.end;
            true
        }
    });
    found
}

fn similar(call: &Call<'_>, path: &Path) -> Result<String, String> {
    let scope = call.whole_scope();
    call.ask(scope, |service, _| {
        let similar = service
            .similar_to_address(path)
            .map_err(|error| error.to_string())?;
        let visible = similar
            .iter()
            .filter(|location| is_visible(scope, &location.path));
        let names: Vec<String> = visible
            .take(MAX_SIMILAR)
            .map(|location| address(location, call.here()))
            .collect();
        Ok(match names.is_empty() {
            true => String::new(),
            false => format!("; perhaps {}", names.join(" or ")),
        })
    })
}

/// Writes as much of a part as fits.
fn written<'t>(
    mut page: Page,
    about: &About,
    wish: &PartRequest,
    cut: impl Fn(&PartRequest) -> Result<Part<'t>, String>,
) -> Result<String, String> {
    let whole = cut(&PartRequest {
        max_bytes: Some(0),
        ..wish.clone()
    })?;
    if wish.around.is_none() {
        check_end(&whole, wish, &cut)?;
    }
    page.head(&format!("{} · {}.", about.head, length(&whole, wish)));
    let room = page.left().saturating_sub(RESERVE);
    let fields = about.within(room / 2);
    let mut max_bytes = room;
    loop {
        let part = cut(&PartRequest {
            max_bytes: Some(max_bytes),
            ..wish.clone()
        })?;
        let text = format!("{fields}{}", numbered(&part));
        let fenced = match text.is_empty() {
            true => String::new(),
            false => page.fenced(&text),
        };
        if max_bytes == 0 || page.add(&fenced, RESERVE) {
            return Ok(page.finish(&next(&part)));
        }
        // Numbers of lines and signs that are written out need room too.
        let n_chars = fenced.chars().count().max(1);
        max_bytes = (max_bytes * room / n_chars).min(max_bytes * 9 / 10);
    }
}

/// Fails if a wish begins beyond the end of a text.
fn check_end<'t>(
    whole: &Part<'_>,
    wish: &PartRequest,
    cut: &impl Fn(&PartRequest) -> Result<Part<'t>, String>,
) -> Result<(), String> {
    if let Some(pages) = &wish.pages
        && *pages.start() > whole.n_pages
    {
        let n_pages = counted(whole.n_pages, "page", "pages");
        let first = pages.start();
        return Err(format!(
            "there is no page {first}: the document has {n_pages}"
        ));
    }
    // What begins at the first line is never beyond the end, also where there is no text.
    let Some(first) = wish.lines.as_ref().map(|lines| *lines.start()) else {
        return Ok(());
    };
    if first == 1 {
        return Ok(());
    }
    if wish.pages.is_none() {
        let n_lines = counted(whole.n_lines, "line", "lines");
        return match first > whole.n_lines {
            true => Err(format!(
                "there is no line {first}: the document has {n_lines}"
            )),
            false => Ok(()),
        };
    }
    let has_text = cut(wish)?.stretches.iter().any(|of| !of.text.is_empty());
    match has_text {
        true => Ok(()),
        false => Err(format!("these pages have fewer than {first} lines")),
    }
}

fn length(part: &Part<'_>, wish: &PartRequest) -> String {
    let mut text = match part.n_lines {
        0 => "no text of its own".to_owned(),
        n => counted(n, "line", "lines"),
    };
    if part.n_pages > 1 {
        text.push_str(&format!(", {} pages", part.n_pages));
    }
    if wish.query.is_some() {
        text.push_str(&format!(
            ", {}",
            counted(part.n_matches, "match", "matches")
        ));
    }
    text
}

/// Returns the lines with their numbers, and where pages begin.
fn numbered(part: &Part<'_>) -> String {
    let mut text = String::new();
    for (at, stretch) in part.stretches.iter().enumerate() {
        if at > 0 {
            text.push_str("…\n");
        }
        let (mut number, mut page) = (stretch.first_line, stretch.first_page);
        let begin = |text: &mut String, page: usize| {
            if part.n_pages > 1 {
                text.push_str(&format!("--- page {page}\n"));
            }
        };
        let pages: Vec<&str> = stretch.text.split('\u{c}').collect();
        for (at, body) in pages.iter().enumerate() {
            // Behind the last page of a stretch nothing follows.
            if at > 0 {
                page += 1;
            }
            if at > 0 && body.is_empty() && at + 1 == pages.len() {
                break;
            }
            begin(&mut text, page);
            for one in body.split_inclusive('\n') {
                text.push_str(&format!(
                    "{number}\t{}\n",
                    one.trim_end_matches(['\n', '\r'])
                ));
                number += usize::from(one.ends_with('\n'));
            }
        }
        if stretch.is_cut {
            text.push_str("… (the line goes on)\n");
        }
    }
    text
}

fn next(part: &Part<'_>) -> String {
    let range = |numbers: &Numbers, last: usize| {
        format!("{}-{}", numbers.start(), (*numbers.end()).min(last))
    };
    match &part.next {
        None => String::new(),
        Some(Next::Lines(lines)) => {
            format!("Next: read with lines {}.", range(lines, part.n_lines))
        }
        Some(Next::Pages(pages)) => {
            format!("Next: read with pages {}.", range(pages, part.n_pages))
        }
        Some(Next::Around(offset)) => format!("Next: read with offset {offset}."),
    }
}
