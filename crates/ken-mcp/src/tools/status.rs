//! `status`: what this server may see, and how fresh the index is.

use std::time::Duration;

use ken_core::{Order, Plan};
use ken_engine::Source;
use ken_search::service::{Facets, Request, Service, time};

use crate::call::Call;
use crate::text::{Page, counted, line};
use crate::visible::folders;

/// The time that `ken serve` has for an answer.
const WAIT: Duration = Duration::from_millis(200);

pub(super) fn run(call: &Call<'_>) -> Result<String, String> {
    call.arguments.only(&["max_chars"])?;
    let page = Page::new(call.arguments.max_chars()?)?;
    let scope = call.whole_scope();
    let mut text = format!("{}\n", folders(scope));
    let mail = match scope.mail {
        true => "visible",
        false => "not visible (ken mcp --mail)",
    };
    text.push_str(&format!("Mail: {mail}\n"));
    if call.snapshot()?.is_none() {
        text.push_str("Index: none yet. The user makes one with: ken index FOLDER\n");
        return Ok(page.finish(&text));
    }
    call.ask(scope, |service, source| {
        text.push_str(&index(service, source)?);
        if source.meta().roots.is_empty() {
            text.push_str("The index covers none of these folders: ken index FOLDER adds one\n");
        }
        Ok(())
    })?;
    text.push_str(&freshness(call));
    Ok(page.finish(&text))
}

fn index(service: &Service<'_>, source: &dyn Source) -> Result<String, String> {
    let count = |query: &str| {
        let request = Request {
            query: query.to_owned(),
            limit: Some(0),
            count: true,
            facets: Facets {
                by: vec!["type".to_owned()],
                ..Facets::default()
            },
            ..Request::default()
        };
        service.ask(&request).map_err(|error| error.to_string())
    };
    let total = source.run(&Plan::All, Order::default(), 0, 0);
    let total = total.map_err(|error| error.to_string())?.total;
    let types = count("*")?
        .facets
        .into_iter()
        .flat_map(|facet| facet.values);
    let types: Vec<String> = types
        .map(|value| format!("{} {}", value.count, line(&value.value)))
        .collect();
    let failed = count("is:failed")?.total.unwrap_or_default();
    let completed = source.meta().completed.map_or("never".to_owned(), time);
    Ok(format!(
        "Documents: {total} ({})\nNot read in full: {failed} (search is:failed)\nIndex complete as of: {completed}\n",
        types.join(", ")
    ))
}

fn freshness(call: &Call<'_>) -> String {
    let server = call.setup().server.as_ref();
    let Some(fresh) = server.and_then(|server| server.status_within(WAIT).ok()) else {
        return "Kept fresh: no, search finds later changes after the next ken index; grep is always exact\n".to_owned();
    };
    let mut text = match fresh.complete_seconds_ago {
        Some(age) => format!("Kept fresh: yes, the index is of {age:.0} s ago\n"),
        None => "Kept fresh: yes, everything is being compared\n".to_owned(),
    };
    if let Some(sweep) = fresh.sweep() {
        text.push_str(&format!(
            "Not watched: {}; {sweep}\n",
            counted(fresh.swept, "folder or root", "folders and roots")
        ));
    }
    text
}
