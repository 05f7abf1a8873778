//! `/api/v1/threads`, `contacts` and `tags`.

use ken_search::service::mail::{ContactRequest, MessageRequest, Which};
use ken_search::service::{ContactForm, Error as ServiceError, SCHEMA};
use serde_json::json;

use super::parameter::{Parameter, keys, one};
use crate::answer::{Answer, Error, object};
use crate::parameters::read;
use crate::{Asked, Web};

/// The threads and contacts of an answer if nothing else is said.
const USUAL: usize = 50;
/// The most of them.
const MOST: usize = 10_000;
const SHORT: [(&str, &str); 2] = [("q", "query"), ("filter", "filters")];

pub(super) fn thread_parameters() -> Vec<Parameter> {
    vec![
        one("q", "string", "The query; all messages if absent"),
        one("limit", "integer", "The most threads"),
        one("reverse", "boolean", "Oldest first"),
    ]
}

pub(super) fn contact_parameters() -> Vec<Parameter> {
    keys(&usual_contacts(), &SHORT)
}

fn usual_contacts() -> ContactRequest {
    ContactRequest {
        limit: Some(USUAL),
        ..ContactRequest::default()
    }
}

pub(super) fn threads(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let snapshot = web.index.at(None)?;
    let service = web.service(asked, &*snapshot);
    let request = MessageRequest {
        which: Which::Query(asked.get("q").unwrap_or("*").to_owned()),
        reverse: asked.flag("reverse")?,
        limit: Some(asked.count("limit")?.unwrap_or(USUAL).min(MOST)),
        once: true,
        deadline_ms: web.setup.deadline_ms,
        ..MessageRequest::default()
    };
    let mut threads = Vec::new();
    let complete = service.each_thread(&request, &mut |thread| {
        threads.push(thread);
        Ok::<_, ServiceError>(())
    })?;
    Ok(object(
        &json!({ "v": SCHEMA, "complete": complete, "threads": threads }),
    ))
}

pub(super) fn contacts(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let mut request = read(asked, &usual_contacts(), &SHORT, &[])?;
    request.limit = Some(request.limit.unwrap_or(MOST).min(MOST));
    request.deadline_ms = web.deadline(request.deadline_ms);
    let snapshot = web.index.at(None)?;
    let contacts = web.service(asked, &*snapshot).contacts(&request)?;
    let forms: Vec<_> = contacts.items.iter().map(ContactForm::new).collect();
    Ok(object(
        &json!({ "v": SCHEMA, "complete": contacts.complete, "contacts": forms }),
    ))
}

pub(super) fn tags(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let snapshot = web.index.at(None)?;
    let tags = web.service(asked, &*snapshot).tags()?;
    Ok(object(
        &json!({ "v": SCHEMA, "complete": tags.complete, "tags": tags.items }),
    ))
}
