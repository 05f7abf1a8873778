//! `/api/v1`: answers for programs, as JSON (docs/json.md, docs/api.md).

mod documents;
mod events;
mod grep;
mod mail;
mod openapi;
mod parameter;
mod pictures;
mod recoll;
mod routes;
mod search;
mod terms;

use http::Method;
use http::header::ALLOW;

use crate::answer::{Answer, Error, object, set};
use crate::{Asked, From, Web};
use routes::{Route, find};

pub(crate) use recoll::answer as recoll;

/// Answers a request below `/api/v1/`, whose `path` is the rest.
pub(crate) fn answer(web: &Web, asked: &Asked, path: &str) -> Result<Answer, Error> {
    only_the_user(asked)?;
    if path == "openapi.json" {
        return Ok(object(&openapi::description()));
    }
    let (route, part) = find(path).ok_or_else(|| Error::not_found(&asked.path))?;
    let Route {
        answer, methods, ..
    } = *route;
    // A HEAD is answered as a GET; its body is left out.
    let is_reading = [Method::GET, Method::HEAD].contains(&asked.method);
    let is_allowed = match is_reading {
        true => methods.contains(&"GET"),
        false => methods.contains(&asked.method.as_str()),
    };
    match is_allowed {
        true => answer(web, asked, part),
        false => Ok(not_allowed(&asked.path, methods)),
    }
}

/// Returns the answer to a method that a path does not take.
fn not_allowed(path: &str, methods: &[&str]) -> Answer {
    let error = Error {
        status: 405,
        message: format!("{path} takes {}", methods.join(" and ")),
    };
    let allowed = match methods {
        ["GET", "POST"] => "GET, HEAD, POST",
        ["GET"] => "GET, HEAD",
        _ => "POST",
    };
    let mut answer = error.answer();
    set(&mut answer, ALLOW, allowed);
    answer
}

fn only_the_user(asked: &Asked) -> Result<(), Error> {
    match asked.from {
        From::User => Ok(()),
        From::Anybody => Err(Error {
            status: 401,
            message: "ken web prints the address to open".to_owned(),
        }),
    }
}
