//! `list`: what there is, counted.

use ken_core::Field;
use ken_search::service::mail::{MessageRequest, Which};
use ken_search::service::{Error, Facets, Request, Service, TermOrder, TermRequest, day};

use super::words;
use crate::call::Call;
use crate::text::{Page, line};

const KNOWN: [&str; 5] = ["what", "query", "in", "limit", "max_chars"];
const WHAT: [&str; 6] = ["folders", "types", "authors", "years", "threads", "words"];
const MAX_ROWS: usize = 500;
/// The characters that fences and the last line need.
const RESERVE: usize = 100;

pub(super) fn run(call: &Call<'_>) -> Result<String, String> {
    let arguments = &call.arguments;
    arguments.only(&KNOWN)?;
    arguments.wanted("what")?;
    let what = arguments.choice("what", &WHAT)?;
    let query = arguments.text("query")?;
    let limit = arguments.number("limit", 20, MAX_ROWS)?.max(1);
    let mut page = Page::new(arguments.max_chars()?)?;
    if what == "threads" && !call.whole_scope().mail {
        return Err("mail is not visible here; the user can start ken mcp with --mail".to_owned());
    }
    let rows = call.ask(&call.scope()?, |service, _| match what {
        "folders" => facet(service, call, "dir", query),
        "types" => facet(service, call, "type", query),
        "authors" => facet(service, call, "author", query),
        "years" => facet(service, call, "year", query),
        "threads" => threads(service, call, query, limit),
        _ => terms(service, call, query, limit),
    })?;
    match what {
        _ if rows.is_empty() => page.say("Nothing to count."),
        "threads" => page.head("Messages, newest, and subject of each thread, the newest first."),
        "words" => page.head("Documents with each word."),
        _ => page.head("Documents of each."),
    }
    let mut text = String::new();
    let mut n_shown = 0;
    for row in rows.iter().take(limit) {
        if text.chars().count() + row.chars().count() + 1 + RESERVE > page.left() {
            break;
        }
        text.push_str(row);
        text.push('\n');
        n_shown += 1;
    }
    if n_shown > 0 {
        let fenced = page.fenced(&text);
        page.add(&fenced, 0);
    }
    let last = match rows.len() - n_shown {
        0 => String::new(),
        n => format!("{n} more; ask with a larger limit, or with in or query."),
    };
    Ok(page.finish(&last))
}

fn facet(
    service: &Service<'_>,
    call: &Call<'_>,
    name: &str,
    query: Option<&str>,
) -> Result<Vec<String>, String> {
    let request = Request {
        query: as_query(service, query),
        facets: Facets {
            by: vec![name.to_owned()],
            ..Facets::default()
        },
        limit: Some(0),
        deadline_ms: call.deadline_ms(),
        ..Request::default()
    };
    let found = service.ask(&request).map_err(|error| error.to_string())?;
    let values = found.facets.into_iter().flat_map(|facet| facet.values);
    let values = values.filter(|value| value.count > 0);
    Ok(values
        .map(|value| format!("{} {}", value.count, line(&value.value)))
        .collect())
}

fn as_query(service: &Service<'_>, query: Option<&str>) -> String {
    match query {
        None => "*".to_owned(),
        Some(query) if words::is_query(query, service.field_names()) => query.to_owned(),
        Some(query) => words::plain(query),
    }
}

fn threads(
    service: &Service<'_>,
    call: &Call<'_>,
    query: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, String> {
    let request = MessageRequest {
        which: Which::Query(as_query(service, query)),
        limit: Some(limit),
        deadline_ms: call.deadline_ms(),
        ..MessageRequest::default()
    };
    let mut rows = Vec::new();
    let found = service.each_thread(&request, &mut |thread| {
        let zone = &call.setup().access.context.zone;
        let senders = thread
            .in_order()
            .flat_map(|(_, message)| message.texts(Field::Author));
        let mut senders: Vec<String> = senders.map(line).collect();
        senders.dedup();
        senders.truncate(3);
        rows.push(format!(
            "{} {} {} ({})",
            thread.n_messages(),
            day(thread.newest(), zone),
            line(thread.subject()),
            senders.join(", "),
        ));
        Ok::<_, Error>(())
    });
    found.map_err(|error| error.to_string())?;
    Ok(rows)
}

fn terms(
    service: &Service<'_>,
    call: &Call<'_>,
    start: Option<&str>,
    limit: usize,
) -> Result<Vec<String>, String> {
    let start = start.unwrap_or_default();
    if start.chars().filter(|c| c.is_alphanumeric()).count() < 2 {
        return Err("query must be the beginning of the words, at least two letters".to_owned());
    }
    let request = TermRequest {
        pattern: format!("{}*", start.trim_end_matches('*')),
        fields: vec!["body".to_owned()],
        sort: TermOrder::Documents,
        limit: Some(limit),
        deadline_ms: call.deadline_ms(),
        ..TermRequest::default()
    };
    let mut rows = Vec::new();
    let listed = service.each_term(&request, &mut |row| {
        rows.push(format!("{} {}", row.documents, line(&row.term)));
        Ok::<_, Error>(())
    });
    listed.map_err(|error| error.to_string())?;
    Ok(rows)
}
