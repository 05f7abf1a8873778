//! `/api/v1/terms` and `/api/v1/complete`.

use ken_search::service::{SCHEMA, TermOrder, TermRequest};
use serde_json::{Value, json};

use super::parameter::{Parameter, keys, one};
use crate::answer::{Answer, Error, object};
use crate::parameters::read;
use crate::{Asked, Web};

const SHORT: [(&str, &str); 2] = [("q", "pattern"), ("field", "fields")];
/// The most terms of an answer.
const MAX_TERMS: usize = 10_000;
/// The terms that a completion has if nothing else is said.
const COMPLETIONS: usize = 10;

fn usual(limit: usize) -> TermRequest {
    TermRequest {
        sort: TermOrder::Documents,
        limit: Some(limit),
        ..TermRequest::default()
    }
}

pub(super) fn parameters() -> Vec<Parameter> {
    keys(&usual(100), &SHORT)
}

pub(super) fn complete_parameters() -> Vec<Parameter> {
    vec![
        one("prefix", "string", "The beginning").required(),
        one("limit", "integer", "The most terms"),
    ]
}

pub(super) fn answer(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let request = read(asked, &usual(100), &SHORT, &[])?;
    list(web, asked, request)
}

pub(super) fn complete(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let missing = || Error::wrong("prefix: it is missing".to_owned());
    let prefix = asked.get("prefix").ok_or_else(missing)?;
    let limit = asked.count("limit")?.unwrap_or(COMPLETIONS);
    // Signs of patterns would mean more than a beginning.
    if prefix.is_empty() || !prefix.chars().all(char::is_alphanumeric) {
        return Ok(object(
            &json!({ "v": SCHEMA, "complete": true, "terms": [] }),
        ));
    }
    let request = TermRequest {
        pattern: prefix.to_owned(),
        ..usual(limit)
    };
    list(web, asked, request)
}

fn list(web: &Web, asked: &Asked, mut request: TermRequest) -> Result<Answer, Error> {
    // 0 means all.
    let limit = request.limit.filter(|limit| *limit > 0);
    request.limit = Some(limit.unwrap_or(MAX_TERMS).min(MAX_TERMS));
    request.deadline_ms = web.deadline(request.deadline_ms);
    let snapshot = web.at(asked, None)?;
    let service = web.service(asked, &*snapshot);
    let mut terms: Vec<Value> = Vec::new();
    let complete = service.each_term(&request, &mut |row| {
        terms.push(serde_json::to_value(service.term_form(row)).unwrap_or_default());
        Ok::<_, ken_search::service::Error>(())
    })?;
    Ok(object(
        &json!({ "v": SCHEMA, "complete": complete, "terms": terms }),
    ))
}
