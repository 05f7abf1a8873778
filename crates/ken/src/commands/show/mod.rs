//! `ken show`: prints the text of a document, or a part of it, from the index.

mod form;
mod print;

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::process::ExitCode;

use ken_core::{Document, Kind as Type};
use ken_search::service::mail::Message;
use ken_search::service::{Addressed, Error, Next, Part, PartRequest, Place, Reading, Service};

use super::bounded::range;
use super::context::context;
use super::original::{FileState, changed_words, state};
use super::{address, last};
use crate::cli::{Global, ReadArgs};
use crate::config::{Settings, data_folder};
use crate::failure::{Failure, Kind};
use crate::opened::Opened;
use crate::output::{self, Style};
use print::Page;

/// The bytes of text that a program gets if it does not say how many.
const USUAL_BYTES: usize = 32_000;
/// The lines that are shown before and after a line that was typed behind an address.
const BEFORE: usize = 10;
const AFTER: usize = 30;
/// The rows that a pager shows above the match at which it begins.
const ROWS_ABOVE: usize = 5;
/// The stretches around matches for which there is room in a budget, at least.
const STRETCHES: usize = 4;
/// The tries to fit an output into its budget.
const MAX_TRIES: usize = 20;

pub(crate) fn run(global: &Global, args: &ReadArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::load(global)?;
    let snapshot = Opened::new(&data_folder(global)?, &settings)?;
    let mut context = context();
    settings.mail.apply_to(&mut context)?;
    let service = Service::new(&*snapshot, context, settings.queries.clone());
    let found = address::find(&service, &args.address)?;
    let location = &found.named.stored.location;
    let state = state(&*snapshot, &location.path)?;
    let page = Page {
        service: &service,
        found: &found,
        members: members(&service, &found)?,
        state,
        args,
        style: Style::of(global),
        columns: output::columns(),
        place: last::numbered(&args.address).and_then(|hit| hit.place),
        row: Cell::new(None),
    };
    let request = request(args, &found, page.columns.is_some());
    if !args.json {
        match state {
            FileState::Changed => output::warn(&changed_words(location)),
            FileState::Gone => output::warn(&format!(
                "\"{}\" no longer exists; this is the text that the index has",
                location.path.display()
            )),
            FileState::Same | FileState::Unknown => {}
        }
    }
    beyond(args, &page)?;
    let is_found = args.around.is_none() || page.part(&request)?.n_matches > 0;
    let request = match is_found || args.json {
        true => request,
        // The match may be in the title or the name.
        false => PartRequest {
            lines: Some(1..=AFTER),
            query: None,
            around: None,
            ..request
        },
    };
    let (bytes, rest) = match args.budget {
        Some(budget) => page.within(budget, &request)?,
        None => page.whole(&request)?,
    };
    // A match on the first screen is seen at once.
    let row = page.row.get().filter(|row| *row > ROWS_ABOVE);
    let row = row.filter(|_| !output::has_room_for(&bytes));
    let paging = output::page_at(global, row.map(|row| row - ROWS_ABOVE));
    output::print(&bytes)?;
    drop(paging);
    if let Some(rest) = rest.filter(|_| !args.json && args.budget.is_none()) {
        output::warn(&rest);
    }
    if !is_found && !args.json {
        output::warn("the query matches nothing in the text, which begins like this");
    }
    Ok(ExitCode::from(u8::from(!is_found)))
}

/// Refuses lines and pages that the text does not have.
fn beyond(args: &ReadArgs, page: &Page<'_>) -> Result<(), Failure> {
    if args.lines.is_none() && args.page.is_none() {
        return Ok(());
    }
    let part = page.part(&PartRequest::default())?;
    let starts =
        |range: &Option<RangeInclusive<usize>>| range.as_ref().map_or(0, |range| *range.start());
    let has = if starts(&args.page) > part.n_pages {
        output::counted(part.n_pages, "page")
    } else if starts(&args.lines) > part.n_lines.max(1) {
        output::counted(part.n_lines, "line")
    } else {
        return Ok(());
    };
    Err(Failure::new(Kind::Usage, format!("the document has {has}")))
}

/// Returns what of the text is wanted.
fn request(args: &ReadArgs, found: &Addressed, on_terminal: bool) -> PartRequest {
    let mut request = PartRequest {
        lines: args.lines.clone(),
        pages: args.page.clone(),
        query: args.around.clone(),
        reading: Reading::Lenient,
        prefix_last: args.prefix_last,
        around: args.around.as_ref().map(|_| args.context),
        offset: args.offset,
        stretch_bytes: args.budget.map(|budget| budget / STRETCHES),
        max_bytes: args.budget,
    };
    let is_chosen = args.lines.is_some() || args.page.is_some() || args.around.is_some();
    match found.place {
        Some(Place::Line(line)) if !is_chosen && !args.all => {
            request.lines = Some(line.saturating_sub(BEFORE).max(1)..=line.saturating_add(AFTER));
        }
        Some(Place::Page(page)) if !is_chosen && !args.all => request.pages = Some(page..=page),
        _ if args.all || is_chosen || on_terminal => {}
        _ => request.max_bytes = args.budget.or(Some(USUAL_BYTES)),
    }
    if request.query.is_none() {
        request.query = last::numbered(&args.address).and_then(|hit| hit.query);
    }
    request
}

/// A document inside the one that is shown.
struct Inside {
    address: String,
    id: String,
    /// The name, the media type and the size of an attachment.
    about: Option<(String, String, Option<i64>)>,
}

/// Returns the attachments of a message, or the members of another file.
fn members(service: &Service<'_>, found: &Addressed) -> Result<Vec<Inside>, Error> {
    let location = &found.named.stored.location;
    if found.named.stored.document.kind == Type::Message {
        let parts = service.parts(&Message::from(found.named.clone()))?.items;
        let parts = parts.into_iter().map(|part| Inside {
            address: part.location.to_string(),
            id: service.id(&part.location),
            about: Some((part.name, part.media_type, part.n_bytes)),
        });
        return Ok(parts.collect());
    }
    let members = service.members(location)?.into_iter();
    let members = members.map(|member| Inside {
        address: member.to_string(),
        id: service.id(&member),
        about: None,
    });
    Ok(members.collect())
}

impl Page<'_> {
    fn document(&self) -> &Document {
        &self.found.named.stored.document
    }

    /// Returns a part of the text. A query that only marks may have mistakes.
    fn part(&self, request: &PartRequest) -> Result<Part<'_>, Failure> {
        let body = &self.document().body;
        match self.service.part(body, request) {
            Err(Error::Query(_)) if request.around.is_none() => {
                let plain = PartRequest {
                    query: None,
                    ..request.clone()
                };
                Ok(self.service.part(body, &plain)?)
            }
            part => Ok(part?),
        }
    }

    /// Returns the output, and how to get what was left out.
    fn whole(&self, request: &PartRequest) -> Result<(Vec<u8>, Option<String>), Failure> {
        let part = self.part(request)?;
        let rest = part.next.as_ref().map(|next| self.rest(&part, next));
        let bytes = match self.args.json {
            true => self.json(&part, true),
            false => self.text(&part, true).into_bytes(),
        };
        Ok((bytes, rest))
    }

    /// Returns an output of at most so many bytes, which says itself how to get what was left out. The head is shortened
    /// if it leaves no room for text.
    fn within(
        &self,
        budget: usize,
        request: &PartRequest,
    ) -> Result<(Vec<u8>, Option<String>), Failure> {
        for with_head in [true, false] {
            let mut max_bytes = budget;
            for _ in 0..MAX_TRIES {
                let part = self.part(&PartRequest {
                    max_bytes: Some(max_bytes),
                    ..request.clone()
                })?;
                let bytes = self.with_rest(&part, with_head);
                let has_text = part
                    .stretches
                    .iter()
                    .any(|stretch| !stretch.text.is_empty());
                let has_all = part.next.is_none();
                let is_enough = has_text || has_all || !with_head;
                match bytes.len().checked_sub(budget) {
                    None | Some(0) if is_enough => return Ok((bytes, None)),
                    None | Some(0) => break,
                    Some(_) if max_bytes == 0 => break,
                    Some(over) => max_bytes = max_bytes.saturating_sub(over),
                }
            }
        }
        let message = format!("--budget {budget} has no room for a line of this document");
        Err(Failure::new(Kind::Usage, message))
    }

    fn with_rest(&self, part: &Part<'_>, with_head: bool) -> Vec<u8> {
        if self.args.json {
            return self.json(part, with_head);
        }
        let mut text = self.text(part, with_head);
        if let Some(next) = &part.next {
            text.push_str(&format!("[{}]\n", self.rest(part, next)));
        }
        text.into_bytes()
    }

    /// Says how much is shown, and how to get more.
    fn rest(&self, part: &Part<'_>, next: &Next) -> String {
        let shown: usize = part
            .stretches
            .iter()
            .map(|stretch| stretch.text.len())
            .sum();
        let n_bytes = |n: usize| output::size(n as i64);
        format!(
            "{} of {} shown; next: {}",
            n_bytes(shown),
            n_bytes(part.n_bytes),
            self.command(next)
        )
    }

    /// Returns the command that shows the next part.
    fn command(&self, next: &Next) -> String {
        let location = self.found.named.stored.location.to_string();
        let mut command = format!("ken show {}", output::shell_word(&location));
        match (next, &self.args.around) {
            (Next::Lines(lines), _) => command.push_str(&format!(" --lines {}", range(lines))),
            (Next::Pages(pages), _) => command.push_str(&format!(" --page {}", range(pages))),
            (Next::Around(offset), query) => {
                let query = output::shell_word(query.as_deref().unwrap_or_default()).into_owned();
                let context = self.args.context;
                let prefix = if self.args.prefix_last {
                    " --prefix-last"
                } else {
                    ""
                };
                command.push_str(&format!(
                    " --around {query}{prefix} -C {context} --offset {offset}"
                ));
            }
        }
        if let Some(budget) = self.args.budget {
            command.push_str(&format!(" --budget {budget}"));
        }
        if self.args.json {
            command.push_str(" --json");
        }
        command
    }
}
