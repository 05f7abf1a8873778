//! `search`: the best documents for a question, each with a citation and a passage.

use std::ops::RangeInclusive;

use ken_core::Field;
use ken_search::service::{
    Error, Group, Hit, Matched, Reading, Relax, Request, Response, Service, Snippets, day,
};

use super::words;
use crate::call::Call;
use crate::text::{Page, address, line};
use crate::visible::is_visible;

const KNOWN: [&str; 6] = ["query", "in", "type", "limit", "offset", "max_chars"];
const MAX_HITS: usize = 100;
/// The characters of a passage: in a short answer several short ones say more than two long ones.
const PASSAGE: RangeInclusive<usize> = 160..=300;
/// The hits that a short answer has room for.
const HITS: usize = 8;
/// The characters that the last line needs.
const RESERVE: usize = 60;

pub(super) fn run(call: &Call<'_>) -> Result<String, String> {
    let arguments = &call.arguments;
    arguments.only(&KNOWN)?;
    let query = arguments.wanted("query")?;
    let filter = arguments.text("type")?;
    let limit = arguments.number("limit", 10, MAX_HITS)?.max(1);
    let offset = arguments.number("offset", 0, 1_000_000)?;
    let max_chars = arguments.max_chars()?;
    let mut page = Page::new(max_chars)?;
    let scope = call.scope()?;
    call.ask(&scope, |service, _| {
        let request = Request {
            filters: filter.map(kind).transpose()?.into_iter().collect(),
            group: Some(Group::Similar),
            relax: Relax::Sentence,
            limit: Some(limit),
            offset,
            count: true,
            snippets: Snippets {
                count: 1,
                length: (max_chars / HITS).clamp(*PASSAGE.start(), *PASSAGE.end()),
            },
            deadline_ms: call.deadline_ms(),
            ..Request::default()
        };
        let mut found = ask(service, query, &request)?;
        if found.total == Some(0) {
            // Suggestions cost several searches. Where something was found, the answer says which words no document has.
            let suggest = Request {
                suggest: true,
                ..request
            };
            found = ask(service, query, &suggest)?;
        }
        found
            .hits
            .retain(|hit| is_visible(&scope, &hit.location.path));
        match found.hits.is_empty() {
            true => page.say(&about(&found)),
            false => page.head(&about(&found)),
        }
        let mut n_shown = 0;
        for hit in &found.hits {
            if !add(&mut page, call, hit) {
                break;
            }
            n_shown += 1;
        }
        let total = found.total_groups.unwrap_or(found.hits.len());
        let next = offset + n_shown;
        let last = match next < total && n_shown > 0 {
            true => format!("{} more: search with offset {next}.", total - next),
            false => String::new(),
        };
        Ok(page.finish(&last))
    })
}

fn kind(name: &str) -> Result<String, String> {
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
    match ken_core::Kind::ALL.iter().any(|(_, known)| *known == name) {
        true => Ok(format!("type:{name}")),
        // `pdf` is an extension, and models say so all the same.
        false if is_name => Ok(format!("ext:{name}")),
        false => Err("type must be a type of documents, such as document or source".to_owned()),
    }
}

/// Asks in the query language, or by words if it is no query or a wrong one. Where hardly anything has all of many
/// words, what has any of them is found.
fn ask(service: &Service<'_>, query: &str, request: &Request) -> Result<Response, String> {
    let ask = |query: String, reading| {
        service.ask(&Request {
            query,
            reading,
            ..request.clone()
        })
    };
    if words::is_query(query, service.field_names()) {
        match ask(query.to_owned(), Reading::Operators) {
            Err(Error::Query(_)) => {}
            found => return found.map_err(|error| error.to_string()),
        }
    }
    let plain = words::plain(query);
    if plain.is_empty() {
        return Err("the query has no words".to_owned());
    }
    let found = ask(plain.clone(), Reading::Operators);
    let found = match found {
        Ok(found) if found.total != Some(0) => Ok(found),
        _ => ask(plain, Reading::Any),
    };
    found.map_err(|error| error.to_string())
}

fn about(found: &Response) -> String {
    let total = found.total_groups.unwrap_or(found.hits.len());
    let mut about = match total {
        0 => "Nothing was found.".to_owned(),
        1 => "1 hit.".to_owned(),
        n => format!("{n} hits."),
    };
    if found.matched != Matched::All && total > 0 {
        about.push_str(" Some hits lack some of the words.");
    }
    if !found.missing.is_empty() {
        about.push_str(&format!(
            " No document contains: {}.",
            line(&found.missing.join(", "))
        ));
    }
    let suggestions: Vec<String> = found
        .did_you_mean
        .iter()
        .map(|suggestion| format!("{} ({})", line(&suggestion.query), suggestion.documents))
        .collect();
    if !suggestions.is_empty() {
        about.push_str(&format!(" Perhaps: {}.", suggestions.join("; ")));
    }
    if !found.complete {
        about.push_str(" Time ran out; there may be more.");
    }
    about
}

fn add(page: &mut Page, call: &Call<'_>, hit: &Hit) -> bool {
    let head = head(call, hit);
    let text = text(hit);
    if page.add(&format!("{head}{}", page.fenced(&text)), RESERVE) {
        return true;
    }
    // The first hit is shown in any case, with less of its passage.
    let n_chars = page
        .left()
        .saturating_sub(RESERVE + head.chars().count() + 40);
    let is_first = hit.rank == call.arguments.number("offset", 0, usize::MAX).unwrap_or(0) + 1;
    let short: String = text.chars().take(n_chars).collect();
    is_first && page.add(&format!("{head}{}", page.fenced(&short)), 0)
}

/// Returns the citation, date and identifier of a hit.
fn head(call: &Call<'_>, hit: &Hit) -> String {
    let place = hit
        .snippets
        .first()
        .map_or_else(String::new, |passage| match passage.page {
            Some(page) => format!(", p. {page}"),
            None => format!(":{}", passage.line),
        });
    let address = address(&hit.location, call.here());
    let zone = &call.setup().access.context.zone;
    let date = hit
        .document
        .number(Field::Date)
        .map(|date| format!(" · {}", day(date, zone)));
    let more = match hit.more {
        None | Some(0) => String::new(),
        Some(n) => format!(" · {n} similar"),
    };
    let (rank, date) = (hit.rank, date.unwrap_or_default());
    format!("{rank}. {address}{place}{date}{more} · id {}\n", hit.id)
}

/// Returns what the file says: title, sender and passage.
fn text(hit: &Hit) -> String {
    let document = &hit.document;
    let mut text = String::new();
    let is_message = document.kind == ken_core::Kind::Message;
    if let Some(sender) = document.text(Field::Author).filter(|_| is_message) {
        text.push_str(&format!("From: {}\n", line(sender)));
    }
    if let Some(title) = document.text(Field::Title) {
        text.push_str(&line(title));
        text.push('\n');
    }
    for passage in &hit.snippets {
        let (start, end) = (cut(passage.cut_start), cut(passage.cut_end));
        text.push_str(&format!("{start}{}{end}\n", passage.text));
    }
    text
}

fn cut(is_cut: bool) -> &'static str {
    if is_cut { "…" } else { "" }
}
