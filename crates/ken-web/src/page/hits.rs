//! Hits as the list shows them.

use ken_core::{Field, Kind, Location, MessageState, Value};
use ken_engine::DocAddress;
use ken_search::service::{Hit, Titles, cause_text, title};
use serde::Serialize;

use super::facets::restrict;
use super::look::{Looker, marked_title};
use super::picture::of_thumbnail;
use super::state::{At, Link};
use super::text::{self, Piece, When, icon, passage, person, size, when};
use crate::answer::Error;

/// A hit as the list shows it.
#[derive(Serialize)]
pub(super) struct HitView {
    id: String,
    rank: usize,
    icon: &'static str,
    thumbnail: Option<String>,
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

/// Returns a hit as the list shows it.
pub(super) fn view(
    looker: &Looker<'_>,
    address: DocAddress,
    hit: &Hit,
    titles: &Titles,
) -> Result<HitView, Error> {
    let (document, location) = (&hit.document, &hit.location);
    let zone = &looker.service.context().zone;
    let home = looker.service.context().home.as_deref();
    let texts = |field: Field| {
        let values = document.fields.iter();
        values.filter_map(move |(of, value)| match value {
            Value::Text(text) if *of == field => Some(text.as_str()),
            _ => None,
        })
    };
    let folder_path = location.path.parent().unwrap_or(&location.path);
    let folder = text::path(folder_path, home);
    let id = hit.id.clone();
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
        thumbnail: of_thumbnail(document, &id),
        kind: document.kind.name(),
        title: marked_title(titles, location, document),
        href: looker
            .state
            .showing(&id, place.map(|place| At::line(place.line))),
        is_shown: looker.state.doc == id,
        folder_href: looker.state.with(|state| restrict(state, folder_path)),
        folder: text::short_folder(&folder),
        folder_path: folder,
        path: location.to_string(),
        container: container(looker, address, hit)?,
        date: date.and_then(|date| when(date, zone)),
        size: size(document.number(Field::Size)),
        author: authors.first().map(|author| person(author).to_owned()),
        author_full: (!authors.is_empty()).then(|| authors.join(", ")),
        has_attachment: is_message && has(Field::Has, "attachment"),
        n_thread: match is_message {
            true => looker.source.mail().threads(&[address], None)?.len(),
            false => 0,
        },
        tags: texts(Field::Tag).map(str::to_owned).collect(),
        is_unread: has(Field::Is, MessageState::Unread.name()),
        is_flagged: has(Field::Is, MessageState::Flagged.name()),
        failure: document
            .failure
            .as_ref()
            .map(|failure| cause_text(&failure.cause)),
        passage: first.map(passage).unwrap_or_default(),
        place: place_text,
        more: hit.more.unwrap_or(0),
        id,
    })
}

/// Returns the message or file that a member is in.
fn container(looker: &Looker<'_>, address: DocAddress, hit: &Hit) -> Result<Option<Link>, Error> {
    if hit.location.ipath.is_root() {
        return Ok(None);
    }
    if let Some(carrier) = looker.source.mail().carrier(address)?
        && carrier != address
    {
        let stored = looker.source.document_without_body(carrier)?;
        let name = title(&stored.document).unwrap_or("message").to_owned();
        let id = looker.id(&stored.location);
        return Ok(Some(Link::new(name, looker.state.showing(&id, None))));
    }
    let file = Location::file(hit.location.path.clone());
    let id = looker.id(&file);
    Ok(Some(Link::new(
        file.file_name(),
        looker.state.showing(&id, None),
    )))
}
