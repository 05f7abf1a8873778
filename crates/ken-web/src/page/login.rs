//! How a browser gets in: with the token that `ken web` hands over, which becomes a cookie.

use std::time::Instant;

use http::header::HOST;
use serde::Serialize;

use super::{html, redirect, templates, with_cookie};
use crate::answer::{Answer, Error, whole};
use crate::asked::pairs;
use crate::{Asked, Web};

#[derive(Serialize)]
struct Page<'a> {
    title: &'static str,
    has_password: bool,
    problem: &'a str,
}

/// Returns the page that asks for the token, or for the password.
pub(super) fn page(web: &Web, status: u16, problem: &str) -> Answer {
    let page = Page {
        title: "Log in",
        has_password: web.setup.password.is_some(),
        problem,
    };
    html(status, "login.html", &page)
}

/// Takes the token or the password.
pub(super) fn login(web: &Web, asked: &Asked) -> Answer {
    let body = String::from_utf8_lossy(&asked.body);
    let typed = pairs(&body).find(|(name, _)| name == "token");
    let typed = typed.map(|(_, value)| value).unwrap_or_default();
    // People paste the whole address.
    let token = typed
        .rsplit_once("#t=")
        .map_or(typed.as_str(), |(_, token)| token);
    let Some(secret) = web.setup.secret.get() else {
        return page(web, 503, "ken serve is starting. Try again.");
    };
    let come_in = || {
        let home = format!("/{}/", secret.folder);
        with_cookie(redirect(&home), &secret.set_cookie(by_tls(asked)))
    };
    if secret.is_token(token.trim()) {
        return come_in();
    }
    let Some(password) = &web.setup.password else {
        return page(web, 403, "This is not the token.");
    };
    let now = Instant::now();
    if !web.attempts.may_try(now) {
        return page(
            web,
            429,
            "Too many wrong passwords. Wait a few seconds, or use the token.",
        );
    }
    match is_same(&typed, password) {
        true => come_in(),
        false => {
            web.attempts.was_wrong(now);
            page(web, 403, "This is neither the password nor the token.")
        }
    }
}

/// Returns whether the browser reached the page by TLS, through a proxy. Browsers send the origin of the page with a form,
/// and the guard lets only own ones pass; usual proxies name the protocol. Who lies about it harms only himself.
fn by_tls(asked: &Asked) -> bool {
    let is = |name: &str, value: &[u8]| {
        let own = asked.headers.get(name);
        own.is_some_and(|own| own.as_bytes().starts_with(value))
    };
    is("origin", b"https://") || is("x-forwarded-proto", b"https")
}

/// Compares texts in a time that does not depend on where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let differ = one.bytes().zip(other.bytes());
    let differ = differ.fold(0, |differ, (one, other)| differ | (one ^ other));
    one.len() == other.len() && differ == 0
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
    scheme: &'static str,
    host: &'a str,
    folder: &'a str,
}

/// Tells the browser how to search with ken from its address bar.
pub(super) fn open_search(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let host = asked.headers.get(HOST).and_then(|host| host.to_str().ok());
    let view = OpenSearch {
        scheme: if by_tls(asked) { "https" } else { "http" },
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
