//! One document: its text with all matches, its fields, what is in it and what it belongs to.

use std::ops::Range;

use ken_core::{Document, Field, FieldKind, Ipath, Kind, Location, TEXT_SEPARATOR, Value};
use ken_engine::{DocAddress, Stored};
use ken_search::parse::{Clause, Tree, Value as Wanted};
use ken_search::service::mail::{MessageRequest, Which};
use ken_search::service::{Error as SearchError, Named, cause_text, title};
use ken_search::snippet::{self, Finder};
use serde::Serialize;

use super::formatted::formatted;
use super::html;
use super::look::{Looker, Titles};
use super::picture::{Sheet, is_drawn, of_image};
use super::state::{Link, State};
use super::text::{self, Piece, When, icon, person, pieces, size, when};
use crate::answer::{Answer, Error};
use crate::{Asked, Web};

/// The most lines that are shown at once.
const LINES: usize = 2000;
/// The most bytes that are shown at once.
const BYTES: usize = 300_000;
/// The lines that are shown before the wanted one, where a part of a text is shown.
const BEFORE: usize = 20;
/// The most places that are listed.
const PLACES: usize = 300;
/// The characters of a place.
const PLACE: usize = 110;
/// The most members that are listed.
const MEMBERS: usize = 200;
/// The most messages of a thread that are listed.
const MESSAGES: usize = 100;
/// The least quoted lines that are folded.
const QUOTED: usize = 4;

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
    places: Vec<Place>,
    n_places: usize,
    blocks: Vec<Block>,
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
    earlier: Option<String>,
    later: Option<String>,
    members: Vec<Member>,
    n_members: usize,
    thread: Vec<MessageRow>,
    n_thread: usize,
    close: String,
    alone: String,
    original: String,
    like: String,
}

/// A line that the query found.
#[derive(Serialize)]
struct Place {
    label: String,
    line: usize,
    text: Vec<Piece>,
    href: String,
}

/// A part of the text: a line, the beginning of a page, or quoted lines.
#[derive(Serialize)]
struct Block {
    kind: &'static str,
    n: usize,
    text: Vec<Piece>,
    lines: Vec<Self>,
    is_open: bool,
}

impl Block {
    fn line(n: usize, text: Vec<Piece>) -> Self {
        Self {
            kind: "line",
            n,
            text,
            lines: Vec::new(),
            is_open: false,
        }
    }

    fn has_mark(&self) -> bool {
        self.text.iter().any(|piece| piece.mark)
    }

    fn is_quoted(&self) -> bool {
        self.kind == "line"
            && self
                .text
                .first()
                .is_some_and(|first| first.text.starts_with('>'))
    }
}

#[derive(Serialize)]
struct Member {
    name: String,
    icon: &'static str,
    size: Option<String>,
    href: String,
}

#[derive(Serialize)]
struct MessageRow {
    author: String,
    date: Option<When>,
    href: String,
    level: usize,
    is_shown: bool,
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
    let snapshot = web.index.at(None)?;
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
        let window = text.window(state.at);
        let folder = location.path.parent().unwrap_or(&location.path);
        let shown_folder = text::path(folder, context.home.as_deref());
        let title_shown = titles.of_document(location, document);
        let go_to = |line: usize| state.showing(&state.doc, Some(line));
        let is_message = document.kind == Kind::Message;
        let (members, n_members) = members(looker, address, &stored)?;
        let thread = if is_message {
            thread(looker, document)?
        } else {
            Vec::new()
        };
        let blocks = text.blocks(window.clone());
        let authors = texts(document, Field::Author);
        Ok(Self {
            id: state.doc.clone(),
            plain_title: title(document).map_or_else(|| location.file_name(), str::to_owned),
            title: title_shown,
            icon: icon(document),
            kind: document.kind.name(),
            address: location.to_string(),
            name: location.file_name(),
            folder: text::short_folder(&shown_folder),
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
            places: text.places(&go_to),
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
            is_source: document.kind == Kind::Source,
            is_message,
            has_desktop: looker.web.setup.opener.is_some(),
            is_empty: document.body.trim().is_empty(),
            blocks: if is_message {
                fold_quotes(blocks)
            } else {
                blocks
            },
            earlier: (window.start > 0)
                .then(|| go_to((window.start + 1).saturating_sub(LINES / 2).max(1))),
            later: (window.end < text.lines.len()).then(|| go_to(window.end + 1 + BEFORE)),
            members,
            n_members,
            n_thread: thread.len(),
            thread: if thread.len() > 1 { thread } else { Vec::new() },
            close: State {
                doc: String::new(),
                at: None,
                ..state.clone()
            }
            .href(),
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
    let query = looker.understand(&mut request)?;
    let plan = looker.source.expand(&query.plan, query.limits())?;
    let matchers = snippet::matchers(&plan, Field::Body);
    let finder = Finder::new(matchers, looker.service.context().analyze);
    Ok((finder, Titles::of(looker, &query)?))
}

/// A text in lines.
struct Text<'b> {
    body: &'b str,
    found: &'b [Range<usize>],
    /// The bytes of each line, without the break at its end.
    lines: Vec<Range<usize>>,
    has_pages: bool,
}

impl<'b> Text<'b> {
    fn new(body: &'b str, found: &'b [Range<usize>]) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for (end, _) in body.match_indices('\n') {
            lines.push(start..end);
            start = end + 1;
        }
        if start < body.len() {
            lines.push(start..body.len());
        }
        Self {
            body,
            found,
            lines,
            has_pages: body.contains('\u{c}'),
        }
    }

    /// Returns the number of the page that is shown as a picture: the wanted one, else that of the wanted line, else that
    /// of the first match.
    fn sheet(&self, state: &State) -> usize {
        let of_line = |line: usize| self.lines.get(line.saturating_sub(1)).map(|line| line.end);
        let at = state.at.and_then(of_line);
        let at = at.or_else(|| self.found.first().map(|found| found.start));
        state.sheet.unwrap_or_else(|| self.page_at(at.unwrap_or(0)))
    }

    /// Returns the numbers of the lines that are shown if this line is wanted: all, unless they are too many.
    fn window(&self, wanted: Option<usize>) -> Range<usize> {
        let n_lines = self.lines.len();
        if n_lines <= LINES && self.body.len() <= BYTES {
            return 0..n_lines;
        }
        let first = wanted
            .unwrap_or(1)
            .saturating_sub(1 + BEFORE)
            .min(n_lines.saturating_sub(1));
        let limit = self.lines.get(first).map_or(0, |line| line.start) + BYTES;
        let rest = self.lines[first..].iter().take(LINES);
        let n_shown = rest.take_while(|line| line.end <= limit).count();
        first..first + n_shown.max(1).min(n_lines - first)
    }

    /// Returns what was found in a stretch, relative to its start.
    fn found_in(&self, bytes: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.found.partition_point(|found| found.end <= bytes.start);
        let inside = self.found[first..]
            .iter()
            .take_while(|found| found.start < bytes.end);
        let inside = inside.map(|found| {
            let start = found.start.max(bytes.start) - bytes.start;
            start..found.end.min(bytes.end) - bytes.start
        });
        inside.collect()
    }

    fn pieces(&self, bytes: Range<usize>) -> Vec<Piece> {
        let found = self.found_in(&bytes);
        let mut shown = pieces(&self.body[bytes], &found);
        for piece in &mut shown {
            if piece.text.contains(TEXT_SEPARATOR) {
                piece.text = piece.text.replace(TEXT_SEPARATOR, "\n\n");
            }
        }
        shown
    }

    fn page_at(&self, at: usize) -> usize {
        1 + self.body[..at].matches('\u{c}').count()
    }

    /// Returns lines, with a block at the beginning of each page.
    fn blocks(&self, window: Range<usize>) -> Vec<Block> {
        let mut blocks = Vec::new();
        let start = self.lines.get(window.start).map_or(0, |line| line.start);
        let mut page = self.page_at(start);
        let page_block = |page| Block {
            kind: "page",
            ..Block::line(page, Vec::new())
        };
        if self.has_pages {
            blocks.push(page_block(page));
        }
        for number in window {
            let line = self.lines[number].clone();
            let mut at = line.start;
            for (end, _) in self.body[line.clone()].match_indices('\u{c}') {
                let end = line.start + end;
                blocks.push(Block::line(number + 1, self.pieces(at..end)));
                page += 1;
                blocks.push(page_block(page));
                at = end + 1;
            }
            if at < line.end || at == line.start {
                blocks.push(Block::line(number + 1, self.pieces(at..line.end)));
            }
        }
        blocks
    }

    /// Returns the lines with something that was found.
    fn places(&self, go_to: &dyn Fn(usize) -> String) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let (mut page, mut counted) = (1, 0);
        for found in self.found {
            let number = self.lines.partition_point(|line| line.end < found.start);
            let Some(line) = self.lines.get(number) else {
                continue;
            };
            if places.last().is_some_and(|last| last.line == number + 1) && line.len() < 4 * PLACE {
                continue;
            }
            if places.len() == PLACES {
                break;
            }
            page += self.body[counted..found.start].matches('\u{c}').count();
            counted = found.start;
            let label = match self.has_pages {
                true => format!("p. {page}"),
                false => format!("{}", number + 1),
            };
            let around = around(self.body, line, found);
            places.push(Place {
                label,
                line: number + 1,
                text: self.pieces(around),
                href: go_to(number + 1),
            });
        }
        places
    }
}

/// Returns the part of a line around something that was found.
fn around(body: &str, line: &Range<usize>, found: &Range<usize>) -> Range<usize> {
    let spare = PLACE.saturating_sub(found.len());
    let start = body.floor_char_boundary(found.start.saturating_sub(spare / 3));
    let end = body.ceil_char_boundary((found.end + spare * 2 / 3).min(body.len()));
    let start = start.max(line.start);
    let end = end.min(line.end).max(found.end.min(body.len()));
    let cut = body[start..end]
        .rfind('\u{c}')
        .filter(|at| start + at < found.start);
    cut.map_or(start, |at| start + at + 1)..end
}

/// Folds runs of quoted lines.
fn fold_quotes(blocks: Vec<Block>) -> Vec<Block> {
    let mut folded: Vec<Block> = Vec::new();
    let mut quoted: Vec<Block> = Vec::new();
    let flush = |quoted: &mut Vec<Block>, folded: &mut Vec<Block>| {
        if quoted.len() < QUOTED {
            folded.append(quoted);
            return;
        }
        let lines = std::mem::take(quoted);
        folded.push(Block {
            kind: "quote",
            is_open: lines.iter().any(Block::has_mark),
            lines,
            ..Block::line(0, Vec::new())
        });
    };
    for block in blocks {
        if block.is_quoted() {
            quoted.push(block);
        } else {
            flush(&mut quoted, &mut folded);
            folded.push(block);
        }
    }
    flush(&mut quoted, &mut folded);
    folded
}

fn texts(document: &Document, field: Field) -> Vec<&str> {
    let values = document.fields.iter();
    let values = values.filter_map(|(of, value)| match value {
        Value::Text(text) if *of == field => Some(text.as_str()),
        _ => None,
    });
    values.collect()
}

/// Returns who sent a message to whom.
fn people(document: &Document) -> Vec<(&'static str, String)> {
    let rows = [
        ("From", Field::Author),
        ("To", Field::To),
        ("Cc", Field::Cc),
    ];
    let rows = rows.map(|(label, field)| (label, texts(document, field).join(", ")));
    rows.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
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

/// Returns the messages of the thread of a message, from old to new.
fn thread(looker: &Looker<'_>, document: &Document) -> Result<Vec<MessageRow>, Error> {
    let Some(id) = document.text(Field::Msgid) else {
        return Ok(Vec::new());
    };
    let clause = Clause::new(Some(Field::Msgid), Wanted::Word(id.to_owned()));
    let request = MessageRequest {
        which: Which::Query(Tree::Clause(clause).to_query(looker.service.field_names())),
        limit: Some(1),
        once: true,
        deadline_ms: looker.web.setup.deadline_ms,
        ..MessageRequest::default()
    };
    let zone = &looker.service.context().zone;
    let mut rows = Vec::new();
    looker.service.each_thread(&request, &mut |thread| {
        for (at, message) in thread.in_order().take(MESSAGES) {
            let authors = message.texts(Field::Author);
            let own = looker.id(&message.location);
            rows.push(MessageRow {
                author: person(authors.first().unwrap_or(&"")).to_owned(),
                date: when(message.date(), zone),
                is_shown: own == looker.state.doc || message.id() == id,
                href: looker.state.showing(&own, None),
                level: at.level.min(8),
            });
        }
        Ok::<_, SearchError>(())
    })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(blocks: &[Block]) -> Vec<(&str, usize, String)> {
        let text = |block: &Block| block.text.iter().map(|piece| piece.text.as_str()).collect();
        blocks
            .iter()
            .map(|block| (block.kind, block.n, text(block)))
            .collect()
    }

    #[test]
    fn lines_and_pages_have_their_numbers() {
        let body = "one\ntwo\u{c}three\n\nfour";
        let found = vec![8..13; 1];
        let text = Text::new(body, &found);
        let blocks = text.blocks(text.window(None));
        let expected = [
            ("page", 1, ""),
            ("line", 1, "one"),
            ("line", 2, "two"),
            ("page", 2, ""),
            ("line", 2, "three"),
            ("line", 3, ""),
            ("line", 4, "four"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(a, b, c)| (*a, *b, (*c).to_owned()))
            .collect();
        assert_eq!(shown(&blocks), expected);
        let places = text.places(&|line| line.to_string());
        assert_eq!((places[0].label.as_str(), places[0].line), ("p. 2", 2));
        assert!(places[0].text[0].mark);
    }

    #[test]
    fn a_long_text_is_shown_in_part() {
        let body = "a line\n".repeat(10_000);
        let text = Text::new(&body, &[]);
        assert_eq!(text.window(None), 0..LINES);
        assert_eq!(
            text.window(Some(5000)),
            4999 - BEFORE..4999 - BEFORE + LINES
        );
        assert_eq!(text.window(Some(99_999)), 9999..10_000);
        let one = "x".repeat(2 * BYTES);
        assert_eq!(Text::new(&one, &[]).window(Some(7)), 0..1);
        assert_eq!(Text::new("", &[]).window(Some(7)), 0..0);
    }

    #[test]
    fn long_quotes_are_folded() {
        let body = "Hello\n> a\n> b\n> c\n> d\nYes\n> short";
        let text = Text::new(body, &[]);
        let kinds: Vec<_> = fold_quotes(text.blocks(0..7))
            .iter()
            .map(|of| of.kind)
            .collect();
        assert_eq!(kinds, ["line", "quote", "line", "line"]);
    }
}
