//! Which question does a request ask?

use hyper::Method;
use serde::de::DeserializeOwned;

use crate::message::{Fresh, IndexWish, Vouch};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// How fresh is the index?
    Status,
    /// Wait until it is fresh.
    Fresh(Fresh),
    /// Are these paths in the index as they are?
    Vouch(Vouch),
    /// Compare everything.
    Index(IndexWish),
    /// Where does a browser find ken? The port is opened if it is not open yet.
    Web,
}

/// Why a request asks nothing: the status of HTTP, and a message for people.
pub type Refusal = (u16, String);

/// Returns the methods that the path of a question takes, as the header `Allow` names them (RFC 9110, section 10.2.1).
pub(crate) fn allowed(path: &str) -> Option<&'static str> {
    let (method, _) = route(path)?;
    Some(match method {
        "GET" => "GET, HEAD",
        other => other,
    })
}

impl Question {
    /// Reads the question of a request; none if it is not about how fresh the index is.
    ///
    /// # Errors
    /// Fails if the method or the body is wrong.
    pub fn read(method: &Method, path: &str, body: &[u8]) -> Option<Result<Self, Refusal>> {
        let (allowed, read) = route(path)?;
        // hyper leaves out the body of the answer to a HEAD (RFC 9110, section 9.3.2).
        let asked = match *method {
            Method::HEAD => "GET",
            _ => method.as_str(),
        };
        Some(match asked == allowed {
            true => read(body).map_err(|message| (400, message)),
            false => Err((405, format!("{path} takes {allowed}, not {method}"))),
        })
    }
}

type Read = fn(&[u8]) -> Result<Question, String>;

fn route(path: &str) -> Option<(&'static str, Read)> {
    Some(match path {
        "/api/v1/status" => ("GET", |_| Ok(Question::Status)),
        "/api/v1/fresh" => ("POST", |body| json(body).map(Question::Fresh)),
        "/api/v1/vouch" => ("POST", |body| json(body).map(Question::Vouch)),
        "/api/v1/index" => ("POST", |body| json(body).map(Question::Index)),
        "/api/v1/web" => ("POST", |_| Ok(Question::Web)),
        _ => return None,
    })
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the body is wrong: {error}"))
}

#[cfg(test)]
mod tests {
    use ken_core::Root;

    use super::*;

    #[test]
    fn requests_are_questions_or_are_refused() {
        let of = |method: &str, path, body: &str| {
            let method = method.parse().unwrap();
            let read = Question::read(&method, path, body.as_bytes());
            read.unwrap_or_else(|| Err((404, String::new())))
        };
        let fresh = Question::Fresh(Fresh {
            seconds: 0.5,
            ..Fresh::default()
        });
        assert_eq!(of("GET", "/api/v1/status", ""), Ok(Question::Status));
        assert_eq!(of("HEAD", "/api/v1/status", ""), Ok(Question::Status));
        assert_eq!(allowed("/api/v1/status"), Some("GET, HEAD"));
        assert_eq!(allowed("/api/v1/index"), Some("POST"));
        assert_eq!(of("POST", "/api/v1/fresh", r#"{"seconds":0.5}"#), Ok(fresh));
        let index = Question::Index(IndexWish::default());
        assert_eq!(of("POST", "/api/v1/index", "{}"), Ok(index));
        let add = r#"{"add":["/home/anna",{"path":"/srv","hidden":true}]}"#;
        let Ok(Question::Index(wish)) = of("POST", "/api/v1/index", add) else {
            panic!("{add}");
        };
        let srv = Root {
            hidden: true,
            ..Root::new("/srv")
        };
        assert_eq!(wish.add, [Root::new("/home/anna"), srv]);
        for (method, path, body, status) in [
            ("GET", "/", "", 404),
            ("POST", "/api/v1/index", r#"{"add":[7]}"#, 400),
            ("GET", "/api/v1/fresh", "", 405),
            ("HEAD", "/api/v1/index", "", 405),
            ("DELETE", "/api/v1/status", "", 405),
            ("POST", "/api/v1/fresh", "", 400),
            ("POST", "/api/v1/fresh", r#"{"seconds":1,"more":1}"#, 400),
            ("POST", "/api/v1/vouch", r#"{"paths":"/"}"#, 400),
        ] {
            let refused = of(method, path, body).unwrap_err();
            assert_eq!(refused.0, status, "{method} {path}");
        }
    }
}
