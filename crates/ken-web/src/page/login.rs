//! How a browser gets in: with the token that `ken web` hands over, which becomes a cookie.

use http::header::HOST;
use serde::Serialize;

use super::{html, redirect, templates, with_cookie};
use crate::answer::{Answer, Error, whole};
use crate::asked::pairs;
use crate::{Asked, Web};

#[derive(Serialize)]
struct Page<'a> {
    title: &'static str,
    problem: &'a str,
}

/// Returns the page that asks for the token.
pub(super) fn page(status: u16, problem: &str) -> Answer {
    let title = "Log in";
    html(status, "login.html", &Page { title, problem })
}

/// Takes the token.
pub(super) fn login(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let body = String::from_utf8_lossy(&asked.body);
    let token = pairs(&body).find(|(name, _)| name == "token");
    let token = token.map(|(_, value)| value).unwrap_or_default();
    // People paste the whole address.
    let token = token
        .rsplit_once("#t=")
        .map_or(token.as_str(), |(_, token)| token);
    let secret = web.setup.secret.get();
    match secret.filter(|secret| secret.is_token(token.trim())) {
        Some(secret) => Ok(with_cookie(redirect("./"), &secret.set_cookie())),
        None => Ok(page(403, "This is not the token.")),
    }
}

/// Makes the browser forget the token.
pub(super) fn logout(web: &Web) -> Answer {
    match web.setup.secret.get() {
        Some(secret) => with_cookie(redirect("./"), &secret.clear_cookie()),
        None => redirect("./"),
    }
}

#[derive(Serialize)]
struct OpenSearch<'a> {
    host: &'a str,
    folder: &'a str,
}

/// Tells the browser how to search with ken from its address bar.
pub(super) fn open_search(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let host = asked.headers.get(HOST).and_then(|host| host.to_str().ok());
    let view = OpenSearch {
        host: host.unwrap_or("localhost"),
        folder: web.setup.secret.get().map_or("", |secret| &secret.folder),
    };
    let text = templates::render("osd.xml", &view).map_err(|error| Error {
        status: 500,
        message: error.to_string(),
    })?;
    let mime = "application/opensearchdescription+xml";
    Ok(whole(200, mime, text.into_bytes()))
}
