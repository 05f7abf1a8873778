//! `/api/v1/search`.

use ken_search::service::{Reading, Request, Response, Text};
use serde_json::Value;

use super::parameter::{Parameter, keys, one};
use crate::answer::{Answer, Error, object, showing};
use crate::parameters::read;
use crate::{Asked, Web};

/// Parameters with a short name, and the keys that they stand for.
const SHORT: [(&str, &str); 5] = [
    ("q", "query"),
    ("filter", "filters"),
    ("field", "fields"),
    ("facet", "facets.by"),
    ("n_snippets", "snippets.count"),
];
/// The most hits of a page. A program asks for the next page, of the same commit.
const MAX_HITS: usize = 10_000;
/// The same with the whole text of each.
const MAX_TEXTS: usize = 20;
/// The most passages of a hit, and the most characters of a passage.
const MAX_SNIPPETS: usize = 100;
const MAX_SNIPPET: usize = 10_000;

/// What is asked if nothing else is said. A person types the query, so its mistakes are left out, and said.
fn usual(web: Option<&Web>) -> Request {
    Request {
        reading: Reading::Lenient,
        count: true,
        deadline_ms: web.and_then(|web| web.setup.access.deadline_ms),
        ..Request::default()
    }
}

/// Returns what a POST takes, with its usual values.
pub(super) fn body() -> Value {
    serde_json::to_value(usual(None)).unwrap_or_default()
}

pub(super) fn parameters() -> Vec<Parameter> {
    let mut all = keys(&usual(None), &SHORT);
    all.push(one(
        "commit",
        "integer",
        "Answer from this commit, as an earlier page; 410 if it is gone",
    ));
    all
}

/// Leaves out scores for people who may not read everything: a score tells in how many documents a word is.
pub(super) fn hide_scores(asked: &Asked, found: &mut Response) {
    if asked.asker.is_some() {
        found.hits.iter_mut().for_each(|hit| hit.score = None);
    }
}

pub(super) fn answer(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let usual = usual(Some(web));
    let mut request = read(asked, &usual, &SHORT, &["commit"])?;
    // Whole texts are in memory at once.
    let max_hits = match request.text {
        Text::Whole => MAX_TEXTS,
        _ => MAX_HITS,
    };
    request.limit = Some(request.limit.unwrap_or(max_hits).min(max_hits));
    request.snippets.count = request.snippets.count.min(MAX_SNIPPETS);
    request.snippets.length = request.snippets.length.min(MAX_SNIPPET);
    request.deadline_ms = web.deadline(request.deadline_ms);
    let snapshot = web.at(asked, asked.number("commit")?)?;
    // It has the numbers of all documents with a word.
    request.explain &= asked.asker.is_none();
    let service = web.service(asked, &*snapshot);
    let mut found = service.ask(&request)?;
    hide_scores(asked, &mut found);
    Ok(showing(object(&found), found.hits.len()))
}
