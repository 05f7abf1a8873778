//! One request by HTTP (Streamable HTTP): a POST is answered with one JSON object. There are no sessions and no streams.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base64ct::{Base64, Encoding};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Response, StatusCode};
use serde_json::Value;

use crate::protocol::{INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, is_modern, version};
use crate::wire::{self, error};
use crate::{Mcp, Message, Request};

const HEADER_MISMATCH: i64 = -32020;

/// Answers a request.
pub fn post(
    mcp: &Mcp,
    method: &Method,
    headers: &HeaderMap,
    body: &[u8],
    is_gone: &Arc<AtomicBool>,
) -> Response<Vec<u8>> {
    if headers.contains_key(ORIGIN) {
        return response(403, None);
    }
    if method != Method::POST {
        let mut refused = response(405, None);
        let allowed = HeaderValue::from_static("POST");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    match wire::read(body) {
        Err(wrong) => response(400, Some(&wrong.answer())),
        Ok(Message::Notification { .. } | Message::Answer) => response(202, None),
        Ok(Message::Request(request)) => match mismatch(&request, headers) {
            Some(why) => {
                let answer = error(&request.id, HEADER_MISMATCH, &why, None);
                response(400, Some(&answer))
            }
            None => {
                let answer = mcp.answer(&request, is_gone);
                response(status(&request, &answer), Some(&answer))
            }
        },
    }
}

fn status(request: &Request, answer: &Value) -> u16 {
    match answer["error"]["code"].as_i64() {
        Some(UNSUPPORTED_VERSION) => 400,
        // `_meta` lacks what it must have (SEP-2575).
        Some(INVALID_PARAMS) if is_modern(request).is_err() || is_discovery(request) => 400,
        Some(METHOD_NOT_FOUND) if version(request).is_some() => 404,
        _ => 200,
    }
}

/// Returns whether a request is the one that only the second era has.
fn is_discovery(request: &Request) -> bool {
    request.method == "server/discover"
}

/// Returns which header says something else than the body. Clients of the first era send no such headers.
fn mismatch(request: &Request, headers: &HeaderMap) -> Option<String> {
    let named = version(request)?;
    let name = match request.method.as_str() {
        "tools/call" => request.params.get("name").and_then(Value::as_str),
        _ => None,
    };
    let wanted = [
        ("MCP-Protocol-Version", Some(named)),
        ("Mcp-Method", Some(request.method.as_str())),
        ("Mcp-Name", name),
    ];
    let wrong = wanted.into_iter().find(|(header, value)| {
        value.is_some_and(|value| decoded(headers.get(*header)).as_deref() != Some(value))
    });
    wrong.map(|(header, _)| format!("Header mismatch: {header} is not what the body says"))
}

/// Returns the text of a header, which may be in Base64.
fn decoded(value: Option<&HeaderValue>) -> Option<String> {
    let text = value?.to_str().ok()?;
    let packed = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match packed {
        Some(packed) => String::from_utf8(Base64::decode_vec(packed).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

fn response(status: u16, answer: Option<&Value>) -> Response<Vec<u8>> {
    let body = answer.map_or_else(Vec::new, |answer| answer.to_string().into_bytes());
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
