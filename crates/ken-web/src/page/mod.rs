//! The page: answers for browsers, as HTML.
//!
//! The server makes all HTML from templates that escape every text. Without JavaScript the page is links and one form.
//! With JavaScript, `assets/app.js` asks the same addresses for fragments (`fragment=results`, `fragment=facets`, `fragment=preview`) and
//! puts them in. The address of the page is its whole state: see [`state::State`]. Addresses in the page are relative,
//! as it lies below a folder with a secret name.

mod assets;
mod chips;
mod coloured;
mod desktop;
mod facets;
mod formatted;
mod found;
mod hits;
mod home;
mod login;
mod look;
mod picture;
mod preview;
mod rebuilt;
mod state;
mod status;
mod table;
mod templates;
mod text;

use http::Method;
use http::header::{
    ALLOW, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, SET_COOKIE,
};
use serde::Serialize;

use crate::answer::{Answer, Error, set, whole};
use crate::{Asked, From, Web};
use state::State;

/// Nothing is loaded from elsewhere, and no script is in a page: a text that became HTML by mistake can do nothing.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-src 'self'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types ken";

/// Headers of every answer besides those of [`whole`].
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    // Not `no-referrer`: browsers then hide the origin of forms, too, and the guard refuses them.
    (REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Answers a request for the page.
pub(crate) fn answer(web: &Web, asked: &Asked) -> Answer {
    let answer = route(web, asked);
    let mut answer = answer.unwrap_or_else(|error| failed(asked, &error));
    if answer.status() == 405 {
        let allowed = match asked.path.as_str() {
            "/login" => "GET, HEAD, POST",
            "/logout" | "/open" => "POST",
            _ => "GET, HEAD",
        };
        set(&mut answer, ALLOW, allowed);
    }
    for (name, value) in HEADERS {
        set(&mut answer, name, value);
    }
    answer
}

fn route(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let path = asked.path.as_str();
    if let Some(name) = path.strip_prefix("/assets/") {
        return assets::answer(name).ok_or_else(|| Error::not_found(path));
    }
    let is_post = asked.method == Method::POST;
    if ["/login", "/logout", "/osd.xml"].contains(&path) {
        // They are about the password and the token of the server's user.
        asked.only_the_owner()?;
    }
    match (path, is_post) {
        ("/osd.xml", false) => return login::open_search(web, asked),
        ("/login", true) => return Ok(login::login(web, asked)),
        _ if asked.from == From::Anybody => return Ok(login::page(web, 401, "")),
        _ => {}
    }
    match (path, is_post) {
        ("/", false) => found::answer(web, asked),
        ("/document", false) => preview::answer(web, asked),
        ("/picture", false) => picture::page(web, asked),
        ("/thumbnail", false) => picture::thumbnail(web, asked),
        ("/status", false) => status::answer(web, asked),
        ("/saved", false) => home::saved(web, asked),
        ("/login", false) => Ok(redirect("./")),
        ("/open", true) => match desktop::open(web, asked) {
            // The script shows the message.
            Err(error) => Ok(error.answer()),
            opened => opened,
        },
        ("/logout", true) => Ok(login::logout(web)),
        (
            "/" | "/document" | "/picture" | "/thumbnail" | "/status" | "/saved" | "/login"
            | "/logout" | "/open" | "/osd.xml",
            _,
        ) => Err(Error {
            status: 405,
            message: format!("{} does not answer {}", path, asked.method),
        }),
        _ => Err(Error::not_found(path)),
    }
}

/// Returns a page.
fn html(status: u16, template: &str, view: &impl Serialize) -> Answer {
    match templates::render(template, view) {
        Ok(text) => whole(status, "text/html; charset=utf-8", text.into_bytes()),
        // Templates are part of the program, and tests render each.
        Err(error) => whole(
            500,
            "text/plain; charset=utf-8",
            format!("{error:#}").into_bytes(),
        ),
    }
}

/// Returns an answer that leads to another page of ours.
fn redirect(to: &str) -> Answer {
    let mut answer = whole(303, "text/plain; charset=utf-8", Vec::new());
    if let Ok(to) = HeaderValue::from_str(to) {
        answer.headers_mut().insert(LOCATION, to);
    }
    answer
}

fn with_cookie(mut answer: Answer, cookie: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(SET_COOKIE, value);
    }
    answer
}

/// What a page shows of an error.
#[derive(Serialize)]
struct Failed {
    problem: found::Problem,
    gone: found::Problem,
    state: State,
    title: &'static str,
}

/// Returns the page about an error, or the fragment about it.
fn failed(asked: &Asked, error: &Error) -> Answer {
    let template = match asked.get("fragment") {
        Some("preview" | "sheet") => "gone.html",
        Some(_) => "problem.html",
        None => "error.html",
    };
    let state = State::of(asked);
    let view = Failed {
        gone: found::Problem::new(error, &state),
        problem: found::Problem::new(error, &state),
        state,
        title: "Error",
    };
    html(error.status, template, &view)
}
