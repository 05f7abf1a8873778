//! What is answered.

use std::io;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

/// An answer.
pub type Answer = Response<Body>;

/// Writes a body as it comes; fails when the client is gone.
pub type Write = Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<()> + Send>;

/// The body of an answer.
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// One that is written as it comes.
    Written(Write),
}

/// Returns an answer with a body of this type. It is nothing but that type, and no cache keeps it.
pub(crate) fn whole(status: u16, mime: &'static str, body: Vec<u8>) -> Answer {
    let mut answer = Response::new(Body::Whole(body));
    *answer.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    set(&mut answer, CONTENT_TYPE, mime);
    set(&mut answer, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut answer, CACHE_CONTROL, "no-store");
    answer
}

pub(crate) fn set(answer: &mut Answer, name: HeaderName, value: &'static str) {
    answer
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}

/// Returns an answer that is an object.
pub(crate) fn object(value: &impl Serialize) -> Answer {
    whole(200, "application/json", bytes(value))
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    // Answers hold nothing that JSON lacks.
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text
}

/// How many hits an answer shows, as its extension.
#[derive(Clone, Copy, Debug)]
pub struct Shown(pub usize);

/// Returns an answer that shows this many hits.
pub(crate) fn showing(mut answer: Answer, n_hits: usize) -> Answer {
    answer.extensions_mut().insert(Shown(n_hits));
    answer
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The status of HTTP.
    pub status: u16,
    /// What happened, for people.
    pub message: String,
}

impl Error {
    pub(crate) fn wrong(message: String) -> Self {
        Self {
            status: 400,
            message,
        }
    }

    pub(crate) fn not_found(path: &str) -> Self {
        Self {
            status: 404,
            message: format!("there is no {path}"),
        }
    }

    /// Returns the error as the answer to a program.
    pub(crate) fn answer(&self) -> Answer {
        let body = bytes(&json!({ "error": self.message }));
        whole(self.status, "application/json", body)
    }
}

impl From<ken_search::service::Error> for Error {
    fn from(error: ken_search::service::Error) -> Self {
        Self::wrong(error.to_string())
    }
}

impl From<ken_engine::Error> for Error {
    fn from(error: ken_engine::Error) -> Self {
        Self {
            status: 500,
            message: error.to_string(),
        }
    }
}
