//! `/api/v1/threads`, `contacts` and `tags`.

use ken_search::service::mail::{ContactRequest, MessageRequest, Thread, Which};
use ken_search::service::{ContactForm, Error as ServiceError, SCHEMA, Service};
use serde_json::{Value, json};

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
    let snapshot = web.at(asked, None)?;
    let service = web.service(asked, &*snapshot);
    let request = MessageRequest {
        which: Which::Query(asked.get("q").unwrap_or("*").to_owned()),
        reverse: asked.flag("reverse")?,
        limit: Some(asked.count("limit")?.unwrap_or(USUAL).min(MOST)),
        once: true,
        deadline_ms: web.setup.access.deadline_ms,
        ..MessageRequest::default()
    };
    let mut threads = Vec::new();
    let complete = service.each_thread(&request, &mut |thread| {
        threads.push(named(&service, &thread));
        Ok::<_, ServiceError>(())
    })?;
    Ok(object(
        &json!({ "v": SCHEMA, "complete": complete, "threads": threads }),
    ))
}

/// Returns a thread whose messages have the identifiers of their documents; `id` is that of the message itself.
fn named(service: &Service<'_>, thread: &Thread) -> Value {
    // Every key is text.
    let mut form = serde_json::to_value(thread).unwrap_or_default();
    let messages = form.get_mut("messages").and_then(Value::as_array_mut);
    let messages = messages.into_iter().flatten().zip(thread.in_order());
    for (message, (_, of)) in messages {
        message["document"] = service.id(&of.location).into();
    }
    form
}

pub(super) fn contacts(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let mut request = read(asked, &usual_contacts(), &SHORT, &[])?;
    request.limit = Some(request.limit.unwrap_or(MOST).min(MOST));
    request.deadline_ms = web.deadline(request.deadline_ms);
    let snapshot = web.at(asked, None)?;
    let contacts = web.service(asked, &*snapshot).contacts(&request)?;
    let forms: Vec<_> = contacts.items.iter().map(ContactForm::new).collect();
    Ok(object(
        &json!({ "v": SCHEMA, "complete": contacts.complete, "contacts": forms }),
    ))
}

pub(super) fn tags(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let snapshot = web.at(asked, None)?;
    let tags = web.service(asked, &*snapshot).tags()?;
    Ok(object(
        &json!({ "v": SCHEMA, "complete": tags.complete, "tags": tags.items }),
    ))
}
