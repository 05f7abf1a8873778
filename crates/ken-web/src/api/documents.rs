//! `/api/v1/documents/…`: one document.

use std::io::Read;

use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderValue};
use ken_core::Location;
use ken_search::service::{
    DocumentForm, Error as ServiceError, Inside, MatchIn, Named, Numbers, PartRequest, Reading,
    Request, SCHEMA, Service, path_text,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use super::parameter::{Parameter, one};
use crate::answer::{Answer, Body, Error, object, set, whole};
use crate::{Asked, Web, original};

/// The most places that one answer has.
const MAX_PLACES: usize = 10_000;
/// What a name in a header may have as it is (RFC 8187, `attr-char`).
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

pub(super) fn no_parameters() -> Vec<Parameter> {
    Vec::new()
}

pub(super) fn text_parameters() -> Vec<Parameter> {
    vec![
        one("lines", "string", "Lines, such as 10-40"),
        one("pages", "string", "Pages, such as 3 or 3-5"),
    ]
}

pub(super) fn places_parameters() -> Vec<Parameter> {
    vec![
        one("q", "string", "The query"),
        one("limit", "integer", "The most places"),
    ]
}

/// Hands on the document with an identifier.
pub(super) fn with_document(
    web: &Web,
    asked: &Asked,
    id: &str,
    answer: impl FnOnce(&Service<'_>, &Named) -> Result<Answer, Error>,
) -> Result<Answer, Error> {
    let snapshot = web.at(asked, asked.number("commit")?)?;
    let service = web.service(asked, &*snapshot);
    let named = service.document(id)?.ok_or_else(|| Error {
        status: 404,
        message: format!("no document of the index has the identifier {id}"),
    })?;
    answer(&service, &named)
}

#[derive(Serialize)]
struct Whole<'a> {
    id: &'a str,
    n_lines: usize,
    n_pages: usize,
    path: &'a str,
    title: Option<&'a str>,
    #[serde(flatten)]
    document: DocumentForm<'a>,
}

pub(super) fn answer(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    with_document(web, asked, id, |service, named| {
        let document = &named.stored.document;
        let whole = service.part(&document.body, &PartRequest::default())?;
        Ok(object(&Whole {
            id,
            n_lines: whole.n_lines,
            n_pages: whole.n_pages,
            path: &path_text(&named.stored.location.path),
            title: named.title(),
            document: DocumentForm::new(document, service.field_names(), false),
        }))
    })
}

pub(super) fn text(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    let request = PartRequest {
        lines: asked.get("lines").map(numbers).transpose()?,
        pages: asked.get("pages").map(numbers).transpose()?,
        ..PartRequest::default()
    };
    with_document(web, asked, id, |service, named| {
        let part = service.part(&named.stored.document.body, &request)?;
        let stretch = part.stretches.first();
        Ok(object(&json!({
            "v": SCHEMA,
            "id": id,
            "text": stretch.map_or("", |stretch| stretch.text),
            "first_line": stretch.map_or(1, |stretch| stretch.first_line),
            "n_lines": part.n_lines,
            "n_pages": part.n_pages,
        })))
    })
}

/// Reads numbers of lines or pages.
fn numbers(text: &str) -> Result<Numbers, Error> {
    PartRequest::numbers(text)
        .ok_or_else(|| Error::wrong(format!("\"{text}\" is no range of numbers such as 10-40")))
}

pub(super) fn places(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    let limit = asked.count("limit")?.unwrap_or(MAX_PLACES);
    with_document(web, asked, id, |service, named| {
        let request = Request {
            query: asked.get("q").unwrap_or_default().to_owned(),
            reading: Reading::Lenient,
            deadline_ms: web.setup.access.deadline_ms,
            ..Request::default()
        };
        let query = service.understand(&request)?;
        let places = matches(
            service,
            &query,
            &named.stored.location,
            limit.min(MAX_PLACES),
        )?;
        Ok(object(&json!({
            "v": SCHEMA,
            "id": id,
            "complete": query.is_complete() && places.len() < limit,
            "places": places,
        })))
    })
}

/// Returns the matches in a document, without those in its members.
fn matches(
    service: &Service<'_>,
    query: &ken_search::service::Query,
    location: &Location,
    limit: usize,
) -> Result<Vec<MatchIn>, ServiceError> {
    let mut places = Vec::new();
    service.each_match(query, &location.address(), None, &mut |found| {
        match found {
            Inside::Match(found) if found.location == *location && places.len() < limit => {
                places.push(found);
            }
            _ => {}
        }
        Ok::<_, ServiceError>(())
    })?;
    Ok(places)
}

pub(super) fn members(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    with_document(web, asked, id, |service, named| {
        let members = service.members(&named.stored.location)?;
        let members: Vec<Value> = members
            .iter()
            .map(|member| json!({ "id": service.id(member), "ipath": member.ipath }))
            .collect();
        Ok(object(
            &json!({ "v": SCHEMA, "id": id, "members": members }),
        ))
    })
}

pub(super) fn original(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    let snapshot = web.at(asked, None)?;
    with_document(web, asked, id, |_, named| {
        let location = &named.stored.location;
        // The file must be what the index knows, and a member is read from no other.
        let file = original::open(&*snapshot, location, asked.asker.as_ref())?;
        let mut answer = whole(200, "application/octet-stream", Vec::new());
        if location.ipath.is_root() {
            let n_bytes = original::size(&file)?;
            answer.headers_mut().insert(CONTENT_LENGTH, n_bytes.into());
            *answer.body_mut() = Body::Written(Box::new(move |to| {
                std::io::copy(&mut file.take(n_bytes), to).map(drop)
            }));
        } else {
            let read = &web.setup.read_member;
            let bytes = read(&*snapshot, location, file).map_err(|message| Error {
                status: 410,
                message,
            })?;
            *answer.body_mut() = Body::Whole(bytes);
        }
        // Whatever it is, no browser takes it for a page of ken's.
        set(
            &mut answer,
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        );
        let name = utf8_percent_encode(&name(named), NAME).to_string();
        let disposition = format!("attachment; filename*=UTF-8''{name}");
        if let Ok(value) = HeaderValue::from_str(&disposition) {
            answer.headers_mut().insert(CONTENT_DISPOSITION, value);
        }
        Ok(answer)
    })
}

/// Returns the name under which a browser saves a document.
fn name(named: &Named) -> String {
    let document = &named.stored.document;
    let own = document.text(ken_core::Field::Filename);
    own.map_or_else(|| named.stored.location.file_name(), str::to_owned)
}
